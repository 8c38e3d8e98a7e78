#include "tests/emulator/check_exec.h"

#include <bit>

#include "tests/emulator/wave.h"

namespace ingot::emulator {
namespace {

// Lanes of groups of 16 of which some lanes are on and some are off.
uint64_t TornGroups(uint64_t exec) {
  uint64_t torn = 0;
  for (int at = 0; at < kLanes; at += 16) {
    const uint64_t group = exec >> at & 0xffff;
    if (group != 0 && group != 0xffff) torn |= uint64_t{0xffff} << at;
  }
  return torn;
}

}  // namespace

void ExecCheck::Before(Wave& w, const Inst& i) {
  const uint64_t off = ~w.exec();
  if (off == 0) return;
  if (i.op->cls == OpClass::kMfma) {
    if ((off & w.born) == 0) return;
    w.Raise(FaultKind::kWrongExec, std::countr_zero(off & w.born), 0,
            "a matrix instruction ignores EXEC, and this lane is off");
  } else if (IsTransposingRead(*i.op)) {
    const uint64_t bad = off & TornGroups(w.exec());
    if (bad == 0) return;
    w.Raise(FaultKind::kWrongExec, std::countr_zero(bad), 0,
            "a transposing read needs its group of 16 lanes, and this lane is "
            "off");
  }
}

}  // namespace ingot::emulator
