// How long a launch takes on an idle MI355X: the busiest compute unit's time
// (cu_time.h) at the clock that power allows, plus what any launch costs. The
// constants were fitted once to published timings (launch_time_test.cc holds
// the errors) and judge every kernel alike. Modelled, not measured.
#ifndef TESTS_EMULATOR_PROFILE_LAUNCH_TIME_H_
#define TESTS_EMULATOR_PROFILE_LAUNCH_TIME_H_

#include <cstdint>

#include "tests/emulator/profile/steps.h"

namespace ingot::profile {

struct LaunchWork {
  const Trace* trace = nullptr;  // of one workgroup; all are alike
  uint64_t groups = 0;
  int groups_per_cu = 1;  // that fit at a time
  double hbm_bytes = 0;   // that the launch moves at least
};

struct LaunchTime {
  double microseconds = 0;
  double matrix_share = 0;  // of the time that the matrix units work
  double clock_ghz = 0;
};

LaunchTime TimeOf(const LaunchWork& work);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_LAUNCH_TIME_H_
