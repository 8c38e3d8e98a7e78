// Every kernel that the samples of every op plan: it compiles, keeps its launch
// contract, and comes out the same twice.
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

class SamplesTest : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(SamplesTest, CompileToTheSameBytesTwice) {
  ASSERT_EQ(WarmUpCompiler(), absl::OkStatus());
  for (const Spec& sample : GetParam()->samples()) {
    const absl::StatusOr<Plan> plan = MakePlan(sample);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const PlanKernel& kernel : plan->kernels) {
      const absl::StatusOr<CompiledKernel> first = Compile(kernel.spec);
      ASSERT_TRUE(first.ok()) << first.status();
      EXPECT_EQ(CheckContract(first->description, kernel.spec),
                absl::OkStatus());
      const absl::StatusOr<CompiledKernel> second = Compile(kernel.spec);
      ASSERT_TRUE(second.ok()) << second.status();
      EXPECT_TRUE(first->object == second->object) << kernel.spec.symbol;
    }
  }
}

TEST_P(SamplesTest, BadOnesAreRefused) {
  for (const Spec& sample : GetParam()->bad_samples()) {
    const absl::Status status = MakePlan(sample).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status) ||
                absl::IsUnimplemented(status))
        << status;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, SamplesTest, ::testing::ValuesIn(AllOps().begin(), AllOps().end()),
    [](const ::testing::TestParamInfo<const OpDef*>& info) {
      return std::string(info.param->name);
    });

}  // namespace
}  // namespace ingot
