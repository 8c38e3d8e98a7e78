// How silu_mul is planned: which variants, what is baked, what is refused.
#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/row_plans.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using testing::GridFor;
using ::testing::HasSubstr;
using testing::MustPlan;
using ::testing::SizeIs;
using testing::VariantNames;

Spec Joined(const char* dtype, int64_t n) {
  Spec spec{"silu_mul"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"x", dtype}, {"y", dtype}};
  return spec;
}

Spec Apart(const char* dtype, int64_t n) {
  Spec spec = Joined(dtype, n);
  spec.operands = {{"y", dtype}, {"up", dtype}, {"gate", dtype}};
  return spec;
}

std::string KeyOf(const Spec& spec) { return MustPlan(spec).kernels[0].key; }

TEST(SiluMulPlanTest, RowsAreNeverBaked) {
  Spec one = Joined("bf16", 4096);
  one.dims[0].value = 1;
  Spec many = Joined("bf16", 4096);
  many.dims[0].value = 100000;
  ASSERT_THAT(MustPlan(one).kernels, SizeIs(1));
  EXPECT_EQ(KeyOf(one), KeyOf(many));
}

TEST(SiluMulPlanTest, WhatTheCodeDependsOnIsInTheKey) {
  const std::string key = KeyOf(Joined("bf16", 4096));
  EXPECT_NE(key, KeyOf(Joined("bf16", 4104)));
  EXPECT_NE(key, KeyOf(Joined("f16", 4096)));
  EXPECT_NE(key, KeyOf(Apart("bf16", 4096)));
  Spec other = Joined("bf16", 4096);
  other.attrs = {{"pairing", "interleaved"}};
  EXPECT_NE(key, KeyOf(other));
  for (const char* act : {"gelu_tanh", "gelu_erf"}) {
    other.attrs = {{"act", act}};
    EXPECT_NE(key, KeyOf(other));
  }
  other.attrs = {{"act", "silu"}, {"pairing", "halves"}};
  EXPECT_EQ(key, KeyOf(other));
}

TEST(SiluMulPlanTest, OperandsStandInOneOrder) {
  const Plan joined = MustPlan(Joined("bf16", 64));
  ASSERT_THAT(joined.operands, SizeIs(2));
  EXPECT_EQ(joined.operands[0].name, "x");
  EXPECT_EQ(joined.operands[0].extents[1], Expr::Const(128));
  EXPECT_TRUE(joined.operands[1].output);
  const Plan apart = MustPlan(Apart("bf16", 64));
  ASSERT_THAT(apart.operands, SizeIs(3));
  EXPECT_EQ(apart.operands[0].name, "gate");
  EXPECT_EQ(apart.operands[1].name, "up");
  EXPECT_EQ(apart.operands[2].name, "y");
}

TEST(SiluMulPlanTest, VariantsFollowWhatTheSpecPromises) {
  EXPECT_THAT(VariantNames(MustPlan(Joined("bf16", 4096))),
              ElementsAre("aligned"));
  // The second half starts between vectors, whatever the rows do.
  EXPECT_THAT(VariantNames(MustPlan(Joined("bf16", 4100))),
              ElementsAre("unaligned"));
  Spec wide = Joined("bf16", 4100);
  for (Operand& operand : wide.operands) {
    operand.stride_mode = StrideMode::kDynamic;
  }
  EXPECT_THAT(VariantNames(MustPlan(wide)), ElementsAre("unaligned"));
  wide.attrs = {{"pairing", "interleaved"}};
  EXPECT_THAT(VariantNames(MustPlan(wide)),
              ElementsAre("aligned", "unaligned"));
  Spec weak = Apart("bf16", 4096);
  weak.operands[1].alignment = 2;
  EXPECT_THAT(VariantNames(MustPlan(weak)), ElementsAre("unaligned"));
}

TEST(SiluMulPlanTest, ShortRowsShareAWorkgroup) {
  const Plan plan = MustPlan(Joined("bf16", 768));
  EXPECT_THAT(plan.kernels[0].spec.workgroup, ElementsAre(256, 1, 1));
  EXPECT_THAT(GridFor(plan, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(GridFor(plan, 17), ElementsAre(5, 1, 1));
}

TEST(SiluMulPlanTest, LongRowsAreSplit) {
  // 1792 vectors of each input, 512 a workgroup.
  const Plan plan = MustPlan(Joined("bf16", 14336));
  EXPECT_THAT(GridFor(plan, 1), ElementsAre(4, 1, 1));
  EXPECT_THAT(GridFor(plan, 300), ElementsAre(1200, 1, 1));
}

TEST(SiluMulPlanTest, ManyRowsStayInsideADispatch) {
  for (int64_t n : {8, 14336, 262144}) {
    const Plan plan = MustPlan(Joined("f32", n));
    const auto grid = GridFor(plan, int64_t{1} << 30);
    const int64_t threads = plan.kernels[0].spec.workgroup[0];
    EXPECT_LE(grid[0] * threads, int64_t{1} << 32);
    EXPECT_GE(grid[0] * grid[1] * threads * 8, int64_t{1} << 30);
  }
}

TEST(SiluMulPlanTest, TuningIsPinnedAndResolved) {
  Spec spec = Joined("bf16", 14336);
  spec.tuning = {{"threads", 512}, {"vectors", 4}};
  const Plan plan = MustPlan(spec);
  EXPECT_EQ(plan.kernels[0].spec.workgroup[0], 512u);
  EXPECT_THAT(GridFor(plan, 1), ElementsAre(1, 1, 1));
  EXPECT_EQ(KeyOf(MustPlan(Joined("bf16", 4096)).resolved),
            KeyOf(Joined("bf16", 4096)));
}

TEST(SiluMulPlanTest, SamplesPlan) {
  for (const Spec& sample : FindOp("silu_mul")->samples()) {
    EXPECT_TRUE(MakePlan(sample).ok()) << MakePlan(sample).status();
  }
}

TEST(SiluMulPlanTest, BadSamplesAreRefused) {
  int number = 0;
  for (const Spec& sample : FindOp("silu_mul")->bad_samples()) {
    const absl::Status status = MakePlan(sample).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status) ||
                absl::IsUnimplemented(status))
        << number << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("found"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("allowed"));
    ++number;
  }
}

}  // namespace
}  // namespace ingot
