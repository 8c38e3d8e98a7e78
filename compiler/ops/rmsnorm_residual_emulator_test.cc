// rmsnorm with a residual, executed: the sum to the bit and what is normalised
// of it within operators.md's tolerance, against a reference in f64 that shares
// nothing with the kernels, in place and not.
#include <cmath>
#include <memory>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/device_matrix.h"
#include "tests/support/epilogue_reference.h"
#include "tests/support/launch.h"

namespace ingot {
namespace {

using testing::Agrees;
using testing::DeviceMatrix;
using testing::Encode;
using testing::Format;
using testing::FormatOf;
using testing::LaunchInputs;
using testing::LaunchReport;
using testing::TestDevice;

// Which input, if any, an output is written over.
enum class Over { kNothing, kX, kResidual };

struct Problem {
  std::string dtype;
  std::string weight;  // dtype, or empty
  int64_t rows = 1;
  int64_t n = 1;
  Over y = Over::kNothing;
  Over sum = Over::kNothing;
  bool sum_wanted = true;
  bool rstd = false;
  int64_t pad_x = 0;  // elements between the rows
  int64_t pad_residual = 0;
  int64_t misalign = 0;  // bytes that rows start behind a multiple of 16
  double eps = 1e-5;
};

Spec SpecFor(const Problem& p) {
  Spec spec{"rmsnorm"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", p.n}};
  const uint32_t alignment =
      p.misalign == 0 ? 0 : static_cast<uint32_t>(FormatOf(p.dtype).bytes);
  const auto rows = [&](const char* name) {
    Operand operand{name, p.dtype};
    operand.stride_mode = StrideMode::kDynamic;
    operand.alignment = alignment;
    spec.operands.push_back(operand);
  };
  rows("x");
  rows("y");
  rows("residual");
  if (p.sum_wanted) rows("residual_out");
  if (!p.weight.empty()) spec.operands.push_back({"weight", p.weight});
  if (p.rstd) spec.operands.push_back({"rstd", "f32"});
  return spec;
}

class RmsNormResidualTest : public ::testing::TestWithParam<const char*> {
 protected:
  using Matrix = std::unique_ptr<DeviceMatrix>;

  Matrix Rows(const Problem& p, int64_t pad) {
    return std::make_unique<DeviceMatrix>(device_, p.dtype, p.rows, p.n, pad,
                                          p.misalign);
  }

  // What an output is written to: itself or an input.
  static DeviceMatrix& Target(Over over, DeviceMatrix& own, DeviceMatrix& x,
                              DeviceMatrix& residual) {
    if (over == Over::kX) return x;
    return over == Over::kResidual ? residual : own;
  }

  void Check(const Problem& p, std::string* variant = nullptr) {
    SCOPED_TRACE(absl::StrCat(
        p.dtype, " w=", p.weight, " rows=", p.rows, " n=", p.n, " y over ",
        static_cast<int>(p.y), ", sum over ", static_cast<int>(p.sum),
        " pads=", p.pad_x, ",", p.pad_residual, " misalign=", p.misalign));
    const absl::StatusOr<Plan> plan = MakePlan(SpecFor(p));
    ASSERT_TRUE(plan.ok()) << plan.status();
    const Matrix x = Rows(p, p.pad_x), residual = Rows(p, p.pad_residual);
    const Matrix own_y = Rows(p, 0), own_sum = Rows(p, p.pad_x);
    DeviceMatrix weight(device_, p.weight.empty() ? "f32" : p.weight, 1, p.n, 0,
                        0);
    DeviceMatrix rstd(device_, "f32", 1, p.rows, 0, 0);
    const std::vector<double> terms[] = {x->Fill(random_),
                                         residual->Fill(random_)};
    const std::vector<double> weights = weight.Fill(random_);
    DeviceMatrix& y = Target(p.y, *own_y, *x, *residual);
    DeviceMatrix& sum = Target(p.sum, *own_sum, *x, *residual);

    LaunchInputs inputs;
    inputs.dims = {p.rows, p.n};
    const auto pass = [&](DeviceMatrix& matrix, bool rows) {
      inputs.operands.push_back(matrix.data());
      inputs.strides.emplace_back();
      if (rows) inputs.strides.back() = {matrix.stride(), 1};
    };
    pass(*x, true);
    pass(y, true);
    if (!p.weight.empty()) pass(weight, false);
    if (p.rstd) pass(rstd, false);
    pass(*residual, true);
    if (p.sum_wanted) pass(sum, true);
    inputs.scalars = {p.eps};
    const absl::StatusOr<LaunchReport> report = device_.Launch(*plan, inputs);
    ASSERT_TRUE(report.ok()) << report.status();
    if (variant != nullptr) *variant = report->variant;

    for (int64_t row = 0; row < p.rows; ++row) {
      CheckRow(p, &terms[0][row * p.n], &terms[1][row * p.n], weights, row, y,
               sum, rstd);
      if (HasFatalFailure()) return;
    }
    for (DeviceMatrix* matrix :
         {x.get(), residual.get(), own_y.get(), own_sum.get()}) {
      EXPECT_TRUE(matrix->SurroundingsIntact());
    }
    const auto kept = [&](const DeviceMatrix& input, const double* values) {
      if (&input == &y || (p.sum_wanted && &input == &sum)) return;
      for (int64_t i = 0; i < p.rows * p.n; ++i) {
        ASSERT_EQ(input.At(i / p.n, i % p.n), values[i]);
      }
    };
    kept(*x, terms[0].data());
    kept(*residual, terms[1].data());
  }

  void CheckRow(const Problem& p, const double* x, const double* residual,
                const std::vector<double>& weights, int64_t row,
                const DeviceMatrix& y, const DeviceMatrix& sum,
                const DeviceMatrix& rstd) {
    const Format format = FormatOf(p.dtype);
    std::vector<double> stream(p.n);
    double squares = 0;
    for (int64_t i = 0; i < p.n; ++i) {
      unsigned char bits[4];
      Encode(format, x[i] + residual[i], bits);
      stream[i] = testing::Decode(format, bits);
      squares += stream[i] * stream[i];
    }
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(p.n) +
                                         static_cast<float>(p.eps));
    for (int64_t i = 0; i < p.n; ++i) {
      const double reference =
          stream[i] * inverse * (p.weight.empty() ? 1.0 : weights[i]);
      ASSERT_TRUE(Agrees(format, y.At(row, i),
                         {reference, std::ldexp(std::fabs(reference), -20)}))
          << "row " << row << ", element " << i << ": found " << y.At(row, i)
          << ", reference " << reference;
      if (!p.sum_wanted) continue;
      ASSERT_EQ(sum.At(row, i), stream[i])
          << "row " << row << ", element " << i;
    }
    if (!p.rstd) return;
    ASSERT_TRUE(Agrees(FormatOf("f32"), rstd.At(0, row),
                       {inverse, std::ldexp(inverse, -20)}));
  }

  TestDevice device_;
  std::mt19937 random_{20260707};
};

constexpr int64_t kLengths[] = {1,    3,    8,    63,   64,    65,    255,
                                1000, 4096, 5120, 8191, 16384, 28672, 131072};

TEST_P(RmsNormResidualTest, NewOutputs) {
  for (int64_t n : kLengths) {
    for (int64_t rows : {1, 3, 6}) {
      if (n > 20000 && rows > 3) continue;
      Check({.dtype = GetParam(), .weight = GetParam(), .rows = rows, .n = n});
    }
  }
}

// What vLLM's fused_add_rms_norm does: y over x, the sum over the residual.
TEST_P(RmsNormResidualTest, InPlace) {
  for (int64_t n : kLengths) {
    Check({.dtype = GetParam(),
           .weight = GetParam(),
           .rows = 3,
           .n = n,
           .y = Over::kX,
           .sum = Over::kResidual});
  }
}

TEST_P(RmsNormResidualTest, EveryLegalOverlap) {
  for (int64_t n : {65, 4096, 131072}) {
    for (Over y : {Over::kNothing, Over::kX, Over::kResidual}) {
      for (Over sum : {Over::kNothing, Over::kX, Over::kResidual}) {
        if (y == sum && y != Over::kNothing) continue;
        Check({.dtype = GetParam(), .rows = 2, .n = n, .y = y, .sum = sum});
      }
    }
  }
}

TEST_P(RmsNormResidualTest, TheSumNeedNotBeWanted) {
  for (int64_t n : {7, 4096, 131072}) {
    Check({.dtype = GetParam(),
           .weight = "f32",
           .rows = 2,
           .n = n,
           .y = Over::kX,
           .sum_wanted = false,
           .rstd = true});
  }
}

TEST_P(RmsNormResidualTest, StridesAndAlignments) {
  for (int64_t n : {1, 3, 64, 1000, 4096, 8191}) {
    std::string variant;
    Check({.dtype = GetParam(),
           .weight = GetParam(),
           .rows = 3,
           .n = n,
           .pad_x = 3,
           .pad_residual = 5},
          &variant);
    EXPECT_EQ(variant, "unaligned");
    Check({.dtype = GetParam(),
           .weight = "f32",
           .rows = 3,
           .n = n,
           .y = Over::kX,
           .sum = Over::kResidual,
           .pad_x = 7,
           .pad_residual = 2,
           .misalign = FormatOf(GetParam()).bytes},
          &variant);
    EXPECT_EQ(variant, "unaligned");
  }
}

TEST_P(RmsNormResidualTest, NanAndInfinityStayInTheirRow) {
  constexpr int64_t kRows = 5, kN = 300;
  const absl::StatusOr<Plan> plan =
      MakePlan(SpecFor({.dtype = GetParam(), .n = kN}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  DeviceMatrix x(device_, GetParam(), kRows, kN, 0, 0);
  DeviceMatrix residual(device_, GetParam(), kRows, kN, 0, 0);
  x.Fill(random_);
  residual.Fill(random_);
  x.Set(1, 7, std::nan(""));
  residual.Set(2, 299, HUGE_VAL);
  x.Set(3, 5, HUGE_VAL);
  residual.Set(3, 5, -HUGE_VAL);
  const double before = x.At(0, 1) + residual.At(0, 1);
  LaunchInputs inputs;
  inputs.dims = {kRows, kN};
  inputs.operands = {x.data(), x.data(), residual.data(), residual.data()};
  inputs.strides.assign(4, {kN, 1});
  ASSERT_EQ(device_.Launch(*plan, inputs).status(), absl::OkStatus());
  for (int64_t i = 0; i < kN; ++i) {
    ASSERT_TRUE(std::isfinite(x.At(0, i)));
    ASSERT_TRUE(std::isnan(x.At(1, i)));
    ASSERT_EQ(std::isnan(residual.At(1, i)), i == 7);
    // One infinite: 1 / rms is zero, and infinity times zero no number.
    ASSERT_EQ(std::isnan(x.At(2, i)), i == 299);
    ASSERT_TRUE(std::isnan(x.At(3, i)));
    ASSERT_TRUE(std::isfinite(x.At(4, i)));
  }
  EXPECT_EQ(residual.At(2, 299), HUGE_VAL);
  EXPECT_NEAR(residual.At(0, 1), before, std::fabs(before) * 0.01 + 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, RmsNormResidualTest,
                         ::testing::Values("bf16", "f16", "f32"));

}  // namespace
}  // namespace ingot
