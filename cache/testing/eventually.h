// Waiting for what a background thread does.
#ifndef INGOT_CACHE_TESTING_EVENTUALLY_H_
#define INGOT_CACHE_TESTING_EVENTUALLY_H_

#include <functional>

#include "absl/time/clock.h"

namespace ingot::cache {

// Whether `reached` came true within a time far above what it should take.
inline bool Eventually(const std::function<bool()>& reached) {
  for (int i = 0; i < 2000; ++i) {
    if (reached()) return true;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return false;
}

}  // namespace ingot::cache

#endif  // INGOT_CACHE_TESTING_EVENTUALLY_H_
