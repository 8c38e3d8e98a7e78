// The public kernels that launch_time.h was fitted to, as far as their
// composition is published: traces written from it, for tests and benches.
#ifndef TESTS_EMULATOR_PROFILE_PUBLISHED_KERNELS_H_
#define TESTS_EMULATOR_PROFILE_PUBLISHED_KERNELS_H_

#include <vector>

#include "tests/emulator/profile/launch_time.h"

namespace ingot::profile {

struct PublishedTiming {
  const char* kernel;
  const char* source;  // section of "gfx950.md"
  double m, n, k;
  double microseconds;  // as published, or from the published FLOP/s
  Trace trace;          // of a workgroup
  uint64_t groups;
  int groups_per_cu;
  double hbm_bytes;
};

std::vector<PublishedTiming> PublishedTimings();

// Two steps of a published ladder whose loops are known but in outline, and how
// many of their workgroups share a CU is not: tiles of 128x128 and 256x256.
std::vector<PublishedTiming> PublishedLadder();

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_PUBLISHED_KERNELS_H_
