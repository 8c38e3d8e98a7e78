// How rmsnorm is planned: which variants, what is baked, what is refused.
#include <set>

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

Spec SpecOf(const char* dtype, int64_t n) {
  Spec spec{"rmsnorm"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"x", dtype}, {"y", dtype}, {"weight", dtype}};
  return spec;
}

TEST(RmsNormPlanTest, RowsAreNeverBaked) {
  Spec one = SpecOf("bf16", 4096);
  one.dims[0].value = 1;
  Spec many = SpecOf("bf16", 4096);
  many.dims[0].value = 100000;
  ASSERT_THAT(MustPlan(one).kernels, SizeIs(1));
  EXPECT_EQ(MustPlan(one).kernels[0].key, MustPlan(many).kernels[0].key);
}

TEST(RmsNormPlanTest, NAndDtypesAreBaked) {
  const std::string key = MustPlan(SpecOf("bf16", 4096)).kernels[0].key;
  EXPECT_NE(key, MustPlan(SpecOf("bf16", 4104)).kernels[0].key);
  EXPECT_NE(key, MustPlan(SpecOf("f16", 4096)).kernels[0].key);
  Spec other = SpecOf("bf16", 4096);
  other.operands[2].dtype = "f32";
  EXPECT_NE(key, MustPlan(other).kernels[0].key);
  other.operands.pop_back();
  EXPECT_NE(key, MustPlan(other).kernels[0].key);
}

TEST(RmsNormPlanTest, StridesThatKeepRowsAlignedShareTheKernel) {
  const std::string dense = MustPlan(SpecOf("bf16", 4096)).kernels[0].key;
  Spec fixed = SpecOf("bf16", 4096);
  fixed.operands[0].stride_mode = StrideMode::kStatic;
  fixed.operands[0].strides = {8192, 1};
  EXPECT_EQ(MustPlan(fixed).kernels[0].key, dense);
  Spec free = SpecOf("bf16", 4096);
  free.operands[1].stride_mode = StrideMode::kDynamic;
  EXPECT_EQ(MustPlan(free).kernels[0].key, dense);
}

TEST(RmsNormPlanTest, VariantsFollowWhatTheSpecPromises) {
  EXPECT_THAT(VariantNames(MustPlan(SpecOf("bf16", 4096))),
              ElementsAre("aligned"));
  // 1001 elements of two bytes: every second row starts between words.
  EXPECT_THAT(VariantNames(MustPlan(SpecOf("bf16", 1001))),
              ElementsAre("unaligned"));
  Spec weak = SpecOf("bf16", 4096);
  weak.operands[0].alignment = 2;
  EXPECT_THAT(VariantNames(MustPlan(weak)), ElementsAre("unaligned"));
  Spec free = SpecOf("f32", 1001);
  free.operands[0].stride_mode = StrideMode::kDynamic;
  free.operands[1].stride_mode = StrideMode::kDynamic;
  EXPECT_THAT(VariantNames(MustPlan(free)),
              ElementsAre("aligned", "unaligned"));
}

TEST(RmsNormPlanTest, AlignedVariantIsGuarded) {
  Spec spec = SpecOf("bf16", 1000);
  spec.operands[0].stride_mode = StrideMode::kDynamic;
  const Plan plan = MustPlan(spec);
  bool pointer = false, stride = false, unit = false;
  for (const Guard& guard : plan.variants[0].guards) {
    pointer |= guard.subject == Guard::kOperandAlignment && guard.index == 0 &&
               guard.multiple_of == 16;
    stride |= guard.subject == Guard::kOperandStride && guard.index == 0 &&
              guard.min == 1000 && guard.multiple_of == 8;
    unit |= guard.subject == Guard::kOperandStride && guard.index == 1 &&
            guard.min == 1 && guard.max == 1;
  }
  EXPECT_TRUE(pointer);
  EXPECT_TRUE(stride);
  EXPECT_TRUE(unit);
}

TEST(RmsNormPlanTest, ShortRowsShareAWorkgroup) {
  const Plan plan = MustPlan(SpecOf("bf16", 64));
  EXPECT_THAT(plan.kernels[0].spec.workgroup, ElementsAre(256, 1, 1));
  EXPECT_THAT(GridFor(plan, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(GridFor(plan, 17), ElementsAre(5, 1, 1));
}

TEST(RmsNormPlanTest, LongRowsHaveAWorkgroupEach) {
  const Plan plan = MustPlan(SpecOf("bf16", 28672));
  // 3584 vectors: four a thread and none idle.
  EXPECT_THAT(plan.kernels[0].spec.workgroup, ElementsAre(896, 1, 1));
  EXPECT_THAT(GridFor(plan, 17), ElementsAre(17, 1, 1));
  EXPECT_EQ(plan.kernels[0].spec.lds_bytes, 14u * 4);
}

TEST(RmsNormPlanTest, ManyRowsStayInsideADispatch) {
  const Plan plan = MustPlan(SpecOf("bf16", 131072));
  const auto grid = GridFor(plan, int64_t{1} << 30);
  EXPECT_LE(grid[0] * plan.kernels[0].spec.workgroup[0], int64_t{1} << 32);
  EXPECT_GE(grid[0] * grid[1], int64_t{1} << 30);
}

TEST(RmsNormPlanTest, TuningIsPinnedAndResolved) {
  Spec spec = SpecOf("bf16", 4096);
  spec.tuning = {{"threads", 512}};
  const Plan plan = MustPlan(spec);
  EXPECT_EQ(plan.kernels[0].spec.workgroup[0], 512u);
  const Plan resolved = MustPlan(MustPlan(SpecOf("bf16", 4096)).resolved);
  EXPECT_EQ(resolved.kernels[0].key,
            MustPlan(SpecOf("bf16", 4096)).kernels[0].key);
}

TEST(RmsNormPlanTest, EpsilonHasADefault) {
  const Plan plan = MustPlan(SpecOf("f32", 8));
  ASSERT_THAT(plan.scalars, SizeIs(1));
  EXPECT_EQ(plan.scalars[0].default_value, 1e-6);
}

TEST(RmsNormPlanTest, SamplesPlan) {
  for (const Spec& sample : FindOp("rmsnorm")->samples()) {
    EXPECT_TRUE(MakePlan(sample).ok()) << MakePlan(sample).status();
  }
}

TEST(RmsNormPlanTest, BadSamplesAreRefused) {
  for (const Spec& sample : FindOp("rmsnorm")->bad_samples()) {
    const absl::Status status = MakePlan(sample).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status) ||
                absl::IsUnimplemented(status))
        << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("found"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("allowed"));
  }
}

TEST(RmsNormPlanTest, AResidualIsAskedForByItsOperands) {
  const std::string plain = MustPlan(SpecOf("bf16", 4096)).kernels[0].key;
  Spec spec = SpecOf("bf16", 4096);
  spec.operands.push_back({"residual", "bf16"});
  const std::string added = MustPlan(spec).kernels[0].key;
  spec.operands.push_back({"residual_out", "bf16"});
  const Plan both = MustPlan(spec);
  EXPECT_NE(plain, added);
  EXPECT_NE(added, both.kernels[0].key);
  std::vector<std::string> names;
  std::vector<bool> outputs;
  for (const PlanOperand& operand : both.operands) {
    names.push_back(operand.name);
    outputs.push_back(operand.output);
  }
  EXPECT_THAT(names,
              ElementsAre("x", "y", "weight", "residual", "residual_out"));
  EXPECT_THAT(outputs, ElementsAre(false, true, false, false, true));
}

TEST(RmsNormPlanTest, StridesOfTheResidualAreGuarded) {
  Spec spec = SpecOf("bf16", 1000);
  spec.operands.push_back({"residual", "bf16"});
  spec.operands.back().stride_mode = StrideMode::kDynamic;
  const Plan plan = MustPlan(spec);
  EXPECT_THAT(VariantNames(plan), ElementsAre("aligned", "unaligned"));
  bool pointer = false, stride = false;
  for (const Guard& guard : plan.variants[0].guards) {
    pointer |= guard.subject == Guard::kOperandAlignment && guard.index == 3 &&
               guard.multiple_of == 16;
    stride |= guard.subject == Guard::kOperandStride && guard.index == 3 * 8 &&
              guard.min == 1000 && guard.multiple_of == 8;
  }
  EXPECT_TRUE(pointer);
  EXPECT_TRUE(stride);
}

TEST(RmsNormPlanTest, QuantisedOutputsHaveScales) {
  const std::string plain = MustPlan(SpecOf("bf16", 4096)).kernels[0].key;
  std::set<std::string> keys = {plain};
  for (const char* quant : {"fp8_row", "mxfp8", "mxfp4"}) {
    const std::string name = quant;
    Spec spec = SpecOf("bf16", 4096);
    spec.attrs = {{"quant", name}};
    spec.operands[1].dtype = name == "mxfp4" ? "e2m1" : "e4m3fn";
    spec.operands.push_back({"scale", name == "fp8_row" ? "f32" : "e8m0"});
    const Plan plan = MustPlan(spec);
    EXPECT_TRUE(keys.insert(plan.kernels[0].key).second) << quant;
    ASSERT_THAT(plan.operands, SizeIs(4));
    EXPECT_EQ(plan.operands[1].extents[1],
              Expr::Const(name == "mxfp4" ? 2048 : 4096));
    EXPECT_EQ(plan.operands[3].name, "scale");
    EXPECT_TRUE(plan.operands[3].output);
    EXPECT_EQ(plan.operands[3].axes, name == "fp8_row" ? 1 : 2);
    if (name != "fp8_row") {
      EXPECT_EQ(plan.operands[3].extents[1], Expr::Const(128));
    }
  }
}

TEST(RmsNormPlanTest, RowsOfCodesNeedAlignmentToo) {
  Spec spec = SpecOf("bf16", 4096);
  spec.attrs = {{"quant", "mxfp8"}};
  spec.operands[1].dtype = "e4m3fn";
  spec.operands.push_back({"scale", "e8m0"});
  EXPECT_THAT(VariantNames(MustPlan(spec)), ElementsAre("aligned"));
  spec.operands[1].alignment = 4;
  EXPECT_THAT(VariantNames(MustPlan(spec)), ElementsAre("unaligned"));
  spec.operands[1].alignment = 8;
  spec.operands[1].stride_mode = StrideMode::kStatic;
  spec.operands[1].strides = {4097, 1};
  EXPECT_THAT(VariantNames(MustPlan(spec)), ElementsAre("unaligned"));
}

}  // namespace
}  // namespace ingot
