#include "tests/emulator/check_barriers.h"

#include <bit>

#include "tests/emulator/wave.h"

namespace ingot::emulator {

void BarrierCheck::Before(Wave& w, const Inst&) {
  const uint64_t missing = w.born & ~w.exec();
  if (missing == 0) return;
  w.Raise(FaultKind::kBarrierDivergence, std::countr_zero(missing), 0,
          "lanes of the wave do not take part");
}

void BarrierCheck::Barrier(Group& g) {
  const Wave* ended = nullptr;
  Wave* waiting = nullptr;
  for (Wave* w : g.waves) {
    if (w->state == WaveState::kDone && ended == nullptr) ended = w;
    if (w->state == WaveState::kBarrier && waiting == nullptr) waiting = w;
  }
  if (ended == nullptr || waiting == nullptr) return;
  waiting->RaiseAgainst(FaultKind::kBarrierDivergence, -1, 0,
                        "a wave ended while others wait", ended->index,
                        ended->pc - ended->current->size);
}

}  // namespace ingot::emulator
