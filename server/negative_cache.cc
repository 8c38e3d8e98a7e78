#include "server/negative_cache.h"

#include <utility>

namespace ingot::server {

NegativeCache::NegativeCache(size_t max_entries,
                             std::chrono::nanoseconds permanent_ttl,
                             std::chrono::nanoseconds transient_ttl,
                             Clock clock)
    : max_entries_(max_entries),
      permanent_ttl_(permanent_ttl),
      transient_ttl_(transient_ttl),
      clock_(std::move(clock)) {}

void NegativeCache::Erase(Map::iterator refusal) {
  ages_.erase(refusal->second.age);
  refusals_.erase(refusal);
}

absl::Status NegativeCache::Find(absl::string_view key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Map::iterator found = refusals_.find(key);
  if (found == refusals_.end()) return absl::OkStatus();
  if (clock_() >= found->second.expiry) {
    Erase(found);
    return absl::OkStatus();
  }
  return found->second.status;
}

void NegativeCache::Remember(absl::string_view key, Kind kind,
                             const absl::Status& refusal) {
  const std::chrono::nanoseconds ttl =
      kind == Kind::kPermanent ? permanent_ttl_ : transient_ttl_;
  const std::lock_guard<std::mutex> lock(mutex_);
  const Map::iterator found = refusals_.find(key);
  if (found != refusals_.end()) Erase(found);
  ages_.push_back(std::string(key));
  refusals_.emplace(std::string(key),
                    Refusal{refusal, clock_() + ttl, std::prev(ages_.end())});
  while (refusals_.size() > max_entries_) {
    Erase(refusals_.find(ages_.front()));
  }
}

void NegativeCache::Forget(absl::string_view key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Map::iterator found = refusals_.find(key);
  if (found != refusals_.end()) Erase(found);
}

void NegativeCache::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  refusals_.clear();
  ages_.clear();
}

size_t NegativeCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return refusals_.size();
}

}  // namespace ingot::server
