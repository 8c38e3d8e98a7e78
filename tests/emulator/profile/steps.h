// What a workgroup executed, as its cost on a compute unit: the input of
// cu_time.h. Made from a recording, or by hand where only a kernel's
// composition is published.
#ifndef TESTS_EMULATOR_PROFILE_STEPS_H_
#define TESTS_EMULATOR_PROFILE_STEPS_H_

#include <cstdint>
#include <vector>

#include "tests/emulator/profile/facts.h"
#include "tests/emulator/profile/recording.h"

namespace ingot::profile {

// One instruction of the program.
struct Step {
  Class cls = Class::kSalu;
  double unit_clocks = 0;  // of the matrix or vector unit
  int slots = 1;           // issue slots
  double lds_clocks = 0;   // of the LDS unit
  double vmem_clocks = 0;  // of the vector memory path
  double l2_bytes = 0;     // that pass between the CU and the L2
  bool counts_vm = false;  // until it is done
  bool counts_lgkm = false;
  Waits waits;
  int priority = -1;  // s_setprio
};

// Bits of the operands that most of the matrix units' time goes to: what power
// allows depends on it.
enum class MatrixWidth { k16, k8, kSmall };

struct Trace {
  std::vector<Step> steps;
  MatrixWidth width = MatrixWidth::k16;
  // Of one workgroup: indices of steps, in order of execution.
  std::vector<std::vector<uint32_t>> waves;

  bool empty() const { return waves.empty(); }
  double L2Bytes() const;
};

// Costs of an instruction are its mean ones. Empty when nothing was traced.
Trace TraceOf(const Recording& recording);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_STEPS_H_
