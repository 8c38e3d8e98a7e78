// SHA-256, the content hash of objects.
#ifndef INGOT_CACHE_DIGEST_H_
#define INGOT_CACHE_DIGEST_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::cache {

// Bytes of a key and of a digest: both are SHA-256.
inline constexpr size_t kHashBytes = 32;

// The digest of `bytes`, kHashBytes long. Thread-safe.
std::string Sha256(absl::string_view bytes);

}  // namespace ingot::cache

#endif  // INGOT_CACHE_DIGEST_H_
