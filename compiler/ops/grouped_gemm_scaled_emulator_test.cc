// grouped_gemm of block-scaled operands, executed.
#include "compiler/ops/gemm_plan_tuning.h"
#include "gtest/gtest.h"
#include "tests/support/grouped_gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckGroupedGemm;
using testing::GroupedGemmProblem;
using testing::LaunchReport;
using testing::OffsOf;
using testing::ScaledGroupedGemmProblem;
using testing::TestDevice;

class GroupedGemmScaledTest : public ::testing::Test {
 protected:
  void Check(const GroupedGemmProblem& p, LaunchReport* report = nullptr) {
    CheckGroupedGemm(device_, p, ++seed_, report);
  }

  TestDevice device_;
  uint32_t seed_ = 0;
};

TEST_F(GroupedGemmScaledTest, Formats) {
  const char* formats[] = {"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1"};
  for (const char* a : formats) {
    for (const char* b : formats) {
      Check(ScaledGroupedGemmProblem(a, b, {17, 0, 33, 2}, 72, 160));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(GroupedGemmScaledTest, ShapesBiasAndActivations) {
  for (const char* format : {"e4m3fn", "e2m1"}) {
    int i = 0;
    for (const auto& [n, k] : {std::pair<int64_t, int64_t>{1, 32},
                               {65, 64},
                               {64, 128},
                               {200, 416},
                               {130, 512}}) {
      GroupedGemmProblem p =
          ScaledGroupedGemmProblem(format, "", {0, 20, 1, 0, 50}, n, k);
      p.bias = ++i % 2 == 0 ? "f32" : "";
      p.dtype_d = i % 3 == 0 ? "f32" : "bf16";
      p.act = i % 2 == 0 ? "silu" : "swiglu";
      if (p.act == "swiglu") p.pairing = "interleaved";
      p.cu_count = 2;
      Check(p);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(GroupedGemmScaledTest, EveryTile) {
  for (const char* format : {"e4m3fn", "e2m1"}) {
    for (const int64_t k : {512, 32}) {
      const absl::StatusOr<Plan> plan =
          MakePlan(ScaledGroupedGemmProblem(format, "", {1}, 4096, k).ToSpec());
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const PlanKernel& kernel : plan->kernels) {
        GroupedGemmProblem p = ScaledGroupedGemmProblem(format, "", {1}, 1, k);
        const int tile_m = static_cast<int>(*kernel.spec.GetInt("tile_m"));
        p.offs = OffsOf({tile_m + 3, 0, 1, tile_m});
        p.total_m = p.offs.back();
        p.n = *kernel.spec.GetInt("tile_n") + 8;
        p.cu_count = 1;
        for (const char* name : kGemmTuning) {
          const absl::StatusOr<int64_t> value = kernel.spec.GetInt(name);
          if (value.ok()) p.tuning.push_back({name, *value});
        }
        LaunchReport report;
        Check(p, &report);
        if (HasFatalFailure()) return;
        EXPECT_EQ(report.symbols, std::vector<std::string>{kernel.spec.symbol});
      }
    }
  }
}

// Rows and groups apart, given with the spec or with the launch, of a, b, d and
// both scales; widths that DMA can take, and some that it cannot.
TEST_F(GroupedGemmScaledTest, Strides) {
  constexpr std::pair<const char*, const char*> kFormats[] = {
      {"e4m3fn", "e4m3fn"},
      {"e2m1", "e2m1"},
      {"e3m2", "e5m2"},
      {"e2m3", "e3m2"}};
  for (const auto& [a, b] : kFormats) {
    for (const StrideMode mode : {StrideMode::kStatic, StrideMode::kDynamic}) {
      for (const int64_t pad : {0, 16, 5}) {
        GroupedGemmProblem p =
            ScaledGroupedGemmProblem(a, b, {20, 0, 35, 1}, 72, 256);
        p.strides = mode;
        p.pad = pad;
        p.gap = 3;
        p.dtype_d = pad == 16 ? "f32" : "bf16";
        LaunchReport report;
        Check(p, &report);
        if (HasFatalFailure()) return;
        EXPECT_EQ(report.variant.starts_with("dma"), pad != 5)
            << report.variant;
      }
    }
  }
}

TEST_F(GroupedGemmScaledTest, EmptyAndBadGroups) {
  GroupedGemmProblem p =
      ScaledGroupedGemmProblem("e2m1", "e4m3fn", {0, 0}, 64, 64);
  Check(p);
  p.total_m = 20;
  Check(p);
  p.offs = {30, -5, 12};
  Check(p);
}

// A scale of 255 and a NaN reach their rows, and columns of their group, alone.
TEST_F(GroupedGemmScaledTest, SpecialValues) {
  for (const char* format : {"e4m3fn", "e5m2", "e2m1"}) {
    GroupedGemmProblem p =
        ScaledGroupedGemmProblem(format, "", {30, 0, 25}, 72, 128);
    p.specials = 4;
    p.dtype_d = "f32";
    Check(p);
  }
}

}  // namespace
}  // namespace ingot
