// How much of a compute unit a kernel takes.
#ifndef TESTS_EMULATOR_HIP_OCCUPANCY_H_
#define TESTS_EMULATOR_HIP_OCCUPANCY_H_

#include <cstdint>

#include "tests/emulator/code_object.h"

namespace ingot::emulator::hip {

// Waves of this kernel that one SIMD can hold, by its registers: 1 to 8.
int WavesPerSimd(const KernelInfo& kernel);

// Workgroups of `threads` work-items that one compute unit can hold, by
// registers, waves and LDS; 0 when not even one fits.
int BlocksPerComputeUnit(const KernelInfo& kernel, int threads,
                         uint64_t dynamic_lds);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_OCCUPANCY_H_
