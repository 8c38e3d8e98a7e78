// rmsnorm with a quantised output, executed: scales and codes against a
// reference in f64 that shares nothing with the kernels. A code must be one of
// those nearest to the reference, but for the error of f32 before it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/device_matrix.h"
#include "tests/support/launch.h"
#include "tests/support/mx_format.h"

namespace ingot {
namespace {

using testing::DeviceMatrix;
using testing::FormatOf;
using testing::LaunchInputs;
using testing::LaunchReport;
using testing::MxCode;
using testing::MxFormat;
using testing::MxFormatOf;
using testing::MxRowBytes;
using testing::MxScale;
using testing::MxValue;
using testing::TestDevice;

constexpr double kF32Error = 0x1p-19;  // relative, of y before it is rounded
constexpr uint8_t kPoison = 0xa5;      // what fresh device memory holds

struct Problem {
  std::string dtype;
  std::string quant;
  std::string weight;  // dtype, or empty
  int64_t rows = 1;
  int64_t n = 1;
  bool residual = false;
  bool rstd = false;
  int64_t pad_y = 0;      // bytes between rows of y
  int64_t pad_scale = 0;  // scales between their rows; blocks alone
  int64_t misalign = 0;   // bytes that rows of x start behind a multiple of 16
  double eps = 1e-5;

  bool by_row() const { return quant == "fp8_row"; }
  std::string dtype_y() const { return quant == "mxfp4" ? "e2m1" : "e4m3fn"; }
  int64_t row_bytes() const { return MxRowBytes(dtype_y(), n); }
  int64_t stride_y() const { return row_bytes() + pad_y; }
  int64_t blocks() const { return by_row() ? 1 : n / 32; }
};

Spec SpecFor(const Problem& p) {
  Spec spec{"rmsnorm"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", p.n}};
  spec.attrs = {{"quant", p.quant}};
  spec.operands = {{"x", p.dtype}, {"y", p.dtype_y()}};
  if (p.misalign != 0) {
    spec.operands[0].alignment = static_cast<uint32_t>(FormatOf(p.dtype).bytes);
  }
  if (p.pad_y != 0) spec.operands[1].stride_mode = StrideMode::kDynamic;
  spec.operands.push_back({"scale", p.by_row() ? "f32" : "e8m0"});
  if (p.pad_scale != 0) {
    spec.operands.back().stride_mode = StrideMode::kDynamic;
  }
  if (!p.weight.empty()) spec.operands.push_back({"weight", p.weight});
  if (p.rstd) spec.operands.push_back({"rstd", "f32"});
  if (p.residual) {
    spec.operands.push_back({"residual", p.dtype});
    spec.operands.push_back({"residual_out", p.dtype});
  }
  return spec;
}

double Largest(const std::string& dtype) { return dtype == "e2m1" ? 6 : 448; }

// How far the nearest number of the format can be from `value`, at most.
double HalfStep(const std::string& dtype, double value) {
  const MxFormat format = MxFormatOf(dtype);
  const int least = dtype == "e2m1" ? 0 : -6;
  int exponent = least;
  if (value != 0) {
    exponent = std::max(
        least, static_cast<int>(std::floor(std::log2(std::fabs(value)))));
  }
  return std::ldexp(0.5, exponent - format.mantissa_bits);
}

::testing::AssertionResult IsNearest(const std::string& dtype, uint32_t code,
                                     double value) {
  const double found = MxValue(dtype, code);
  const double wanted = std::clamp(value, -Largest(dtype), Largest(dtype));
  if (std::fabs(found - wanted) <=
      HalfStep(dtype, wanted) + kF32Error * std::fabs(wanted)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "code " << code << " is " << found << ", wanted " << value;
}

class RmsNormQuantTest : public ::testing::TestWithParam<const char*> {
 protected:
  // What a launch gave, on the host.
  struct Result {
    std::vector<uint8_t> y;       // rows of stride_y bytes
    std::vector<uint8_t> scales;  // rows of f32, or of blocks and padding
    std::vector<double> stream;   // what was normalised
    std::vector<double> weight;
    std::string variant;
  };

  Result Launch(const Problem& p,
                const std::function<double(int64_t, int64_t)>& x_at = nullptr,
                const std::function<double(int64_t)>& weight_at = nullptr) {
    Result result;
    const absl::StatusOr<Plan> plan = MakePlan(SpecFor(p));
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return result;
    DeviceMatrix x(device_, p.dtype, p.rows, p.n, 0, p.misalign);
    DeviceMatrix residual(device_, p.dtype, p.rows, p.n, 0, 0);
    DeviceMatrix sum(device_, p.dtype, p.rows, p.n, 0, 0);
    DeviceMatrix weight(device_, p.weight.empty() ? "f32" : p.weight, 1, p.n, 0,
                        0);
    DeviceMatrix rstd(device_, "f32", 1, p.rows, 0, 0);
    x.Fill(random_);
    residual.Fill(random_);
    weight.Fill(random_);
    for (int64_t i = 0; i < p.n; ++i) {
      for (int64_t row = 0; row < p.rows && x_at; ++row) {
        x.Set(row, i, x_at(row, i));
      }
      if (weight_at) weight.Set(0, i, weight_at(i));
      result.weight.push_back(p.weight.empty() ? 1.0 : weight.At(0, i));
    }
    const int64_t scale_stride =
        p.by_row() ? 4 : p.blocks() + p.pad_scale;  // bytes
    result.y.resize(p.rows * p.stride_y());
    result.scales.resize(p.rows * scale_stride);
    const auto y = device_.Allocate<uint8_t>(p.rows * p.stride_y());
    const auto scales = device_.Allocate<uint8_t>(p.rows * scale_stride);

    LaunchInputs inputs;
    inputs.dims = {p.rows, p.n};
    const auto pass = [&](void* data, std::vector<int64_t> strides = {}) {
      inputs.operands.push_back(data);
      inputs.strides.push_back(std::move(strides));
    };
    pass(x.data());
    pass(y, p.pad_y == 0 ? std::vector<int64_t>()
                         : std::vector<int64_t>{p.stride_y(), 1});
    if (!p.weight.empty()) pass(weight.data());
    if (p.rstd) pass(rstd.data());
    if (p.residual) pass(residual.data());
    if (p.residual) pass(sum.data());
    pass(scales, p.pad_scale == 0 ? std::vector<int64_t>()
                                  : std::vector<int64_t>{scale_stride, 1});
    inputs.scalars = {p.eps};
    const absl::StatusOr<LaunchReport> report = device_.Launch(*plan, inputs);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return result;
    result.variant = report->variant;
    std::memcpy(result.y.data(), y, result.y.size());
    std::memcpy(result.scales.data(), scales, result.scales.size());
    device_.Free(y);
    device_.Free(scales);
    for (int64_t i = 0; i < p.rows * p.n; ++i) {
      result.stream.push_back((p.residual ? sum : x).At(i / p.n, i % p.n));
    }
    return result;
  }

  // The row as rmsnorm defines it.
  static std::vector<double> Reference(const Problem& p, const Result& result,
                                       int64_t row) {
    const double* s = &result.stream[row * p.n];
    double squares = 0;
    for (int64_t i = 0; i < p.n; ++i) squares += s[i] * s[i];
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(p.n) +
                                      static_cast<float>(p.eps));
    std::vector<double> y(p.n);
    for (int64_t i = 0; i < p.n; ++i) y[i] = s[i] * rstd * result.weight[i];
    return y;
  }

  static double LargestOf(const double* values, int64_t count) {
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      largest = std::max(largest, std::fabs(values[i]));
    }
    return largest;
  }

  void Check(const Problem& p, std::string* variant = nullptr) {
    SCOPED_TRACE(absl::StrCat(p.dtype, " ", p.quant, " w=", p.weight,
                              " rows=", p.rows, " n=", p.n, " pads=", p.pad_y,
                              ",", p.pad_scale, " misalign=", p.misalign));
    const Result result = Launch(p);
    if (::testing::Test::HasFailure()) return;
    if (variant != nullptr) *variant = result.variant;
    for (int64_t row = 0; row < p.rows; ++row) {
      const std::vector<double> y = Reference(p, result, row);
      if (p.by_row()) {
        CheckRow(p, result, row, y);
      } else {
        CheckBlocks(p, result, row, y);
      }
      const uint8_t* codes = &result.y[row * p.stride_y()];
      for (int64_t i = p.row_bytes(); i < p.stride_y(); ++i) {
        ASSERT_EQ(codes[i], kPoison);
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  void CheckRow(const Problem& p, const Result& result, int64_t row,
                const std::vector<double>& y) {
    float scale = 0;
    std::memcpy(&scale, &result.scales[row * 4], 4);
    const double wanted = LargestOf(y.data(), p.n) / 448;
    ASSERT_NEAR(scale, wanted, wanted * kF32Error);
    const uint8_t* codes = &result.y[row * p.stride_y()];
    for (int64_t i = 0; i < p.n; ++i) {
      ASSERT_TRUE(IsNearest("e4m3fn", codes[i], y[i] / wanted))
          << "row " << row << ", element " << i;
    }
  }

  void CheckBlocks(const Problem& p, const Result& result, int64_t row,
                   const std::vector<double>& y) {
    const int64_t stride = p.blocks() + p.pad_scale;
    const uint8_t* scales = &result.scales[row * stride];
    const uint8_t* codes = &result.y[row * p.stride_y()];
    for (int64_t block = 0; block < p.blocks(); ++block) {
      const double largest = LargestOf(&y[block * 32], 32);
      const int emax = p.quant == "mxfp4" ? 2 : 8;
      // Next to a power of two f32 may be on its other side.
      const auto code = [&](double amax) {
        return std::max(
            0, static_cast<int>(std::floor(std::log2(amax))) - emax + 127);
      };
      ASSERT_GE(scales[block], code(largest * (1 - kF32Error)));
      ASSERT_LE(scales[block], code(largest * (1 + kF32Error)));
      for (int64_t i = 32 * block; i < 32 * block + 32; ++i) {
        ASSERT_TRUE(IsNearest(p.dtype_y(), MxCode(p.dtype_y(), codes, i),
                              y[i] / MxScale(scales[block])))
            << "row " << row << ", element " << i;
      }
    }
    for (int64_t i = p.blocks(); i < stride; ++i) {
      ASSERT_EQ(scales[i], kPoison);
    }
  }

  TestDevice device_;
  std::mt19937 random_{20261115};
};

constexpr const char* kQuants[] = {"fp8_row", "mxfp8", "mxfp4"};

TEST_P(RmsNormQuantTest, EveryLength) {
  for (const char* quant : kQuants) {
    for (int64_t n : {32, 64, 96, 544, 2048, 4096, 5120, 28672, 131072}) {
      Check({.dtype = GetParam(),
             .quant = quant,
             .weight = n % 3 == 0 ? "f32" : GetParam(),
             .rows = n < 6000 ? 5 : 2,
             .n = n,
             .rstd = n % 64 == 0});
    }
  }
}

TEST_P(RmsNormQuantTest, RowsOfAnyLengthShareAScale) {
  for (int64_t n : {1, 3, 7, 63, 65, 255, 1001, 8191}) {
    Check({.dtype = GetParam(), .quant = "fp8_row", .rows = 3, .n = n});
  }
}

TEST_P(RmsNormQuantTest, WithAResidual) {
  for (const char* quant : kQuants) {
    for (int64_t n : {64, 4096, 131072}) {
      Check({.dtype = GetParam(),
             .quant = quant,
             .weight = GetParam(),
             .rows = 2,
             .n = n,
             .residual = true});
    }
  }
}

TEST_P(RmsNormQuantTest, StridesAndAlignments) {
  for (const char* quant : kQuants) {
    std::string variant;
    Check({.dtype = GetParam(),
           .quant = quant,
           .weight = GetParam(),
           .rows = 3,
           .n = 2080,
           .pad_y = 16,
           .pad_scale = std::string(quant) == "fp8_row" ? 0 : 3},
          &variant);
    EXPECT_EQ(variant, "aligned");
    for (int64_t n : {32, 96, 4128}) {
      Check({.dtype = GetParam(),
             .quant = quant,
             .weight = GetParam(),
             .rows = 3,
             .n = n,
             .pad_y = 5},
            &variant);
      EXPECT_EQ(variant, "unaligned");
      Check({.dtype = GetParam(),
             .quant = quant,
             .rows = 3,
             .n = n,
             .misalign = FormatOf(GetParam()).bytes},
            &variant);
      EXPECT_EQ(variant, "unaligned");
    }
  }
}

TEST_P(RmsNormQuantTest, RowsAndBlocksOfZeros) {
  for (const char* quant : kQuants) {
    const Problem p = {
        .dtype = GetParam(), .quant = quant, .rows = 2, .n = 128};
    const Result result = Launch(p, [](int64_t row, int64_t i) {
      return row == 0 || (i >= 32 && i < 64) ? 0.0 : 1.0;
    });
    for (int64_t i = 0; i < p.n; ++i) {
      ASSERT_EQ(MxCode(p.dtype_y(), result.y.data(), i), 0u) << quant;
      const bool zero = i >= 32 && i < 64;
      ASSERT_EQ(MxCode(p.dtype_y(), &result.y[p.stride_y()], i) == 0, zero)
          << quant << " " << i;
    }
    if (p.by_row()) {
      float scale = 0;
      std::memcpy(&scale, result.scales.data(), 4);
      EXPECT_GT(scale, 0);
      EXPECT_LT(scale, 1e-20);
    } else {
      EXPECT_THAT(std::vector<uint8_t>(result.scales.begin(),
                                       result.scales.begin() + 4),
                  ::testing::Each(0));
      EXPECT_EQ(result.scales[5], 0);
      EXPECT_GT(result.scales[4], 0);
    }
  }
}

TEST_P(RmsNormQuantTest, NanReachesWhatSharesItsScale) {
  for (const char* quant : kQuants) {
    for (double special : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      // In the weight, so that it does not reach the row by its sum.
      const Problem p = {.dtype = GetParam(),
                         .quant = quant,
                         .weight = "f32",
                         .rows = 1,
                         .n = 96};
      const Result result = Launch(
          p, nullptr, [&](int64_t i) { return i == 40 ? special : 1.0; });
      if (p.by_row()) {
        float scale = 0;
        std::memcpy(&scale, result.scales.data(), 4);
        EXPECT_FALSE(std::isfinite(scale)) << quant;
      } else {
        EXPECT_NE(result.scales[0], 255);
        EXPECT_EQ(result.scales[1], 255);
        EXPECT_NE(result.scales[2], 255);
      }
    }
    const Problem p = {.dtype = GetParam(), .quant = quant, .rows = 2, .n = 64};
    const Result result = Launch(p, [](int64_t row, int64_t i) {
      return row == 0 && i == 3 ? std::nan("") : 1.0;
    });
    if (p.by_row()) {
      float scale[2];
      std::memcpy(scale, result.scales.data(), 8);
      EXPECT_TRUE(std::isnan(scale[0]));
      EXPECT_TRUE(std::isfinite(scale[1]));
    } else {
      EXPECT_EQ(result.scales[0], 255);
      EXPECT_EQ(result.scales[1], 255);
      EXPECT_NE(result.scales[2], 255);
    }
  }
}

// A row of ones and minus ones is divided by one exactly: y is the weight, and
// what is halfway between two codes goes to the even one.
TEST_P(RmsNormQuantTest, TiesGoToEven) {
  for (const char* quant : kQuants) {
    const Problem p = {.dtype = GetParam(),
                       .quant = quant,
                       .weight = "f32",
                       .rows = 1,
                       .n = 128,
                       .eps = 0};
    const std::string dtype = p.dtype_y();
    const uint32_t codes = dtype == "e2m1" ? 7 : 126;  // the largest number's
    // Scale one: the largest of every block is the format's.
    const Result result = Launch(
        p, [](int64_t, int64_t i) { return i % 2 == 0 ? 1.0 : -1.0; },
        [&](int64_t i) {
          if (i % 32 == 0) return Largest(dtype);
          const uint32_t low = static_cast<uint32_t>(i) % codes;
          return (MxValue(dtype, low) + MxValue(dtype, low + 1)) / 2;
        });
    if (p.by_row()) {
      float scale = 0;
      std::memcpy(&scale, result.scales.data(), 4);
      ASSERT_EQ(scale, 1.0f);
    } else {
      ASSERT_EQ(result.scales[0], 127);
    }
    for (int64_t i = 0; i < p.n; ++i) {
      const uint32_t low = static_cast<uint32_t>(i) % codes;
      const uint32_t even = i % 32 == 0 ? codes : low + low % 2;
      const uint32_t sign = i % 2 == 0 ? 0 : dtype == "e2m1" ? 8 : 128;
      ASSERT_EQ(MxCode(dtype, result.y.data(), i), even | sign)
          << quant << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, RmsNormQuantTest,
                         ::testing::Values("bf16", "f16", "f32"));

}  // namespace
}  // namespace ingot
