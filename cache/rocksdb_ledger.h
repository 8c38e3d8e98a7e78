// Every write to the store's entries, each as one WriteBatch that keeps
// records, objects, references, eviction order and counters in step.
#ifndef INGOT_CACHE_ROCKSDB_LEDGER_H_
#define INGOT_CACHE_ROCKSDB_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/recency.h"
#include "cache/rocksdb_database.h"
#include "cache/rocksdb_schema.h"

namespace ingot::cache {

// Thread-safe. Writers take turns: each reads what it replaces before it
// writes, and publishing is rarer than compiling.
class Ledger {
 public:
  // Does not own `database`, which must outlive it.
  Ledger(RocksDatabase* database, std::function<uint64_t()> now_micros);

  // Opens a failed database again and takes the counters from it; OK once a
  // synced write has shown that it works. Until then every write is
  // kUnavailable.
  absl::Status Recover();

  absl::Status Publish(const Publication& publication);
  absl::Status PutPlan(absl::string_view key, absl::string_view plan);
  // Whether it was there. A pin that is kept holds for what is published next
  // under the key.
  enum class Pin { kForget, kKeep };
  absl::StatusOr<bool> Remove(Kind kind, absl::string_view key,
                              Pin pin = Pin::kForget);

  // A pinned kernel leaves the order in which Evict goes. Whether it, or a pin
  // that was kept, is there.
  absl::StatusOr<bool> SetPinned(absl::string_view key, bool pinned);
  bool IsPinned(absl::string_view key) const;

  // Moves the used entries that are still there to their new place in the
  // eviction order, if that is at least `resolution` younger.
  absl::Status ApplyUses(const Recency::Uses& uses, absl::Duration resolution);

  // Removes up to `limit` entries, least recently used first, until the
  // counters show `target_bytes` or less. Returns how many; 0 when there is
  // nothing left to evict or nothing to do.
  absl::StatusOr<size_t> Evict(size_t limit, uint64_t target_bytes);

  // Without waiting for a writer.
  Counters counters() const;
  // Bytes of the objects that went since this was made: about what a
  // collection could bring back. Never falls.
  uint64_t released_bytes() const {
    return released_bytes_.load(std::memory_order_relaxed);
  }

 private:
  void Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Writable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool StageRemoval(rocksdb::WriteBatch& batch, Counters& counters, Kind kind,
                    absl::string_view key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StageRelease(rocksdb::WriteBatch& batch, Counters& counters,
                    absl::string_view digest, uint64_t object_size,
                    absl::string_view key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Class ClassOf(absl::string_view id) const;
  void StagePlace(rocksdb::WriteBatch& batch, absl::string_view id,
                  const AccessValue& access)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StageUnplace(rocksdb::WriteBatch& batch, absl::string_view id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StageUse(rocksdb::WriteBatch& batch, absl::string_view id,
                uint64_t micros, absl::Duration resolution)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Commit(rocksdb::WriteBatch& batch, const Counters& counters)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a key other than `except` names the object.
  bool IsReferenced(absl::string_view digest, absl::string_view except) const;
  absl::StatusOr<std::vector<std::string>> OldestPlaces(size_t limit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<bool> EvictPlace(const std::string& place)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t Stamp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  RocksDatabase* const database_;
  const std::function<uint64_t()> now_micros_;
  absl::Mutex mutex_;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_stamp_ ABSL_GUARDED_BY(mutex_) = 0;
  // No evictable entry is before it in `lru`: a search from the front would
  // walk over the tombstones of all that was evicted since the last compaction.
  std::string front_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> shown_entries_{0};
  std::atomic<uint64_t> shown_bytes_{0};
  std::atomic<uint64_t> released_bytes_{0};
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_ROCKSDB_LEDGER_H_
