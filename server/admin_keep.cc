// Admin: what is kept for good, and what an upgrade left behind.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "server/admin.h"
#include "server/record_scan.h"

namespace ingot::server {
namespace {

// Op and fingerprint.
using Origin = std::pair<std::string, std::string>;

bool IsChosen(const v1::CollectRequest& request,
              const v1::FingerprintUse& use) {
  const auto& wanted = request.fingerprints();
  if (wanted.empty()) return !use.current();
  return std::find(wanted.begin(), wanted.end(), use.fingerprint()) !=
         wanted.end();
}

absl::Status Draining() {
  return absl::UnavailableError("the daemon is draining");
}

}  // namespace

absl::StatusOr<v1::PinResponse> Admin::Pin(const v1::PinRequest& request) {
  if (request.keys().empty()) {
    return absl::InvalidArgumentError("keys: found none, allowed one or more");
  }
  for (const std::string& key : request.keys()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("keys", key));
  }
  v1::PinResponse response;
  for (const std::string& key : request.keys()) {
    INGOT_ASSIGN_OR_RETURN(const bool found, parts_.store.tiers().SetPinned(
                                                 key, !request.unpin()));
    if (!found) response.add_unknown_keys(key);
  }
  if (response.unknown_keys_size() < request.keys_size()) return response;
  return absl::NotFoundError(
      absl::StrCat("keys: found ", absl::BytesToHexString(request.keys(0)),
                   request.keys_size() > 1
                       ? absl::StrCat(" and ", request.keys_size() - 1, " more")
                       : "",
                   ", none of which is stored"));
}

absl::StatusOr<v1::CollectResponse> Admin::Collect(
    const v1::CollectRequest& request) {
  for (const std::string& fingerprint : request.fingerprints()) {
    INGOT_RETURN_IF_ERROR(CheckKeySize("fingerprints", fingerprint));
  }
  std::map<Origin, v1::FingerprintUse> uses;
  std::vector<std::string> removable;
  v1::CollectResponse response;
  INGOT_RETURN_IF_ERROR(ScanAll(
      parts_.store.tiers(), "", parts_.stopping,
      [&](const cache::ScanEntry& entry) {
        v1::Record record;
        // What no longer parses goes when it is read or verified.
        if (!ParseRecord(entry.record, &record)) return true;
        const Origin origin(record.description().op(), record.fingerprint());
        v1::FingerprintUse& use = uses[origin];
        if (use.entries() == 0) {
          use.set_op(origin.first);
          use.set_fingerprint(origin.second);
          use.set_current(IsCurrent(origin.first, origin.second));
          use.set_collected(IsChosen(request, use));
        }
        const uint64_t bytes = entry.record.size() + record.size();
        use.set_entries(use.entries() + 1);
        use.set_bytes(use.bytes() + bytes);
        if (entry.pinned) {
          use.set_pinned(use.pinned() + 1);
        } else if (use.collected()) {
          removable.push_back(entry.key);
          response.set_removed_bytes(response.removed_bytes() + bytes);
        }
        return true;
      }));
  if (parts_.stopping()) return Draining();
  for (auto& [origin, use] : uses) {
    *response.add_fingerprints() = std::move(use);
  }
  response.set_removed(removable.size());
  if (request.dry_run()) return response;
  // Pin waits for the thread that this runs on: none comes in between.
  for (const std::string& key : removable) {
    if (parts_.stopping()) return Draining();
    INGOT_RETURN_IF_ERROR(parts_.store.tiers().Delete(key).status());
  }
  parts_.lookup.ForgetReplies();
  return response;
}

}  // namespace ingot::server
