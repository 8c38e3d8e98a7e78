// The identity of a spec as a caller wrote it, cheap enough for every launch:
// a flat copy of what matters in it and a hash. Specs that differ in nothing
// but single values of token-like dims have one identity; specs that say the
// same in another order have two, because the order decides how launches are
// indexed. Not the spec digest, which costs a hundred times as much.
#ifndef INGOT_CLIENT_SRC_SPEC_KEY_H_
#define INGOT_CLIENT_SRC_SPEC_KEY_H_

#include <cstddef>
#include <cstdint>

#include "client/include/ingot/ingot.h"

namespace ingot::client {

inline constexpr size_t kMaxSpecKeyBytes = 4096;

struct SpecKey {
  uint64_t hash;
  size_t size;
  // Padded with zeros to a multiple of 8.
  alignas(8) unsigned char bytes[kMaxSpecKeyBytes];
};

// False for a spec that is malformed, of another struct size, or too long to
// have a key: it then takes the way through the canonical encoding.
bool MakeSpecKey(const ingot_spec& spec, uint64_t pin_epoch, SpecKey* key);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_SPEC_KEY_H_
