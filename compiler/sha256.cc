#include "compiler/sha256.h"

#include <openssl/sha.h>

namespace ingot {

std::string Sha256(absl::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  // The one-shot form cannot fail and, unlike EVP, allocates nothing.
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace ingot
