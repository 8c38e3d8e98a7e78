// Admin: reading and checking all that is stored.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "cache/scrub.h"
#include "server/admin.h"

namespace ingot::server {
namespace {

// Damaged keys that an answer names; it counts all.
constexpr size_t kMaxDamagedKeys = 10000;
// A scrub that waits for its turn looks this often whether it is still wanted.
constexpr absl::Duration kNap = absl::Milliseconds(50);

}  // namespace

absl::StatusOr<v1::VerifyResponse> Admin::Verify(
    const v1::VerifyRequest& request, const AdminCall& call) {
  Verification found;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    verifications_.push_back(&found);
  }
  cache::ScrubOptions options;
  options.bytes_per_second = request.bytes_per_second();
  options.cancelled = [&] { return parts_.stopping() || call.cancelled(); };
  options.sleep = [&](absl::Duration duration) {
    const absl::Time end = absl::Now() + duration;
    while (!options.cancelled() && absl::Now() < end) {
      absl::SleepFor(std::min(kNap, end - absl::Now()));
    }
  };
  const absl::StatusOr<cache::ScrubReport> report =
      cache::Scrub(parts_.store.tiers(), options);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    verifications_.erase(
        std::find(verifications_.begin(), verifications_.end(), &found));
  }
  if (!found.damaged.empty()) parts_.lookup.ForgetReplies();
  INGOT_RETURN_IF_ERROR(report.status());
  if (call.cancelled()) return absl::CancelledError("the caller is gone");
  if (!report->complete) {
    return absl::UnavailableError("the daemon is draining");
  }
  v1::VerifyResponse response;
  for (const std::string& key : found.damaged) response.add_damaged_keys(key);
  response.set_checked(report->entries + report->damaged);
  response.set_damaged(report->damaged);
  response.set_untrusted(found.untrusted);
  return response;
}

void Admin::OnDamage(absl::string_view key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Verification* verification : verifications_) {
    if (verification->damaged.size() < kMaxDamagedKeys) {
      verification->damaged.emplace_back(key);
    }
  }
}

void Admin::OnUntrusted() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Verification* verification : verifications_) ++verification->untrusted;
}

}  // namespace ingot::server
