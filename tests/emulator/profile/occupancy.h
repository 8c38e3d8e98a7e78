// How many waves of a kernel a compute unit holds, and what limits them.
#ifndef TESTS_EMULATOR_PROFILE_OCCUPANCY_H_
#define TESTS_EMULATOR_PROFILE_OCCUPANCY_H_

#include <cstdint>
#include <string>

#include "tests/emulator/code_object.h"

namespace ingot::profile {

// What a kernel takes, as allocated: the descriptor's numbers, which count in
// granules, and the metadata's where they are finer.
struct Registers {
  int arch = 0;  // VGPRs
  int acc = 0;   // AGPRs
  int scalar = 0;
  int total() const { return arch + acc; }
};

Registers RegistersOf(const emulator::KernelInfo& kernel);

struct Occupancy {
  int waves_per_simd = 0;
  int groups_per_cu = 0;  // 0: not even one fits
  std::string limit;      // waves, registers, scalar_registers, lds
};

// `threads`: work-items of a workgroup; `lds`: its bytes, dynamic ones too.
Occupancy OccupancyOf(const Registers& registers, uint32_t threads,
                      uint32_t lds);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_OCCUPANCY_H_
