// The clocks that a kernel needs at least, resource by resource: modelled, from
// rates.h, with no latency, no stall and no queue. The largest is the bound.
#ifndef TESTS_EMULATOR_PROFILE_MODEL_H_
#define TESTS_EMULATOR_PROFILE_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/profile/occupancy.h"
#include "tests/emulator/profile/recording.h"

namespace ingot::profile {

// Of one workgroup, alone on its CU. Waves are dealt to the SIMDs in turn; a
// SIMD's resources are those of the busiest one, the CU's are shared by all.
struct Clocks {
  double mfma = 0;   // SIMD
  double valu = 0;   // SIMD, transcendentals in it
  double salu = 0;   // SIMD
  double issue = 0;  // the busiest wave's slots
  double lds = 0;    // CU, with conflicts
  double vmem = 0;   // CU: addresses and the vector L1
  double l2 = 0;     // CU: lines that no wave of the group read before

  struct Entry {
    const char* name;
    double clocks;
  };
  std::vector<Entry> List() const;
  Entry Bound() const;
};

// Clocks of `offsets` per unit of work, of which the waves at place w of their
// groups did `units[w]` in all; waves with 0 take no part.
Clocks ClocksOf(const Recording& recording,
                const std::vector<uint64_t>& offsets,
                const std::vector<uint64_t>& units);

// The whole launch on all CUs.
struct LaunchModel {
  uint64_t groups_on_busiest_cu = 0;
  uint64_t rounds = 0;  // of workgroups that are resident together
  struct Entry {
    std::string name;  // as Clocks::List, and hbm
    double microseconds;
  };
  std::vector<Entry> times;
  std::string bound;
  double microseconds = 0;   // of the bound
  double hbm_stream_us = 0;  // at the rate that streaming kernels reach
};

LaunchModel ModelLaunch(const Clocks& group, uint64_t groups, uint64_t waves,
                        const Occupancy& occupancy, double hbm_bytes);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_MODEL_H_
