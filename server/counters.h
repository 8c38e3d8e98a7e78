// Named counters. A name is a Prometheus series, labels included, so that what
// Stats shows and what a scraper would read cannot differ.
#ifndef INGOT_SERVER_COUNTERS_H_
#define INGOT_SERVER_COUNTERS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
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

// How long something took, by powers of two from 1 ms to 65 s.
class Histogram {
 public:
  static constexpr size_t kBounds = 17;
  static constexpr double UpperBound(size_t bucket) {  // seconds
    return 1e-3 * static_cast<double>(uint64_t{1} << bucket);
  }

  void Observe(std::chrono::nanoseconds duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    size_t bucket = 0;
    while (bucket < kBounds && seconds > UpperBound(bucket)) ++bucket;
    buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(
        static_cast<uint64_t>(std::max<int64_t>(duration.count(), 0)),
        std::memory_order_relaxed);
  }

  struct Reading {
    // Per bucket, not added up; the last one is above all bounds.
    std::array<uint64_t, kBounds + 1> counts;
    double sum_seconds;
  };
  Reading Read() const {
    Reading reading = {};
    for (size_t n = 0; n <= kBounds; ++n) {
      reading.counts[n] = buckets_[n].load(std::memory_order_relaxed);
    }
    reading.sum_seconds =
        1e-9 * static_cast<double>(sum_ns_.load(std::memory_order_relaxed));
    return reading;
  }

 private:
  std::array<std::atomic<uint64_t>, kBounds + 1> buckets_{};
  std::atomic<uint64_t> sum_ns_{0};
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

  Histogram& GetHistogram(absl::string_view series) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return histograms_[std::string(series)];
  }

  // In name order, as all that follow.
  std::vector<std::pair<std::string, Histogram::Reading>> Histograms() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::pair<std::string, Histogram::Reading>> all;
    for (const auto& [name, histogram] : histograms_) {
      all.emplace_back(name, histogram.Read());
    }
    return all;
  }
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
  // Nodes of a map never move.
  std::map<std::string, Counter> counters_;
  std::map<std::string, Histogram> histograms_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_COUNTERS_H_
