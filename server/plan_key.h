// Where a plan is kept in a store: what it was made from.
#ifndef INGOT_SERVER_PLAN_KEY_H_
#define INGOT_SERVER_PLAN_KEY_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ingot::server {

inline std::string PlanKey(absl::string_view spec_digest,
                           absl::string_view fingerprint, uint64_t epoch) {
  return absl::StrCat(spec_digest, fingerprint,
                      absl::Hex(epoch, absl::kZeroPad16));
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_PLAN_KEY_H_
