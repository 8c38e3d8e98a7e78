// Loops of made-up programs.
#include "tests/emulator/profile/flow.h"

#include <gtest/gtest.h>

namespace ingot::profile {
namespace {

class Program {
 public:
  Program() {
    inst_.size = 4;
    recording.functions = {0};
  }

  // Instructions at 4 * first.. 4 * last, executed `count` times each.
  void Add(uint64_t first, uint64_t last, uint64_t count) {
    for (uint64_t n = first; n <= last; ++n) {
      Executed& e = recording.program[4 * n];
      e.inst = &inst_;
      e.count = count;
    }
  }
  Facts& FactsAt(uint64_t n) { return recording.program.at(4 * n).facts; }
  void Jump(uint64_t from, uint64_t to, uint64_t count) {
    recording.jumps[{4 * from, 4 * to}] = count;
  }
  void End(uint64_t n) { FactsAt(n).ends = true, FactsAt(n).goes_on = false; }
  void NeverGoesOn(uint64_t n) { FactsAt(n).goes_on = false; }

  Recording recording;

 private:
  emulator::Inst inst_;
};

TEST(FlowTest, StraightCodeHasNone) {
  Program p;
  p.Add(0, 5, 1);
  p.End(5);
  const Flow flow = FlowOf(p.recording);
  EXPECT_TRUE(flow.loops.empty());
  EXPECT_EQ(flow.blocks, 1);
}

TEST(FlowTest, TwoWaysBackToOneHeaderAreOneLoop) {
  Program p;  // 1..4 with `continue` at 2
  p.Add(0, 0, 1);
  p.Add(1, 2, 10);
  p.Add(3, 4, 6);
  p.Add(5, 5, 1);
  p.Jump(2, 1, 4);
  p.Jump(4, 1, 5);
  p.End(5);
  const Flow flow = FlowOf(p.recording);
  ASSERT_EQ(flow.loops.size(), 1u);
  EXPECT_EQ(flow.loops[0].header, 4u);
  EXPECT_EQ(flow.loops[0].iterations, 10u);
  EXPECT_EQ(flow.loops[0].entries, 1u);
  EXPECT_EQ(flow.loops[0].offsets, (std::vector<uint64_t>{4, 8, 12, 16}));
}

TEST(FlowTest, ALoopMayLieBeforeTheOneAroundIt) {
  // 0 jumps to 5, the outer header; its body jumps back to 1, the inner loop.
  Program p;
  p.Add(0, 0, 1);
  p.Add(1, 2, 12);  // inner: 3 entries of 4 trips
  p.Add(3, 3, 3);
  p.Add(5, 6, 4);
  p.Add(7, 7, 1);
  p.Jump(0, 5, 1);
  p.NeverGoesOn(0);
  p.Jump(2, 1, 9);
  p.Jump(3, 5, 3);
  p.NeverGoesOn(3);
  p.Jump(6, 1, 3);
  p.End(7);
  const Flow flow = FlowOf(p.recording);
  ASSERT_EQ(flow.loops.size(), 2u);
  EXPECT_EQ(flow.loops[0].header, 20u);
  EXPECT_EQ(flow.loops[0].iterations, 4u);
  EXPECT_EQ(flow.loops[0].entries, 1u);
  EXPECT_EQ(flow.loops[0].offsets.size(), 5u);
  EXPECT_EQ(flow.loops[1].header, 4u);
  EXPECT_EQ(flow.loops[1].parent, 0);
  EXPECT_EQ(flow.loops[1].depth, 1);
  EXPECT_EQ(flow.loops[1].iterations, 12u);
  EXPECT_EQ(flow.loops[1].entries, 3u);
}

TEST(FlowTest, AJumpIntoALoopsMiddleIsCountedNotShown) {
  Program p;  // 1 and 2 jump to each other, and 0 into both
  p.Add(0, 0, 2);
  p.Add(1, 1, 5);
  p.Add(2, 2, 6);
  p.Add(3, 3, 2);
  p.Jump(0, 2, 1);
  p.Jump(2, 1, 4);
  p.End(3);
  const Flow flow = FlowOf(p.recording);
  EXPECT_TRUE(flow.loops.empty());
  EXPECT_EQ(flow.irreducible, 1);
}

TEST(FlowTest, LoopsOfFunctionsAreApart) {
  Program p;
  p.Add(0, 1, 1);
  p.FactsAt(0).calls = true;
  p.End(1);
  p.Add(10, 11, 8);  // a function that loops, and is not reached by jumps
  p.Add(12, 12, 1);
  p.NeverGoesOn(12);
  p.Jump(11, 10, 7);
  p.recording.functions.insert(40);
  const Flow flow = FlowOf(p.recording);
  ASSERT_EQ(flow.loops.size(), 1u);
  EXPECT_EQ(flow.loops[0].header, 40u);
  EXPECT_EQ(flow.loops[0].entries, 1u);
  EXPECT_FALSE(flow.loops[0].calls);
}

}  // namespace
}  // namespace ingot::profile
