#include "cache/recency.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace ingot::cache {

void Recency::Touch(Kind kind, absl::string_view key, uint64_t now_micros) {
  std::string id;
  id.reserve(key.size() + 1);
  id.push_back(static_cast<char>(kind));
  id.append(key.data(), key.size());
  Shard& shard = shards_[absl::HashOf(id) % kShards];
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.uses.find(id);
  if (found != shard.uses.end()) {
    found->second = std::max(found->second, now_micros);
  } else if (shard.uses.size() < shard_capacity_) {
    shard.uses.emplace(std::move(id), now_micros);
  }
}

Recency::Uses Recency::Take() {
  Uses all;
  for (Shard& shard : shards_) {
    Uses taken;
    {
      absl::MutexLock lock(&shard.mutex);
      taken.swap(shard.uses);
    }
    all.merge(taken);
  }
  return all;
}

}  // namespace ingot::cache
