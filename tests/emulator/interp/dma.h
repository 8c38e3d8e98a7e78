// The LDS side of memory-to-LDS transfers.
#ifndef TESTS_EMULATOR_INTERP_DMA_H_
#define TESTS_EMULATOR_INTERP_DMA_H_

#include <cstdint>

#include "tests/emulator/interp/memory.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

// Where one transfer instruction of a wave puts its lanes' data: M0[17:0] plus
// the instruction's offset plus lane * stride.
class DmaTarget {
 public:
  DmaTarget(const Wave& w, const Inst& i, uint32_t stride);
  // False after a fault.
  bool Write(Wave& w, int lane, const uint32_t* data, int dwords);

 private:
  uint32_t base_;
  uint32_t stride_;
};

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_DMA_H_
