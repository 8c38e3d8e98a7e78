// A bounded cache keyed by raw bytes: what a client sent, exactly. Hash and
// full comparison, so two requests never share an answer by accident. Used for
// whole replies and for plans.
#ifndef INGOT_SERVER_BYTES_CACHE_H_
#define INGOT_SERVER_BYTES_CACHE_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "server/clock.h"

namespace ingot::server {

// Thread-safe, least recently used goes first. `Value` must be cheap to copy
// (a shared pointer). An entry also ends after `ttl` (0: never), so that what
// answers from here still touches the store now and then and is not evicted
// there as unused.
template <typename Value>
class BytesCache {
 public:
  BytesCache(size_t max_bytes, std::chrono::nanoseconds ttl,
             Clock clock = SteadyNow)
      : shard_bytes_(max_bytes / kShards),
        ttl_(ttl),
        clock_(std::move(clock)) {}

  std::optional<Value> Find(absl::string_view key) {
    Shard& shard = ShardOf(key);
    const std::lock_guard<std::mutex> lock(shard.mutex);
    const auto found = shard.index.find(key);
    if (found == shard.index.end()) return std::nullopt;
    const NodeIterator node = found->second;
    if (ttl_.count() > 0 && clock_() >= node->expiry) {
      Erase(shard, node);
      return std::nullopt;
    }
    shard.nodes.splice(shard.nodes.begin(), shard.nodes, node);
    return node->value;
  }

  // Taken before computing a value and handed to Insert: a value whose inputs
  // were read before a Clear is not inserted after it.
  uint64_t generation() const {
    return generation_.load(std::memory_order_acquire);
  }

  // `value_bytes` is what the value holds beside the key.
  void Insert(absl::string_view key, Value value, size_t value_bytes,
              uint64_t generation) {
    const size_t bytes = key.size() + value_bytes + kNodeOverhead;
    if (bytes > shard_bytes_) return;
    Shard& shard = ShardOf(key);
    const std::lock_guard<std::mutex> lock(shard.mutex);
    if (generation != this->generation()) return;
    const auto found = shard.index.find(key);
    if (found != shard.index.end()) Erase(shard, found->second);
    shard.nodes.push_front(
        {std::string(key), std::move(value), bytes, clock_() + ttl_});
    shard.index.emplace(shard.nodes.front().key, shard.nodes.begin());
    shard.bytes += bytes;
    while (shard.bytes > shard_bytes_) {
      Erase(shard, std::prev(shard.nodes.end()));
    }
  }

  void Clear() {
    generation_.fetch_add(1, std::memory_order_acq_rel);
    for (Shard& shard : shards_) {
      const std::lock_guard<std::mutex> lock(shard.mutex);
      shard.index.clear();
      shard.nodes.clear();
      shard.bytes = 0;
    }
  }

  size_t bytes() const {
    size_t bytes = 0;
    for (const Shard& shard : shards_) {
      const std::lock_guard<std::mutex> lock(shard.mutex);
      bytes += shard.bytes;
    }
    return bytes;
  }

 private:
  static constexpr size_t kShards = 8;
  static constexpr size_t kNodeOverhead = 128;  // list node, index slot

  struct Node {
    std::string key;
    Value value;
    size_t bytes;
    MonotonicTime expiry;
  };
  using NodeIterator = typename std::list<Node>::iterator;

  struct Shard {
    mutable std::mutex mutex;
    std::list<Node> nodes;  // most recently used first
    absl::flat_hash_map<absl::string_view, NodeIterator>
        index;  // keys in nodes
    size_t bytes = 0;
  };

  Shard& ShardOf(absl::string_view key) {
    return shards_[(absl::Hash<absl::string_view>{}(key) >> 7) % kShards];
  }

  static void Erase(Shard& shard, NodeIterator node) {
    shard.bytes -= node->bytes;
    shard.index.erase(node->key);
    shard.nodes.erase(node);
  }

  const size_t shard_bytes_;
  const std::chrono::nanoseconds ttl_;
  const Clock clock_;
  std::atomic<uint64_t> generation_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_BYTES_CACHE_H_
