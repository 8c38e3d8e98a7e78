// Schedules: what their waits leave outstanding, against numbers worked out by
// hand, and what FinishSchedule refuses.
#include <algorithm>
#include <functional>

#include "compiler/tile/schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::tile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As for panels that are contiguous along k: one read a fragment.
ScheduleShape Shape(int stages, int sets, int panels, int pieces_a,
                    int fragments_a, int pieces_b, int fragments_b) {
  ScheduleShape shape;
  shape.stages = stages;
  shape.sets = sets;
  shape.operands.resize(2);
  shape.operands[0] = {false, panels, pieces_a, fragments_a, 1, sets};
  shape.operands[1] = {true, panels, pieces_b, fragments_b, 1, sets};
  return shape;
}

// 256x256x64 of 16 bits.
ScheduleShape FourWaves() { return Shape(2, 2, 1, 8, 8, 8, 8); }
ScheduleShape EightWaves() { return Shape(2, 2, 2, 2, 8, 2, 4); }

std::vector<int> Waits(const Schedule& schedule) {
  std::vector<int> waits;
  for (const Action& action : schedule.step) {
    if (action.kind == Action::kLoadsDone) waits.push_back(action.count);
  }
  return waits;
}

int Count(const Schedule& schedule, Action::Kind kind) {
  return static_cast<int>(
      std::count_if(schedule.step.begin(), schedule.step.end(),
                    [&](const Action& action) { return action.kind == kind; }));
}

TEST(Interleaved, WaitsForTheNextStepAlone) {
  const absl::StatusOr<Schedule> schedule = InterleavedSchedule(FourWaves());
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  // The 16 loads of step t + 2 were issued since those of step t + 1.
  EXPECT_THAT(Waits(*schedule), ElementsAre(16));
  EXPECT_EQ(schedule->prologue_left, 16);
  EXPECT_EQ(Count(*schedule, Action::kProduct), 128);
  EXPECT_EQ(Count(*schedule, Action::kRead), 32);
  EXPECT_EQ(Count(*schedule, Action::kLoad), 16);
  EXPECT_EQ(Count(*schedule, Action::kBarrier), 2);
  EXPECT_EQ(schedule->MaxAhead(Action::kLoad), 2);
  EXPECT_EQ(schedule->MaxAhead(Action::kRead), 1);
}

TEST(Interleaved, LeavesMoreOutstandingWithMoreStages) {
  // 64x64x64 in 4 waves: 2 + 2 loads a step, of three steps.
  const absl::StatusOr<Schedule> schedule =
      InterleavedSchedule(Shape(4, 2, 1, 2, 2, 2, 2));
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_THAT(Waits(*schedule), ElementsAre(12));
}

TEST(Interleaved, TakesFourSets) {
  const absl::StatusOr<Schedule> schedule =
      InterleavedSchedule(Shape(2, 4, 1, 2, 1, 4, 2));
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_THAT(Waits(*schedule), ElementsAre(6));
  EXPECT_EQ(Count(*schedule, Action::kReadsDone), 4);
}

// An operand of fewer sets, as scales are: read once for two sets of products.
TEST(Interleaved, TakesAnOperandThatServesTwoSets) {
  ScheduleShape shape = FourWaves();
  shape.operands.push_back({false, 1, 1, 8, 1, 1});
  const absl::StatusOr<Schedule> schedule = InterleavedSchedule(shape);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_THAT(Waits(*schedule), ElementsAre(17));
  EXPECT_EQ(Count(*schedule, Action::kRead), 40);
}

TEST(PingPong, WaitsOneClusterAhead) {
  const absl::StatusOr<Schedule> schedule = PingPongSchedule(EightWaves());
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  // In clusters 0, 1 and 3; after cluster 2 nothing new is read.
  EXPECT_THAT(Waits(*schedule), ElementsAre(8, 8, 8));
  EXPECT_EQ(schedule->prologue_left, 8);
  EXPECT_EQ(Count(*schedule, Action::kProduct), 64);
  EXPECT_EQ(Count(*schedule, Action::kRead), 24);
  EXPECT_EQ(Count(*schedule, Action::kLoad), 8);
  EXPECT_EQ(Count(*schedule, Action::kBarrier), 8);
}

TEST(Private, KeepsTheRingFull) {
  // 16x64x64: 2 + 8 loads a step, three other steps in flight.
  const absl::StatusOr<Schedule> schedule =
      PrivateSchedule(Shape(4, 2, 1, 2, 1, 8, 4));
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_THAT(Waits(*schedule), ElementsAre(30));
  EXPECT_EQ(schedule->prologue_left, -1);
  EXPECT_EQ(Count(*schedule, Action::kBarrier), 0);
}

TEST(Private, KnowsHowFarTheCounterGoes) {
  const absl::StatusOr<Schedule> schedule =
      PrivateSchedule(Shape(8, 2, 1, 2, 1, 8, 4));
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_THAT(Waits(*schedule), ElementsAre(63));
}

using Change = std::function<void(std::vector<Action>*)>;

// What is said of a schedule with one thing wrong.
std::string Refusal(absl::StatusOr<Schedule> schedule, const Change& change) {
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  change(&schedule->step);
  return std::string(FinishSchedule(&*schedule).message());
}

// Takes the `which`-th action of a kind out.
Change Without(Action::Kind kind, int which) {
  return [=](std::vector<Action>* step) {
    int seen = 0;
    for (auto it = step->begin(); it != step->end(); ++it) {
      if (it->kind == kind && seen++ == which) {
        step->erase(it);
        return;
      }
    }
    FAIL() << "nothing to take out";
  };
}

// Moves the `which`-th load before everything else of the step.
Change EarlyLoad(int which) {
  return [=](std::vector<Action>* step) {
    int seen = 0;
    for (auto it = step->begin(); it != step->end(); ++it) {
      if (it->kind == Action::kLoad && seen++ == which) {
        std::rotate(step->begin(), it, it + 1);
        return;
      }
    }
    FAIL() << "no such load";
  };
}

TEST(Refused, AStageFreedBeforeItsReadsHaveResults) {
  // The wait before the barrier that frees the stage; that of the next set.
  EXPECT_THAT(
      Refusal(InterleavedSchedule(FourWaves()), Without(Action::kReadsDone, 0)),
      HasSubstr("that a wave may still read"));
  EXPECT_THAT(
      Refusal(InterleavedSchedule(FourWaves()), Without(Action::kReadsDone, 1)),
      HasSubstr("does not wait for its reads"));
  EXPECT_THAT(Refusal(InterleavedSchedule(FourWaves()),
                      [](std::vector<Action>* step) {
                        // After the barrier instead.
                        for (size_t i = 0; i + 1 < step->size(); ++i) {
                          if ((*step)[i].kind == Action::kReadsDone &&
                              (*step)[i + 1].kind == Action::kBarrier) {
                            std::swap((*step)[i], (*step)[i + 1]);
                            return;
                          }
                        }
                      }),
              HasSubstr("that a wave may still read"));
  EXPECT_THAT(Refusal(InterleavedSchedule(FourWaves()), EarlyLoad(0)),
              HasSubstr("fills a stage"));
}

TEST(Refused, AMissingBarrier) {
  EXPECT_THAT(
      Refusal(InterleavedSchedule(FourWaves()), Without(Action::kBarrier, 0)),
      HasSubstr("that a wave may still read"));
  // With one barrier a step fewer the waits of a step earlier are the last ones
  // that all waves made, and have to cover everything.
  absl::StatusOr<Schedule> schedule = InterleavedSchedule(FourWaves());
  ASSERT_TRUE(schedule.ok());
  Without(Action::kBarrier, 1)(&schedule->step);
  ASSERT_TRUE(FinishSchedule(&*schedule).ok());
  EXPECT_THAT(Waits(*schedule), ElementsAre(0));
}

TEST(Refused, AMissingWaitForLoads) {
  EXPECT_THAT(
      Refusal(InterleavedSchedule(FourWaves()), Without(Action::kLoadsDone, 0)),
      HasSubstr("no wait of all waves covers"));
  // Where another wait comes earlier, it must cover more.
  absl::StatusOr<Schedule> schedule = PingPongSchedule(EightWaves());
  ASSERT_TRUE(schedule.ok());
  Without(Action::kLoadsDone, 0)(&schedule->step);
  ASSERT_TRUE(FinishSchedule(&*schedule).ok());
  EXPECT_THAT(Waits(*schedule), ElementsAre(8, 6));
}

// A half that is read in cluster c is free from cluster c + 2 on.
TEST(Refused, APingPongThatFillsAClusterTooEarly) {
  absl::StatusOr<Schedule> schedule = PingPongSchedule(EightWaves());
  ASSERT_TRUE(schedule.ok());
  const auto early = [](std::vector<Action>* step) {
    // A0, read in cluster 0, is loaded at the end of cluster 2's operations.
    const auto load =
        std::find_if(step->begin(), step->end(), [](const Action& action) {
          return action.kind == Action::kLoad && action.ahead == 2;
        });
    auto barrier = load;
    for (int passed = 0; passed < 2;) {
      --barrier;
      passed += barrier->kind == Action::kBarrier;
    }
    std::rotate(barrier, load, load + 1);
  };
  EXPECT_THAT(Refusal(schedule, early),
              HasSubstr("that a wave may still read"));
}

TEST(Refused, ActionsLeftOutOrDoubled) {
  for (const Action::Kind kind :
       {Action::kProduct, Action::kRead, Action::kLoad}) {
    EXPECT_THAT(Refusal(InterleavedSchedule(FourWaves()), Without(kind, 3)),
                HasSubstr("actions of"));
  }
  EXPECT_THAT(Refusal(InterleavedSchedule(FourWaves()),
                      [](std::vector<Action>* step) {
                        step->push_back(step->front());
                      }),
              HasSubstr("twice"));
}

TEST(Refused, FewerStagesThanLoadsRunAhead) {
  absl::StatusOr<Schedule> schedule = InterleavedSchedule(FourWaves());
  ASSERT_TRUE(schedule.ok());
  schedule->shape.stages = 1;
  EXPECT_FALSE(FinishSchedule(&*schedule).ok());
}

}  // namespace
}  // namespace ingot::tile
