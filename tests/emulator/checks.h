// The strict checks that watch a workgroup run.
//
// Others are part of the instructions themselves: bounds and misaligned atomics
// (interp/memory.h), registers in flight (waits.h).
#ifndef TESTS_EMULATOR_CHECKS_H_
#define TESTS_EMULATOR_CHECKS_H_

#include <memory>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/watcher.h"

namespace ingot::emulator {

// Those that the options ask for, for one host thread.
std::vector<std::unique_ptr<Watcher>> MakeChecks(const Options& options);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_CHECKS_H_
