// Remembers refusals, with their diagnostics, so that a kernel that cannot be
// built is not tried again for every caller. Keyed by kernel key, which holds
// the op's fingerprint: a new toolchain starts clean.
#ifndef INGOT_SERVER_NEGATIVE_CACHE_H_
#define INGOT_SERVER_NEGATIVE_CACHE_H_

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "proto/status.h"
#include "server/clock.h"

namespace ingot::server {

// Thread-safe; the oldest refusal goes when there are more than `max_entries`.
class NegativeCache {
 public:
  enum class Kind {
    kPermanent,  // the compiler refused: the same again gives the same
    kTransient,  // time-out, out of memory, crash: true only for a while
  };

  NegativeCache(size_t max_entries, std::chrono::nanoseconds permanent_ttl,
                std::chrono::nanoseconds transient_ttl,
                Clock clock = SteadyNow);

  // OK when nothing is remembered.
  absl::Status Find(absl::string_view key);
  // REQUIRES: !refusal.ok()
  void Remember(absl::string_view key, Kind kind, const absl::Status& refusal);
  void Forget(absl::string_view key);
  void Clear();
  size_t size() const;

 private:
  struct Refusal {
    absl::Status status;
    MonotonicTime expiry;
    std::list<std::string>::iterator age;
  };
  using Map = absl::flat_hash_map<std::string, Refusal>;

  void Erase(Map::iterator refusal);

  const size_t max_entries_;
  const std::chrono::nanoseconds permanent_ttl_;
  const std::chrono::nanoseconds transient_ttl_;
  const Clock clock_;
  mutable std::mutex mutex_;
  Map refusals_;
  std::list<std::string> ages_;  // oldest first
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_NEGATIVE_CACHE_H_
