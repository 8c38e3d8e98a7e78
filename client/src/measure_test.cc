#include "client/src/measure.h"

#include <cstring>
#include <vector>

#include "client/testing/fake_hip.h"
#include "client/testing/plans.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::client {
namespace {

using ::testing::HasSubstr;
using A = v1::Argument;

constexpr int64_t kRows = 3;
constexpr int64_t kColumns = 4;

// y[m, 4] of f32 from x[m, 4]; `dynamic` strides of y.
v1::Plan CopyPlan(bool dynamic) {
  v1::Plan plan;
  v1::PlanDim* m = plan.add_dims();
  m->set_name("m");
  m->set_max(1 << 20);
  for (const char* name : {"x", "y"}) {
    v1::PlanOperand* operand = plan.add_operands();
    operand->set_name(name);
    operand->set_dtype("f32");
    operand->set_axes(2);
    *operand->add_extents() = DimAt(0);
    *operand->add_extents() = Const(kColumns);
    operand->set_output(operand->name() == "y");
    if (dynamic && operand->output()) {
      operand->set_stride_mode(v1::STRIDE_MODE_DYNAMIC);
      continue;
    }
    *operand->add_strides() = Const(kColumns);
    *operand->add_strides() = Const(1);
  }
  v1::Launch* launch = AddLaunch(AddVariant(&plan, "all"), "copy", DimAt(0));
  AddArgument(launch, A::KIND_OPERAND, 0, 8, {});
  AddArgument(launch, A::KIND_OPERAND, 1, 8, {});
  return plan;
}

class MeasureTest : public ::testing::Test {
 protected:
  MeasureTest() {
    fake_hip_reset();
    fake_hip()->elapsed_ms = 0.004f;
    for (size_t set = 0; set < 2; ++set) {
      args_[set] = {sizeof(ingot_launch_args)};
      args_[set].dims = dims_;
      args_[set].dim_count = 1;
      args_[set].operands = operands_[set];
      args_[set].operand_count = 2;
      sets_[set] = &args_[set];
    }
  }

  std::unique_ptr<Prepared> Make(bool dynamic = false) {
    return client::Prepare(CopyPlan(dynamic),
                           std::make_shared<HipApi>(INGOT_FAKE_HIP));
  }

  const int64_t dims_[1] = {kRows};
  float data_[4][16] = {};
  void* operands_[2][2] = {{data_[0], data_[1]}, {data_[2], data_[3]}};
  ingot_launch_args args_[2];
  const ingot_launch_args* sets_[2];
  ingot_measurement measurement_ = {sizeof(measurement_)};
};

TEST_F(MeasureTest, TimesRunsOfLaunches) {
  const auto prepared = Make();
  const ingot_measure_options options = {sizeof(options), 3, 5, 7};
  const Status status =
      Measure(*prepared, nullptr, sets_, 1, options, &measurement_);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(fake_hip()->launches, 3 + 5 * 7);
  EXPECT_EQ(fake_hip()->waits, 5);
  EXPECT_EQ(fake_hip()->events, 0);
  EXPECT_EQ(measurement_.runs, 5u);
  EXPECT_EQ(measurement_.launches, 7u);
  EXPECT_NEAR(measurement_.median_us, 4, 1e-3);
  EXPECT_NEAR(measurement_.min_us, 4, 1e-3);
  EXPECT_NEAR(measurement_.max_us, 4, 1e-3);
}

TEST_F(MeasureTest, ChoosesHowManyLaunchesMakeARun) {
  const auto prepared = Make();
  const ingot_measure_options options = {sizeof(options), 0, 1, 0};
  ASSERT_TRUE(
      Measure(*prepared, nullptr, sets_, 1, options, &measurement_).ok());
  EXPECT_EQ(measurement_.launches, 50u);  // of 4 us
  fake_hip()->elapsed_ms = 0;
  ASSERT_TRUE(
      Measure(*prepared, nullptr, sets_, 1, options, &measurement_).ok());
  EXPECT_EQ(measurement_.launches, 100u);
  fake_hip()->elapsed_ms = 5;
  ASSERT_TRUE(
      Measure(*prepared, nullptr, sets_, 1, options, &measurement_).ok());
  EXPECT_EQ(measurement_.launches, 1u);
}

TEST_F(MeasureTest, SetsOfArgumentsTakeTurns) {
  const auto prepared = Make();
  for (const uint32_t launches : {1u, 2u, 3u}) {
    const ingot_measure_options options = {sizeof(options), 0, 1, launches};
    ASSERT_TRUE(
        Measure(*prepared, nullptr, sets_, 2, options, &measurement_).ok());
    void* first = nullptr;
    memcpy(&first, fake_hip()->last.kernarg, sizeof(first));
    EXPECT_EQ(first, operands_[(launches - 1) % 2][0]) << launches;
  }
}

TEST_F(MeasureTest, FailuresNameTheCallAndLeaveNoEvents) {
  const auto prepared = Make();
  const ingot_measure_options options = {sizeof(options), 0, 1, 1};
  fake_hip()->event_error = 98;
  Status status = Measure(*prepared, nullptr, sets_, 1, options, &measurement_);
  EXPECT_EQ(status.code, INGOT_INTERNAL);
  EXPECT_THAT(status.message, HasSubstr("hipEventRecord: invalid device"));
  EXPECT_EQ(fake_hip()->events, 0);
  fake_hip()->event_error = 0;
  fake_hip()->launch_error = 98;
  status = Measure(*prepared, nullptr, sets_, 1, options, &measurement_);
  EXPECT_THAT(status.message, HasSubstr("hipModuleLaunchKernel"));
  EXPECT_EQ(fake_hip()->events, 0);
}

TEST_F(MeasureTest, ReadsAnOperand) {
  const auto prepared = Make();
  for (int i = 0; i < 16; ++i) data_[1][i] = static_cast<float>(i);
  uint64_t bytes = 0;
  ASSERT_TRUE(ReadOperand(*prepared, args_[0], 1, nullptr, &bytes).ok());
  EXPECT_EQ(bytes, kRows * kColumns * 4u);
  std::vector<float> got(bytes / 4);
  ASSERT_TRUE(ReadOperand(*prepared, args_[0], 1, got.data(), &bytes).ok());
  EXPECT_EQ(got.back(), kRows * kColumns - 1);
  bytes = 4;
  Status status = ReadOperand(*prepared, args_[0], 1, got.data(), &bytes);
  EXPECT_EQ(status.code, INGOT_OUT_OF_RANGE);
  EXPECT_THAT(status.message, HasSubstr("operand y: found room for 4 bytes"));
  EXPECT_EQ(ReadOperand(*prepared, args_[0], 2, nullptr, &bytes).code,
            INGOT_OUT_OF_RANGE);
  operands_[0][1] = nullptr;
  bytes = 1000;
  EXPECT_EQ(ReadOperand(*prepared, args_[0], 1, got.data(), &bytes).code,
            INGOT_INVALID_ARGUMENT);
}

TEST_F(MeasureTest, RowsOfALaunchMayLieApart) {
  const auto prepared = Make(/*dynamic=*/true);
  uint64_t bytes = 0;
  EXPECT_EQ(ReadOperand(*prepared, args_[0], 1, nullptr, &bytes).code,
            INGOT_INVALID_ARGUMENT);
  const int64_t apart[2] = {100, 1};
  const int64_t* strides[2] = {nullptr, apart};
  args_[0].strides = strides;
  ASSERT_TRUE(ReadOperand(*prepared, args_[0], 1, nullptr, &bytes).ok());
  EXPECT_EQ(bytes, (2 * 100 + kColumns) * 4u);
}

}  // namespace
}  // namespace ingot::client
