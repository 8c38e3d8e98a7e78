// Uses of entries that are not on disk yet: reads stay reads.
#ifndef INGOT_CACHE_RECENCY_H_
#define INGOT_CACHE_RECENCY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "cache/store.h"

namespace ingot::cache {

// Collects the last use of each entry until a background task writes them to
// the index. Bounded: beyond `capacity` new entries are forgotten, which costs
// order among the many and never correctness. Thread-safe.
class Recency {
 public:
  // Entry id (kind byte, key) → microseconds of its last use.
  using Uses = absl::flat_hash_map<std::string, uint64_t>;

  explicit Recency(size_t capacity) : shard_capacity_(capacity / kShards + 1) {}

  void Touch(Kind kind, absl::string_view key, uint64_t now_micros);
  // All uses so far; none remain.
  Uses Take();

 private:
  static constexpr size_t kShards = 16;
  struct Shard {
    absl::Mutex mutex;
    Uses uses ABSL_GUARDED_BY(mutex);
  };

  const size_t shard_capacity_;
  std::array<Shard, kShards> shards_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_RECENCY_H_
