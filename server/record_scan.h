// Walking over the stored records, for those who administer them.
#ifndef INGOT_SERVER_RECORD_SCAN_H_
#define INGOT_SERVER_RECORD_SCAN_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "cache/store.h"
#include "ingot/v1/record.pb.h"
#include "proto/status.h"

namespace ingot::server {

// False for a record of another build that no longer parses.
inline bool ParseRecord(absl::string_view bytes, v1::Record* record) {
  return record->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Whether this daemon compiles `op` with the code that `fingerprint` names.
bool IsCurrent(const std::string& op, const std::string& fingerprint);

// INVALID_ARGUMENT unless `bytes` has the size of a key or digest.
absl::Status CheckKeySize(absl::string_view field, absl::string_view bytes);

// What is on disk under `key`, whatever memory holds; of 32 bytes.
absl::StatusOr<std::optional<cache::ScanEntry>> FindStored(
    cache::Store& store, absl::string_view key);

// Every record with a key above `after`, in key order, a step at a time, until
// `visit` returns false or `stop` true.
absl::Status ScanAll(cache::Store& store, std::string after,
                     const std::function<bool()>& stop,
                     const std::function<bool(const cache::ScanEntry&)>& visit);

}  // namespace ingot::server

#endif  // INGOT_SERVER_RECORD_SCAN_H_
