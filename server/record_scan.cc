#include "server/record_scan.h"

#include "absl/strings/str_cat.h"
#include "compiler/fingerprint.h"
#include "compiler/ops/op.h"

namespace ingot::server {
namespace {

// Records read in one go of the store, so that no snapshot is held for long.
constexpr size_t kScanStep = 1000;

}  // namespace

bool IsCurrent(const std::string& op, const std::string& fingerprint) {
  if (FindOp(op) == nullptr) return false;
  const absl::StatusOr<std::string> own = OpFingerprint(op);
  return own.ok() && *own == fingerprint;
}

absl::Status CheckKeySize(absl::string_view field, absl::string_view bytes) {
  if (bytes.size() == 32) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found ", bytes.size(), " bytes, allowed 32"));
}

absl::StatusOr<std::optional<cache::ScanEntry>> FindStored(
    cache::Store& store, absl::string_view key) {
  // A scan begins above a key, so from the last one below.
  std::string below(key);
  for (auto byte = below.rbegin(); byte != below.rend(); ++byte) {
    if ((*byte)-- != 0) break;
  }
  if (key.find_first_not_of('\0') == absl::string_view::npos) below.clear();
  std::optional<cache::ScanEntry> found;
  INGOT_RETURN_IF_ERROR(
      store.Scan(below, 1, [&](const cache::ScanEntry& entry) {
        if (entry.key == key) found = entry;
        return false;
      }));
  return found;
}

absl::Status ScanAll(
    cache::Store& store, std::string after, const std::function<bool()>& stop,
    const std::function<bool(const cache::ScanEntry&)>& visit) {
  for (bool more = true; more && !stop();) {
    more = false;
    bool ended = false;
    INGOT_RETURN_IF_ERROR(
        store.Scan(after, kScanStep, [&](const cache::ScanEntry& entry) {
          more = true;
          after = entry.key;
          ended = !visit(entry);
          return !ended;
        }));
    if (ended) break;
  }
  return absl::OkStatus();
}

}  // namespace ingot::server
