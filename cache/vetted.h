// Which bytes passed their checks before, in this process's life. SHA-256 of a
// 64 KiB object takes as long as a whole call over a Unix socket; a fast hash
// under a secret that no disk holds takes a tenth and says as well that these
// are the very bytes that were checked.
#ifndef INGOT_CACHE_VETTED_H_
#define INGOT_CACHE_VETTED_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace ingot::cache {

// 128 bits of XXH3 under this process's random secret: whoever writes to the
// disk cannot aim at it.
struct Seal {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Seal&) const = default;
};

// Thread-safe. Keeps at most about `limit` names, each some 150 bytes.
class Vetted {
 public:
  explicit Vetted(size_t limit = size_t{1} << 16);

  // The seal of two byte strings; where one ends and the other begins counts.
  Seal SealOf(absl::string_view first, absl::string_view second) const;

  // Whether what is called `name` passed before with exactly this seal.
  bool Knows(absl::string_view name, const Seal& seal) const;
  void Remember(absl::string_view name, const Seal& seal);

 private:
  const size_t limit_;
  std::array<unsigned char, 192> secret_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Seal> seals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_VETTED_H_
