// Finds loads that wait for another wave.
//
// An atomic load of LDS is compiled to the same instruction as a plain one.
// What tells it apart: a loop that stores nothing and loads from a place that
// stays the same makes sense only if another wave writes there.
#ifndef TESTS_EMULATOR_RACE_POLL_H_
#define TESTS_EMULATOR_RACE_POLL_H_

#include <cstdint>

#include "tests/emulator/program.h"

namespace ingot::emulator {

// True when the LDS load at host address `pc` stands in such a loop.
bool IsPoll(Program& program, uint64_t pc);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_RACE_POLL_H_
