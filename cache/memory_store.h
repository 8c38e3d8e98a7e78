// The store in memory: what is used often, bounded in bytes.
#ifndef INGOT_CACHE_MEMORY_STORE_H_
#define INGOT_CACHE_MEMORY_STORE_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "cache/store.h"

namespace ingot::cache {

struct MemoryOptions {
  uint64_t bytes = 256 << 20;
  // Each holds its share of `bytes`, so an entry larger than bytes / shards is
  // not kept. 1 = one exact LRU order.
  size_t shards = 16;
};

// Least recently used goes first, kernels and plans alike; a Get is a use. A
// hit copies no bytes of record or object. An entry is charged its object even
// when another shares it. What does not fit is not kept, which is no error.
class MemoryStore : public Store {
 public:
  explicit MemoryStore(const MemoryOptions& options);

  absl::StatusOr<std::optional<Entry>> Get(absl::string_view key) override;
  absl::StatusOr<std::optional<Bytes>> GetRecord(
      absl::string_view key) override;
  absl::StatusOr<std::optional<Bytes>> GetObject(
      absl::string_view digest) override;
  // Looks at all of them: for administration, as Scan.
  absl::StatusOr<std::vector<std::string>> KeysOf(
      absl::string_view digest) override;
  absl::Status Publish(const Publication& publication) override;
  absl::StatusOr<std::optional<Bytes>> GetPlan(
      absl::string_view plan_key) override;
  absl::Status PutPlan(absl::string_view plan_key,
                       absl::string_view plan) override;
  absl::StatusOr<bool> Delete(absl::string_view key) override;
  absl::StatusOr<bool> SetPinned(absl::string_view key, bool pinned) override;
  // Sorts all keys: for administration, not for serving.
  absl::Status Scan(
      absl::string_view after, size_t limit,
      const std::function<bool(const ScanEntry&)>& visit) override;
  absl::Status ScanPlans(
      absl::string_view after, size_t limit,
      const std::function<bool(const PlanEntry&)>& visit) override;
  void Touch(Kind kind, absl::string_view key) override;
  // Shares the entry's bytes.
  absl::Status Fill(absl::string_view key, const Entry& entry) override;
  StoreStats Stats() const override;

  // Forgets everything. No eviction: nothing was lost for want of space.
  void Clear();

 private:
  struct Node {
    Kind kind;
    std::string key;
    Entry entry;  // a plan is its record
    uint64_t charge;
  };
  using Nodes = std::list<Node>;  // front = used last
  using Index = absl::flat_hash_map<std::string, Nodes::iterator>;
  struct Shard {
    absl::Mutex mutex;
    Nodes nodes ABSL_GUARDED_BY(mutex);
    Index kernels ABSL_GUARDED_BY(mutex);
    Index plans ABSL_GUARDED_BY(mutex);
    uint64_t bytes ABSL_GUARDED_BY(mutex) = 0;

    Index& IndexOf(Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      return kind == Kind::kKernel ? kernels : plans;
    }
  };
  // The objects held, for GetObject; locked after a Shard, never before.
  struct Object {
    Bytes bytes;
    size_t holders = 0;
  };
  struct ObjectShard {
    absl::Mutex mutex;
    absl::flat_hash_map<std::string, Object> objects ABSL_GUARDED_BY(mutex);
  };

  Shard& ShardOf(absl::string_view key);
  ObjectShard& ObjectShardOf(absl::string_view digest);
  // The node under `key`, now the most recently used; null when there is none.
  Node* Find(Shard& shard, Kind kind, absl::string_view key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  absl::Status Insert(Kind kind, absl::string_view key, Entry entry);
  void Erase(Shard& shard, Nodes::iterator node)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  // Up to `limit` keys of `kind` above `after` with their records, in order.
  std::vector<std::pair<std::string, Bytes>> Sorted(Kind kind,
                                                    absl::string_view after,
                                                    size_t limit);
  Bytes Hold(absl::string_view digest, const Bytes& object);
  void Release(absl::string_view digest);

  const uint64_t shard_bytes_;
  std::vector<Shard> shards_;
  std::vector<ObjectShard> object_shards_;
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> evictions_{0};
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_MEMORY_STORE_H_
