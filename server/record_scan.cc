#include "server/record_scan.h"

#include "absl/strings/str_cat.h"

namespace ingot::server {
namespace {

// Records read in one go of the store, so that no snapshot is held for long.
constexpr size_t kScanStep = 1000;

}  // namespace

absl::Status CheckKeySize(absl::string_view field, absl::string_view bytes) {
  if (bytes.size() == 32) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found ", bytes.size(), " bytes, allowed 32"));
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
