// Walking over the stored records, for those who administer them.
#ifndef INGOT_SERVER_RECORD_SCAN_H_
#define INGOT_SERVER_RECORD_SCAN_H_

#include <functional>
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

// INVALID_ARGUMENT unless `bytes` has the size of a key or digest.
absl::Status CheckKeySize(absl::string_view field, absl::string_view bytes);

// Every record with a key above `after`, in key order, a step at a time, until
// `visit` returns false or `stop` true.
absl::Status ScanAll(cache::Store& store, std::string after,
                     const std::function<bool()>& stop,
                     const std::function<bool(const cache::ScanEntry&)>& visit);

}  // namespace ingot::server

#endif  // INGOT_SERVER_RECORD_SCAN_H_
