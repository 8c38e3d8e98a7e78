// The loops of what was executed: natural loops over the basic blocks and the
// jumps that were taken, each function apart.
#ifndef TESTS_EMULATOR_PROFILE_FLOW_H_
#define TESTS_EMULATOR_PROFILE_FLOW_H_

#include <cstdint>
#include <set>
#include <vector>

#include "tests/emulator/profile/recording.h"

namespace ingot::profile {

struct Loop {
  uint64_t header = 0;            // offset of its first instruction
  std::vector<uint64_t> offsets;  // of its instructions, ascending
  uint64_t iterations = 0;        // how often the header was executed
  uint64_t entries = 0;           // … coming from outside
  int parent = -1;                // the loop around it, an index before its own
  int depth = 0;                  // 0: in no other
  // Calls functions: what they execute is not part of `offsets`.
  bool calls = false;
};

struct Flow {
  std::vector<Loop> loops;  // each before those in it
  int blocks = 0;
  int irreducible = 0;  // jumps back to where a loop does not begin
};

Flow FlowOf(const Recording& recording);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_FLOW_H_
