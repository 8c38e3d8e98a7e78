// SHA-256, the only hash of keys and digests.
#ifndef INGOT_COMPILER_SHA256_H_
#define INGOT_COMPILER_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot {

// 32 bytes, raw.
std::string Sha256(absl::string_view bytes);

}  // namespace ingot

#endif  // INGOT_COMPILER_SHA256_H_
