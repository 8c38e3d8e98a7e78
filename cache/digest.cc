#include "cache/digest.h"

#include <openssl/sha.h>

namespace ingot::cache {

static_assert(kHashBytes == SHA256_DIGEST_LENGTH);

std::string Sha256(absl::string_view bytes) {
  std::string digest(kHashBytes, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace ingot::cache
