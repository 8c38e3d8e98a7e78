// How long a compute unit takes for workgroups: their instructions issued in
// order, wave by wave, over units that the waves share. Charged are issue
// slots, the matrix, vector and scalar units of each SIMD, the LDS, the path to
// vector memory, the L2 and this CU's share of HBM, the latencies that waits
// meet, and barriers. Dependences between registers are not: the waits and nops
// in the code stand for them. Modelled, not measured.
#ifndef TESTS_EMULATOR_PROFILE_CU_TIME_H_
#define TESTS_EMULATOR_PROFILE_CU_TIME_H_

#include "tests/emulator/profile/steps.h"

namespace ingot::profile {

struct CuWork {
  const Trace* trace = nullptr;  // of every workgroup
  int groups = 1;                // that the CU is given
  int resident = 1;              // of them, at a time
  double clock_hz = kClockHz;
  // Of the bytes between CU and L2 the share that comes from or goes to HBM,
  // and the rate at which HBM serves this CU.
  double hbm_share = 1;
  double hbm_bytes_per_second = kHbmReached / kComputeUnits;
};

struct CuTime {
  double clocks = 0;         // until all workgroups have ended
  double matrix_clocks = 0;  // in which the busiest SIMD's matrix unit worked
};

CuTime TimeOf(const CuWork& work);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_CU_TIME_H_
