// The LDS side of memory-to-LDS transfers.
#ifndef TESTS_EMULATOR_INTERP_DMA_H_
#define TESTS_EMULATOR_INTERP_DMA_H_

#include <cstdint>

#include "tests/emulator/interp/memory.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

// Where one transfer instruction of a wave puts its lanes' data: M0[17:0] plus
// the instruction's offset plus lane * stride. The bytes count as in flight
// until the wave's vmcnt covers the instruction.
class DmaTarget {
 public:
  DmaTarget(Wave& w, const Inst& i, uint32_t stride);
  // False after a fault.
  bool Write(Wave& w, int lane, const uint32_t* data, int dwords);
  void Issue(Wave& w);

 private:
  uint32_t base_;
  uint32_t stride_;
  uint32_t id_ = 0;
};

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_DMA_H_
