#include "cache/memory_store.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/hash/hash.h"
#include "cache/arguments.h"

namespace ingot::cache {
namespace {

// List node, index slot and shared_ptr blocks of one entry, roughly.
constexpr uint64_t kOverheadBytes = 256;

uint64_t ChargeOf(absl::string_view key, const Entry& entry) {
  return kOverheadBytes + key.size() + entry.record->size() +
         (entry.object == nullptr ? 0 : entry.object->size());
}

}  // namespace

MemoryStore::MemoryStore(const MemoryOptions& options)
    : shard_bytes_(options.bytes / std::max<size_t>(options.shards, 1)),
      shards_(std::max<size_t>(options.shards, 1)),
      object_shards_(std::max<size_t>(options.shards, 1)) {}

MemoryStore::Shard& MemoryStore::ShardOf(absl::string_view key) {
  return shards_[absl::HashOf(key) % shards_.size()];
}

MemoryStore::ObjectShard& MemoryStore::ObjectShardOf(absl::string_view digest) {
  return object_shards_[absl::HashOf(digest) % object_shards_.size()];
}

MemoryStore::Node* MemoryStore::Find(Shard& shard, Kind kind,
                                     absl::string_view key) {
  Index& index = shard.IndexOf(kind);
  const auto found = index.find(key);
  if (found == index.end()) return nullptr;
  shard.nodes.splice(shard.nodes.begin(), shard.nodes, found->second);
  return &*found->second;
}

absl::StatusOr<std::optional<Entry>> MemoryStore::Get(absl::string_view key) {
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  const Node* node = Find(shard, Kind::kKernel, key);
  if (node == nullptr) return std::nullopt;
  return node->entry;
}

absl::StatusOr<std::optional<Bytes>> MemoryStore::GetRecord(
    absl::string_view key) {
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  const Node* node = Find(shard, Kind::kKernel, key);
  if (node == nullptr) return std::nullopt;
  return node->entry.record;
}

absl::StatusOr<std::optional<Bytes>> MemoryStore::GetPlan(
    absl::string_view plan_key) {
  Shard& shard = ShardOf(plan_key);
  absl::MutexLock lock(&shard.mutex);
  const Node* node = Find(shard, Kind::kPlan, plan_key);
  if (node == nullptr) return std::nullopt;
  return node->entry.record;
}

absl::StatusOr<std::optional<Bytes>> MemoryStore::GetObject(
    absl::string_view digest) {
  ObjectShard& shard = ObjectShardOf(digest);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.objects.find(digest);
  if (found == shard.objects.end()) return std::nullopt;
  return found->second.bytes;
}

absl::StatusOr<std::vector<std::string>> MemoryStore::KeysOf(
    absl::string_view digest) {
  std::vector<std::string> keys;
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    for (const auto& [key, node] : shard.kernels) {
      if (node->entry.digest == digest) keys.push_back(key);
    }
  }
  return keys;
}

absl::Status MemoryStore::Publish(const Publication& publication) {
  return Fill(
      publication.key,
      {.record = std::make_shared<const std::string>(publication.record),
       .digest = publication.digest,
       .object = std::make_shared<const std::string>(publication.object)});
}

absl::Status MemoryStore::Fill(absl::string_view key, const Entry& entry) {
  INGOT_RETURN_IF_ERROR(CheckHash("key", key));
  INGOT_RETURN_IF_ERROR(CheckHash("digest", entry.digest));
  return Insert(Kind::kKernel, key, entry);
}

absl::Status MemoryStore::PutPlan(absl::string_view plan_key,
                                  absl::string_view plan) {
  INGOT_RETURN_IF_ERROR(CheckPlanKey(plan_key));
  return Insert(Kind::kPlan, plan_key,
                {.record = std::make_shared<const std::string>(plan)});
}

absl::Status MemoryStore::Insert(Kind kind, absl::string_view key,
                                 Entry entry) {
  entry.tier = Tier::kMemory;
  const uint64_t charge = ChargeOf(key, entry);
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  Index& index = shard.IndexOf(kind);
  const auto found = index.find(key);
  // Also when the new one does not fit: the old one is no longer true.
  if (found != index.end()) Erase(shard, found->second);
  if (charge > shard_bytes_) return absl::OkStatus();
  while (shard.bytes + charge > shard_bytes_) {
    Erase(shard, std::prev(shard.nodes.end()));
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }
  if (kind == Kind::kKernel) {
    entry.object = Hold(entry.digest, entry.object);
    entries_.fetch_add(1, std::memory_order_relaxed);
  }
  shard.nodes.push_front({kind, std::string(key), std::move(entry), charge});
  index[key] = shard.nodes.begin();
  shard.bytes += charge;
  bytes_.fetch_add(charge, std::memory_order_relaxed);
  return absl::OkStatus();
}

void MemoryStore::Erase(Shard& shard, Nodes::iterator node) {
  if (node->kind == Kind::kKernel) {
    Release(node->entry.digest);
    entries_.fetch_sub(1, std::memory_order_relaxed);
  }
  shard.bytes -= node->charge;
  bytes_.fetch_sub(node->charge, std::memory_order_relaxed);
  shard.IndexOf(node->kind).erase(node->key);
  shard.nodes.erase(node);
}

Bytes MemoryStore::Hold(absl::string_view digest, const Bytes& object) {
  ObjectShard& shard = ObjectShardOf(digest);
  absl::MutexLock lock(&shard.mutex);
  Object& held = shard.objects[digest];
  if (held.holders++ == 0) held.bytes = object;
  return held.bytes;
}

void MemoryStore::Release(absl::string_view digest) {
  ObjectShard& shard = ObjectShardOf(digest);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.objects.find(digest);
  if (--found->second.holders == 0) shard.objects.erase(found);
}

absl::StatusOr<bool> MemoryStore::Delete(absl::string_view key) {
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.kernels.find(key);
  if (found == shard.kernels.end()) return false;
  Erase(shard, found->second);
  return true;
}

absl::StatusOr<bool> MemoryStore::SetPinned(absl::string_view key, bool) {
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  return shard.kernels.contains(key);
}

std::vector<std::pair<std::string, Bytes>> MemoryStore::Sorted(
    Kind kind, absl::string_view after, size_t limit) {
  std::vector<std::pair<std::string, Bytes>> found;
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    for (const auto& [key, node] : shard.IndexOf(kind)) {
      if (key > after) found.emplace_back(key, node->entry.record);
    }
  }
  limit = std::min(limit, found.size());
  std::partial_sort(
      found.begin(), found.begin() + limit, found.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  found.resize(limit);
  return found;
}

absl::Status MemoryStore::Scan(
    absl::string_view after, size_t limit,
    const std::function<bool(const ScanEntry&)>& visit) {
  for (const auto& [key, record] : Sorted(Kind::kKernel, after, limit)) {
    if (!visit({key, std::string(*record)})) break;
  }
  return absl::OkStatus();
}

absl::Status MemoryStore::ScanPlans(
    absl::string_view after, size_t limit,
    const std::function<bool(const PlanEntry&)>& visit) {
  for (const auto& [key, plan] : Sorted(Kind::kPlan, after, limit)) {
    if (!visit({key, std::string(*plan)})) break;
  }
  return absl::OkStatus();
}

void MemoryStore::Touch(Kind kind, absl::string_view key) {
  Shard& shard = ShardOf(key);
  absl::MutexLock lock(&shard.mutex);
  Find(shard, kind, key);
}

void MemoryStore::Clear() {
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    while (!shard.nodes.empty()) Erase(shard, shard.nodes.begin());
  }
}

StoreStats MemoryStore::Stats() const {
  return {.entries = entries_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .evictions = evictions_.load(std::memory_order_relaxed)};
}

}  // namespace ingot::cache
