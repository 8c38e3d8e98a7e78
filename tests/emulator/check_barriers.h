// Waves and lanes that miss a barrier.
#ifndef TESTS_EMULATOR_CHECK_BARRIERS_H_
#define TESTS_EMULATOR_CHECK_BARRIERS_H_

#include "tests/emulator/watcher.h"

namespace ingot::emulator {

// Hardware counts waves at a barrier: it does not see lanes that are off, nor
// mind waves that ended. Source languages do; what such a kernel then reads or
// overwrites is a matter of luck. Waves may wait at different s_barriers:
// staggered kernels do.
class BarrierCheck : public Watcher {
 public:
  BarrierCheck() : Watcher(ClassBit(OpClass::kBarrier), 0) {}
  void Before(Wave&, const Inst&) override;
  void Barrier(Group&) override;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_CHECK_BARRIERS_H_
