// What every store refuses to write under.
#ifndef INGOT_CACHE_ARGUMENTS_H_
#define INGOT_CACHE_ARGUMENTS_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "cache/digest.h"
#include "proto/status.h"

namespace ingot::cache {

inline constexpr size_t kMaxPlanKeyBytes = 1024;

// kInvalidArgument unless `hash` has the size of a key or digest.
inline absl::Status CheckHash(absl::string_view name, absl::string_view hash) {
  if (hash.size() == kHashBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      name, " has ", hash.size(), " bytes, expected ", kHashBytes));
}

inline absl::Status CheckPlanKey(absl::string_view key) {
  if (!key.empty() && key.size() <= kMaxPlanKeyBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "plan key has ", key.size(), " bytes, expected 1 to ", kMaxPlanKeyBytes));
}

}  // namespace ingot::cache

#endif  // INGOT_CACHE_ARGUMENTS_H_
