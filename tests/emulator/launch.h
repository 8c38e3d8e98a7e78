// What all workgroups of one kernel launch share.
#ifndef TESTS_EMULATOR_LAUNCH_H_
#define TESTS_EMULATOR_LAUNCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/memory_map.h"
#include "tests/emulator/program.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator {

struct Launch {
  Program* program = nullptr;
  const KernelInfo* kernel = nullptr;
  const InstructionSet* isa = nullptr;
  std::shared_ptr<const MemoryView> memory;
  Options options;
  uint32_t grid[3] = {1, 1, 1};   // workgroups
  uint32_t block[3] = {1, 1, 1};  // work-items of a workgroup
  uint32_t lds_bytes = 0;         // static and dynamic
  uint64_t entry = 0;             // host address of the first instruction
  std::vector<uint8_t> kernarg;
  uint64_t kernarg_address = 0;
  alignas(64) uint8_t packet[64] = {};  // the AQL dispatch packet
  std::vector<uint64_t> groups;         // those that run; empty: all
  std::vector<WatcherFactory> watchers;
  std::atomic<bool> stop{false};  // a fault happened somewhere
};

// Runs all workgroups on the host's cores; fills the result's report and
// statistics. Blocks until done.
RunResult Execute(Launch& launch);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_LAUNCH_H_
