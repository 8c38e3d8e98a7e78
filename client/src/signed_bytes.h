// The bytes that a record's and a plan's signatures are over:
// proto/signatures.md.
#ifndef INGOT_CLIENT_SRC_SIGNED_BYTES_H_
#define INGOT_CLIENT_SRC_SIGNED_BYTES_H_

#include <string>
#include <string_view>
#include <vector>

#include "client/src/status.h"

namespace ingot::client {

inline constexpr size_t kMaxSignatures = 16;

struct Signature {
  std::string_view key_id;  // point into the message
  std::string_view value;
};

struct Signed {
  std::string bytes;
  std::vector<Signature> signatures;
};

// Of a serialised Record or Plan. DATA_LOSS when it is none, when two parsers
// could read it in two ways, or for too many signatures.
Status ReadSignedRecord(std::string_view record, Signed* read);
Status ReadSignedPlan(std::string_view plan, Signed* read);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_SIGNED_BYTES_H_
