// What makes a stored kernel valid. Handed to the cache, which asks on publish
// and on read; a kernel that fails never reaches a client.
#ifndef INGOT_SERVER_VALIDITY_H_
#define INGOT_SERVER_VALIDITY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/kernel_spec.h"
#include "ingot/v1/record.pb.h"
#include "proto/status.h"

namespace ingot::server {

inline constexpr uint32_t kRecordSchema = 1;

// Record for an object that a worker just made: describes the ELF, holds it
// against the launch contract of `key_encoding`. DATA_LOSS when it is no code
// object, FAILED_PRECONDITION when it breaks the contract.
absl::StatusOr<v1::Record> MakeRecord(absl::string_view key,
                                      absl::string_view key_encoding,
                                      absl::string_view digest,
                                      absl::string_view object,
                                      int64_t created_unix_ms);

// Record and object belong together and to `key`: the key encoding hashes to the
// key, the record names the digest, and the ELF keeps the launch contract.
// DATA_LOSS otherwise. REQUIRES: the digest is the object's SHA-256, which the
// cache has checked itself and which costs more than all of this. Touches no
// state; any thread.
absl::Status CheckStored(absl::string_view key, absl::string_view record,
                         absl::string_view digest, absl::string_view object);

// The checks of CheckStored that the record alone allows.
absl::Status CheckStoredRecord(absl::string_view key, absl::string_view record);

}  // namespace ingot::server

#endif  // INGOT_SERVER_VALIDITY_H_
