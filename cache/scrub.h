// Reads everything that is stored, so that damage is found before it is asked
// for.
#ifndef INGOT_CACHE_SCRUB_H_
#define INGOT_CACHE_SCRUB_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "cache/store.h"

namespace ingot::cache {

struct ScrubOptions {
  // Of records and objects, on average; 0 = no limit. Keeps a scrub from taking
  // the disk away from hits.
  uint64_t bytes_per_second = 32 << 20;
  // Asked before each entry; true ends the scrub. Empty = never.
  std::function<bool()> cancelled;
  // For tests; empty = absl::Now and absl::SleepFor.
  std::function<absl::Time()> now;
  std::function<void(absl::Duration)> sleep;
  // Where an earlier scrub ended (ScrubReport::last); empty = from the start.
  std::string after;
};

struct ScrubReport {
  uint64_t entries = 0;  // read whole
  uint64_t bytes = 0;
  uint64_t damaged = 0;  // dropped by the store while this ran
  uint64_t errors = 0;   // could not be read, may be whole
  bool complete = false;
  std::string last;  // the key to go on after
};

// Reads every entry of `store` in key order. What damage means and that it is
// dropped is the store's: give a CheckedStore. Uses of entries are not counted.
// An error ends it only when the scan itself fails.
absl::StatusOr<ScrubReport> Scrub(Store& store, const ScrubOptions& options);

}  // namespace ingot::cache

#endif  // INGOT_CACHE_SCRUB_H_
