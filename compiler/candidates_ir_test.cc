// Every candidate of every op's samples compiles, or says why it cannot be had.
#include <set>
#include <string>

#include "absl/strings/str_join.h"
#include "compiler/candidates.h"
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

class CandidatesIrTest : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(CandidatesIrTest, EachCompilesOrSaysWhyNot) {
  ASSERT_EQ(WarmUpCompiler(), absl::OkStatus());
  std::set<std::string> compiled;
  for (const Spec& sample : GetParam()->samples()) {
    const auto candidates = Candidates(sample);
    ASSERT_TRUE(candidates.ok()) << candidates.status();
    int fitting = 0;
    for (const Candidate& candidate : *candidates) {
      if (!candidate.refusal.empty()) continue;
      ++fitting;
      Spec tuned = sample;
      tuned.tuning = candidate.tuning;
      const absl::StatusOr<Plan> plan = MakePlan(tuned);
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const PlanKernel& kernel : plan->kernels) {
        if (!compiled.insert(kernel.key).second) continue;
        // Spills and scratch are refused by Compile itself.
        EXPECT_EQ(Compile(kernel.spec).status(), absl::OkStatus())
            << kernel.spec.symbol;
      }
    }
    EXPECT_GE(fitting, 1) << absl::StrJoin(
        sample.tuning, " ", [](std::string* out, const Tuning& t) {
          absl::StrAppend(out, t.name, "=", t.value);
        });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, CandidatesIrTest,
    ::testing::ValuesIn(AllOps().begin(), AllOps().end()),
    [](const ::testing::TestParamInfo<const OpDef*>& info) {
      return std::string(info.param->name);
    });

}  // namespace
}  // namespace ingot
