// Entries for tests: deterministic, and valid by their digests.
#ifndef INGOT_CACHE_TESTING_SAMPLES_H_
#define INGOT_CACHE_TESTING_SAMPLES_H_

#include <cstdint>
#include <random>
#include <string>

#include "cache/digest.h"
#include "cache/store.h"

namespace ingot::cache {

inline std::string SampleKey(uint64_t number) {
  return Sha256(absl::StrCat("key ", number));
}

// Incompressible, so that sizes on disk are what a test asks for.
inline std::string SampleObject(uint64_t number, size_t bytes) {
  std::mt19937_64 random(number);
  std::string object(bytes, '\0');
  for (char& byte : object) byte = static_cast<char>(random());
  return object;
}

inline Publication Sample(uint64_t number, size_t object_bytes = 5000) {
  Publication sample = {.key = SampleKey(number),
                        .record = absl::StrCat("record ", number),
                        .object = SampleObject(number, object_bytes)};
  sample.digest = Sha256(sample.object);
  return sample;
}

// Whether `store` has exactly `expected` under its key.
inline bool Holds(Store& store, const Publication& expected) {
  const absl::StatusOr<std::optional<Entry>> entry = store.Get(expected.key);
  return entry.ok() && entry->has_value() &&
         *(*entry)->record == expected.record &&
         (*entry)->digest == expected.digest &&
         *(*entry)->object == expected.object;
}

inline bool Misses(Store& store, absl::string_view key) {
  const absl::StatusOr<std::optional<Entry>> entry = store.Get(key);
  return entry.ok() && !entry->has_value();
}

}  // namespace ingot::cache

#endif  // INGOT_CACHE_TESTING_SAMPLES_H_
