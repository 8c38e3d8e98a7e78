#include "cache/vetted.h"

#include <openssl/rand.h>
#include <xxhash.h>

#include <cstdlib>

namespace ingot::cache {

static_assert(sizeof(std::array<unsigned char, 192>) >= XXH3_SECRET_SIZE_MIN);

Vetted::Vetted(size_t limit) : limit_(limit) {
  // Without randomness nothing here can be trusted, nor can a key be made.
  if (RAND_bytes(secret_.data(), static_cast<int>(secret_.size())) != 1) {
    std::abort();
  }
}

Seal Vetted::SealOf(absl::string_view first, absl::string_view second) const {
  const auto hash = [this](absl::string_view bytes) {
    return XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret_.data(),
                                   secret_.size());
  };
  // A string's hash covers its length, so the two hashes fix the border.
  const XXH128_hash_t parts[2] = {hash(first), hash(second)};
  const XXH128_hash_t both = XXH3_128bits_withSecret(
      parts, sizeof(parts), secret_.data(), secret_.size());
  return {both.low64, both.high64};
}

bool Vetted::Knows(absl::string_view name, const Seal& seal) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const auto it = seals_.find(name);
  return it != seals_.end() && it->second == seal;
}

void Vetted::Remember(absl::string_view name, const Seal& seal) {
  const absl::MutexLock lock(&mutex_);
  // Starting over costs each object one more SHA-256, and needs no order.
  if (seals_.size() >= limit_) seals_.clear();
  seals_[std::string(name)] = seal;
}

}  // namespace ingot::cache
