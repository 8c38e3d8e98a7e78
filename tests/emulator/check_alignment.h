// What hardware refuses, or quietly moves elsewhere, for want of alignment.
#ifndef TESTS_EMULATOR_CHECK_ALIGNMENT_H_
#define TESTS_EMULATOR_CHECK_ALIGNMENT_H_

#include "tests/emulator/watcher.h"

namespace ingot::emulator {

// Runtimes switch gfx950 to its unaligned access mode, in which plain loads and
// stores of memory, scratch and LDS may have any address: they are counted, as
// they cost time. Atomics need their own size: the instructions check that.
// Scalar accesses drop the low two bits of base and offset, LDS transfers those
// of the LDS address; transposing reads need the alignment of their dwords (8
// bytes in the 64-bit forms).
class AlignmentCheck : public Watcher {
 public:
  AlignmentCheck() : Watcher(ClassBit(OpClass::kSmem), kVectorMemoryClasses) {}
  void Before(Wave&, const Inst&) override;
  void After(Wave&, const Inst&, const AccessList&) override;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_CHECK_ALIGNMENT_H_
