// The check for undefined values: bits of registers, LDS, scratch or global
// memory that nobody has written must not reach global memory, an address or a
// branch. That they are read, moved and computed with is legal.
#ifndef TESTS_EMULATOR_TAINT_H_
#define TESTS_EMULATOR_TAINT_H_

#include <memory>

#include "tests/emulator/watcher.h"

namespace ingot::emulator {

// For one host thread of one launch. Global memory counts as written where the
// intervals of the launch's view say so.
std::unique_ptr<Watcher> MakeTaintCheck();

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_TAINT_H_
