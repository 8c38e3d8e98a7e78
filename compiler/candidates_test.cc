#include "compiler/candidates.h"

#include <algorithm>
#include <set>

#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"

namespace ingot {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

Spec RmsNorm(int64_t n) {
  Spec spec;
  spec.op = "rmsnorm";
  spec.target = "gfx950";
  spec.dims = {{.name = "n", .value = n}, {.name = "rows"}};
  spec.operands = {{.name = "x", .dtype = "bf16"},
                   {.name = "y", .dtype = "bf16"}};
  return spec;
}

// Whatever is said to fit can be asked for, and gives what was said.
TEST(CandidatesTest, EachThatFitsIsAPlan) {
  int with_choice = 0;
  for (const OpDef* op : AllOps()) {
    const Spec spec = op->samples().front();
    const auto candidates = Candidates(spec);
    ASSERT_TRUE(candidates.ok()) << op->name << ": " << candidates.status();
    ASSERT_FALSE(candidates->empty()) << op->name;
    std::set<std::string> seen;
    bool refused = false;
    double last = 0;
    for (const Candidate& candidate : *candidates) {
      Spec tuned = spec;
      tuned.tuning = candidate.tuning;
      const absl::StatusOr<Plan> plan = MakePlan(tuned);
      EXPECT_EQ(plan.ok(), candidate.refusal.empty()) << plan.status();
      if (!candidate.refusal.empty()) {
        refused = true;
        continue;
      }
      EXPECT_FALSE(refused) << "those that fit come first";
      EXPECT_GE(candidate.predicted_us, last);
      last = candidate.predicted_us;
      ASSERT_EQ(candidate.keys.size(), plan->kernels.size());
      std::string all;
      for (size_t i = 0; i < candidate.keys.size(); ++i) {
        EXPECT_EQ(candidate.keys[i], plan->kernels[i].key);
        all += candidate.keys[i];
      }
      EXPECT_TRUE(seen.insert(all).second) << "a candidate stands twice";
    }
    if (seen.size() > 1) ++with_choice;
  }
  EXPECT_GE(with_choice, 4);
}

TEST(CandidatesTest, OneIsWhatThePlanHas) {
  const auto candidates = Candidates(RmsNorm(4096));
  ASSERT_TRUE(candidates.ok()) << candidates.status();
  EXPECT_EQ(std::count_if(candidates->begin(), candidates->end(),
                          [](const Candidate& c) { return c.chosen; }),
            1);
}

TEST(CandidatesTest, OneThatDoesNotFitSaysWhy) {
  const auto candidates = Candidates(RmsNorm(131072));
  ASSERT_TRUE(candidates.ok()) << candidates.status();
  const Candidate& last = candidates->back();
  EXPECT_EQ(last.tuning[0].value, 256);
  EXPECT_THAT(last.refusal, HasSubstr("threads"));
}

// No plan depends on it, the time does.
TEST(CandidatesTest, MoreRowsTakeLonger) {
  for (const char* op : {"gemm", "scaled_gemm", "grouped_gemm"}) {
    Spec spec = FindOp(op)->samples().front();
    double last = 0;
    for (const int64_t rows : {64, 65536}) {
      for (Dim& dim : spec.dims) {
        if (dim.name == "m" || dim.name == "total_m") dim.value = rows;
      }
      const auto candidates = Candidates(spec);
      ASSERT_TRUE(candidates.ok()) << op << ": " << candidates.status();
      EXPECT_GT(candidates->front().predicted_us, 2 * last) << op;
      last = candidates->front().predicted_us;
    }
  }
}

// Tiles that leave the number of parts to the launch take the one pinned.
TEST(CandidatesTest, APinnedNumberOfPartsHasItsTiles) {
  for (const char* op : {"gemm", "scaled_gemm"}) {
    Spec spec = FindOp(op)->samples().front();
    spec.tuning = {{"split_k", 4}};
    const auto candidates = Candidates(spec);
    ASSERT_TRUE(candidates.ok()) << op << ": " << candidates.status();
    ASSERT_FALSE(candidates->empty()) << op;
    EXPECT_EQ(candidates->front().refusal, "") << op;
    for (const Candidate& candidate : *candidates) {
      EXPECT_THAT(candidate.tuning,
                  Contains(AllOf(Field(&Tuning::name, "split_k"),
                                 Field(&Tuning::value, 4))))
          << op;
    }
  }
}

TEST(CandidatesTest, PinsOfTheSpecStay) {
  Spec spec = RmsNorm(4096);
  spec.tuning = {{"threads", 512}};
  const auto candidates = Candidates(spec);
  ASSERT_TRUE(candidates.ok()) << candidates.status();
  ASSERT_EQ(candidates->size(), 1u);
  EXPECT_EQ((*candidates)[0].tuning[0].value, 512);
  spec.op = "no_such_op";
  EXPECT_EQ(Candidates(spec).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace ingot
