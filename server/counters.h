// Named counters. A name is a Prometheus series, labels included, so that what
// Stats shows and what a scraper would read cannot differ.
#ifndef INGOT_SERVER_COUNTERS_H_
#define INGOT_SERVER_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace ingot::server {

class Counter {
 public:
  void Add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Thread-safe. Counters live as long as the object: look one up once and keep
// the reference, the lookup takes a lock.
class Counters {
 public:
  // `series`: `ingot_requests_total{result="hit_memory"}`.
  Counter& Get(absl::string_view series) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counters_[std::string(series)];
  }

  // In name order.
  std::vector<std::pair<std::string, uint64_t>> Snapshot() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::pair<std::string, uint64_t>> all;
    all.reserve(counters_.size());
    for (const auto& [name, counter] : counters_) {
      all.emplace_back(name, counter.value());
    }
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Counter> counters_;  // nodes never move
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_COUNTERS_H_
