// The bytes that a record's and a plan's signatures are over, as
// proto/signatures.md defines them. Taken from the messages as they were stored
// or sent: nothing is encoded again.
#ifndef INGOT_SERVER_SIGNED_BYTES_H_
#define INGOT_SERVER_SIGNED_BYTES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace ingot::server {

// Verifying takes some 100 us each; more than this is an attack.
inline constexpr size_t kMaxSignatures = 16;

struct Signature {
  std::string key_id;
  std::string value;
};

struct Signed {
  std::string key;  // what it belongs under in a store
  std::string bytes;
  std::vector<Signature> signatures;
};

// Of a serialised v1::Record or v1::Plan. DATA_LOSS when it is none, when
// parsers could disagree on what it says, or for too many signatures.
absl::StatusOr<Signed> ReadSignedRecord(absl::string_view record);
absl::StatusOr<Signed> ReadSignedPlan(absl::string_view plan);

// Whether two serialised plans differ in their signatures at most.
bool SamePlan(absl::string_view a, absl::string_view b);

// Adds a signature to a serialised record or plan.
void AppendRecordSignature(const Signature& signature, std::string* record);
void AppendPlanSignature(const Signature& signature, std::string* plan);

}  // namespace ingot::server

#endif  // INGOT_SERVER_SIGNED_BYTES_H_
