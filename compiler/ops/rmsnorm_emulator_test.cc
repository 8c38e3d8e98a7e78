// rmsnorm, executed: every kernel against a reference in f64 that shares
// nothing with it, within operators.md's tolerance, with poison before and
// canaries behind every row.
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/compile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/epilogue_reference.h"
#include "tests/support/launch.h"
#include "tests/support/number.h"

namespace ingot {
namespace {

using testing::Decode;
using testing::Encode;
using testing::Format;
using testing::FormatOf;
using testing::LaunchInputs;
using testing::LaunchReport;
using testing::TestDevice;

constexpr unsigned char kPoison = 0xa5;  // what fresh device memory holds

struct Problem {
  std::string dtype;
  std::string weight;  // dtype, or empty
  bool rstd = false;
  int64_t rows = 1;
  int64_t n = 1;
  int64_t ldx = 0;  // 0: dense
  int64_t ldy = 0;
  int64_t misalign = 0;  // bytes that x and y start behind a multiple of 16
  double eps = 1e-5;
};

// Rows of a strided matrix on the device.
class Matrix {
 public:
  Matrix(TestDevice& device, const std::string& dtype, int64_t rows, int64_t n,
         int64_t ld, int64_t misalign)
      : format_(FormatOf(dtype)),
        ld_(ld == 0 ? n : ld),
        bytes_(((rows - 1) * ld_ + n) * format_.bytes + misalign),
        base_(device.Allocate<unsigned char>(bytes_)),
        start_(base_ + misalign),
        misalign_(misalign),
        rows_(rows),
        n_(n) {}

  unsigned char* start() const { return start_; }
  int64_t ld() const { return ld_; }
  const Format& format() const { return format_; }
  double At(int64_t row, int64_t i) const {
    return Decode(format_, Address(row, i));
  }
  void Set(int64_t row, int64_t i, double value) {
    Encode(format_, value, Address(row, i));
  }
  // Whether every byte outside the rows is as it was.
  bool GapsIntact() const {
    for (int64_t i = 0; i < misalign_; ++i) {
      if (base_[i] != kPoison) return false;
    }
    for (int64_t row = 0; row + 1 < rows_; ++row) {
      for (const unsigned char* p = Address(row, n_); p < Address(row + 1, 0);
           ++p) {
        if (*p != kPoison) return false;
      }
    }
    return true;
  }

 private:
  unsigned char* Address(int64_t row, int64_t i) const {
    return start_ + (row * ld_ + i) * format_.bytes;
  }

  const Format format_;
  const int64_t ld_;
  const int64_t bytes_;
  unsigned char* const base_;
  unsigned char* const start_;
  const int64_t misalign_;
  const int64_t rows_;
  const int64_t n_;
};

Spec SpecFor(const Problem& p) {
  Spec spec{"rmsnorm"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", p.n}};
  spec.operands = {{"x", p.dtype}, {"y", p.dtype}};
  for (int i = 0; i < 2; ++i) {
    const int64_t ld = i == 0 ? p.ldx : p.ldy;
    if (ld != 0) spec.operands[i].stride_mode = StrideMode::kDynamic;
    if (p.misalign != 0) {
      spec.operands[i].alignment =
          static_cast<uint32_t>(FormatOf(p.dtype).bytes);
    }
  }
  if (!p.weight.empty()) spec.operands.push_back({"weight", p.weight});
  if (p.rstd) spec.operands.push_back({"rstd", "f32"});
  return spec;
}

// 2^-20 is for the sum and the root.
bool Agrees(const Format& format, double found, double reference) {
  return testing::Agrees(format, found,
                         {reference, std::ldexp(std::fabs(reference), -20)});
}

class RmsNormEmulatorTest : public ::testing::Test {
 protected:
  // Runs the problem over rows that `fill(row, i)` gives and checks everything.
  template <typename Fill>
  void Check(const Problem& p, Fill fill, std::string* variant = nullptr) {
    SCOPED_TRACE(absl::StrCat(p.dtype, " w=", p.weight, " rows=", p.rows,
                              " n=", p.n, " ldx=", p.ldx, " ldy=", p.ldy,
                              " misalign=", p.misalign));
    const absl::StatusOr<Plan> plan = MakePlan(SpecFor(p));
    ASSERT_TRUE(plan.ok()) << plan.status();
    Matrix x(device_, p.dtype, p.rows, p.n, p.ldx, p.misalign);
    Matrix y(device_, p.dtype, p.rows, p.n, p.ldy, p.misalign);
    Matrix weight(device_, p.weight.empty() ? "f32" : p.weight, 1, p.n, 0, 0);
    Matrix rstd(device_, "f32", 1, p.rows, 0, 0);
    for (int64_t i = 0; i < p.n; ++i) {
      for (int64_t row = 0; row < p.rows; ++row) x.Set(row, i, fill(row, i));
      weight.Set(0, i, 1.0 + 0.25 * static_cast<double>(i % 7) - 0.5);
    }
    LaunchInputs inputs;
    inputs.dims = {p.rows, p.n};
    inputs.operands = {x.start(), y.start()};
    if (!p.weight.empty()) inputs.operands.push_back(weight.start());
    if (p.rstd) inputs.operands.push_back(rstd.start());
    inputs.strides = {{x.ld(), 1}, {y.ld(), 1}};
    inputs.scalars = {p.eps};
    const absl::StatusOr<LaunchReport> report = device_.Launch(*plan, inputs);
    ASSERT_TRUE(report.ok()) << report.status();
    if (variant != nullptr) *variant = report->variant;
    for (int64_t row = 0; row < p.rows; ++row) {
      CheckRow(p, x, weight, y, rstd, row);
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(y.GapsIntact());
    EXPECT_TRUE(x.GapsIntact());
    for (Matrix* matrix : {&x, &y, &weight, &rstd}) {
      device_.Free(matrix->start() -
                   (matrix == &x || matrix == &y ? p.misalign : 0));
    }
  }

  void CheckRow(const Problem& p, const Matrix& x, const Matrix& weight,
                const Matrix& y, const Matrix& rstd, int64_t row) {
    double sum = 0;
    for (int64_t i = 0; i < p.n; ++i) sum += x.At(row, i) * x.At(row, i);
    const double eps = static_cast<float>(p.eps);
    const double inverse = 1 / std::sqrt(sum / static_cast<double>(p.n) + eps);
    for (int64_t i = 0; i < p.n; ++i) {
      const double w = p.weight.empty() ? 1.0 : weight.At(0, i);
      const double reference = x.At(row, i) * inverse * w;
      ASSERT_TRUE(Agrees(y.format(), y.At(row, i), reference))
          << "row " << row << ", element " << i << ": found " << y.At(row, i)
          << ", reference " << reference;
    }
    if (p.rstd) {
      ASSERT_TRUE(Agrees(FormatOf("f32"), rstd.At(0, row), inverse))
          << "rstd of row " << row << ": found " << rstd.At(0, row)
          << ", reference " << inverse;
    }
  }

  // Normal numbers, another magnitude each row.
  auto Random() {
    return [this](int64_t row, int64_t) {
      return normal_(generator_) *
             std::ldexp(1.0, static_cast<int>(row % 5) - 2);
    };
  }

  TestDevice device_;
  std::mt19937 generator_{20260101};
  std::normal_distribution<double> normal_;
};

class RmsNormDtypeTest : public RmsNormEmulatorTest,
                         public ::testing::WithParamInterface<const char*> {};

constexpr int64_t kLengths[] = {1,    2,    3,     7,     63,    64,
                                65,   255,  256,   1000,  1024,  4096,
                                5120, 8191, 16384, 28672, 131072};

TEST_P(RmsNormDtypeTest, DenseRows) {
  for (int64_t n : kLengths) {
    for (int64_t rows : {1, 2, 3, 17}) {
      Check({.dtype = GetParam(), .weight = GetParam(), .rows = rows, .n = n},
            Random());
    }
  }
}

TEST_P(RmsNormDtypeTest, F32WeightAndRstd) {
  for (int64_t n : kLengths) {
    Check(
        {.dtype = GetParam(), .weight = "f32", .rstd = true, .rows = 3, .n = n},
        Random());
  }
}

TEST_P(RmsNormDtypeTest, NoWeight) {
  for (int64_t n : {1, 65, 4096, 8191}) {
    Check({.dtype = GetParam(), .rows = 5, .n = n}, Random());
  }
}

TEST_P(RmsNormDtypeTest, StridedRowsLeaveTheGapsAlone) {
  for (int64_t n : {1, 3, 64, 1000, 4096, 8191, 131072}) {
    std::string variant;
    const int64_t wide = (n + 31) / 16 * 16;
    Check({.dtype = GetParam(),
           .weight = GetParam(),
           .rows = 3,
           .n = n,
           .ldx = wide,
           .ldy = wide + 16},
          Random(), &variant);
    EXPECT_EQ(variant, "aligned");
    Check({.dtype = GetParam(),
           .weight = GetParam(),
           .rstd = true,
           .rows = 3,
           .n = n,
           .ldx = n + 1,
           .ldy = n + 5},
          Random(), &variant);
    EXPECT_EQ(variant, n % 4 == 3 && std::string(GetParam()) == "f32" &&
                               (n + 1) % 4 == 0 && (n + 5) % 4 == 0
                           ? "aligned"
                       : (n + 1) % 8 == 0 && (n + 5) % 8 == 0 ? "aligned"
                                                              : "unaligned");
  }
}

TEST_P(RmsNormDtypeTest, PointersThatAreOnlyElementAligned) {
  const int64_t bytes = FormatOf(GetParam()).bytes;
  for (int64_t n : {1, 7, 64, 1000, 4096, 8191}) {
    std::string variant;
    Check({.dtype = GetParam(),
           .weight = GetParam(),
           .rows = 3,
           .n = n,
           .misalign = bytes},
          Random(), &variant);
    EXPECT_EQ(variant, "unaligned");
  }
}

TEST_P(RmsNormDtypeTest, NanAndInfinityStayInTheirRow) {
  for (int64_t n : {1, 2, 65, 4096, 8191}) {
    const auto special = [&](int64_t row, int64_t i) -> double {
      if (row == 1 && i == n / 2) return std::nan("");
      if (row == 2 && i == n - 1) return HUGE_VAL;
      if (row == 3 && i == 0) return -HUGE_VAL;
      return row == 4 ? 0.0 : 0.5 + static_cast<double>(i % 3);
    };
    Check({.dtype = GetParam(),
           .weight = GetParam(),
           .rstd = true,
           .rows = 6,
           .n = n},
          special);
  }
}

TEST_P(RmsNormDtypeTest, ZeroRowsWithoutEpsilonAreNan) {
  Check({.dtype = GetParam(), .rstd = true, .rows = 2, .n = 65, .eps = 0},
        [](int64_t row, int64_t) { return row == 0 ? 0.0 : 3.0; });
}

TEST_P(RmsNormDtypeTest, SmallAndLargeMagnitudes) {
  const bool narrow = std::string(GetParam()) == "f16";
  for (double magnitude : {narrow ? 1e-6 : 1e-17, narrow ? 3e4 : 1e17}) {
    Check({.dtype = GetParam(),
           .weight = "f32",
           .rstd = true,
           .rows = 3,
           .n = 1000,
           .eps = 0},
          [&](int64_t, int64_t) { return magnitude * normal_(generator_); });
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, RmsNormDtypeTest,
                         ::testing::Values("bf16", "f16", "f32"));

TEST_F(RmsNormEmulatorTest, OutputMayBeInput) {
  for (int64_t n : {65, 4096, 131072}) {
    const Problem p = {.dtype = "f32", .rows = 2, .n = n};
    const absl::StatusOr<Plan> plan = MakePlan(SpecFor(p));
    ASSERT_TRUE(plan.ok()) << plan.status();
    Matrix x(device_, "f32", p.rows, n, 0, 0);
    Matrix both(device_, "f32", p.rows, n, 0, 0);
    Matrix unused(device_, "f32", 1, n, 0, 0);
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int64_t i = 0; i < n; ++i) {
        x.Set(row, i, normal_(generator_));
        both.Set(row, i, x.At(row, i));
      }
    }
    LaunchInputs inputs;
    inputs.dims = {p.rows, n};
    inputs.operands = {both.start(), both.start()};
    inputs.scalars = {p.eps};
    const absl::StatusOr<LaunchReport> report = device_.Launch(*plan, inputs);
    ASSERT_TRUE(report.ok()) << report.status();
    for (int64_t row = 0; row < p.rows; ++row) {
      CheckRow(p, x, unused, both, unused, row);
    }
  }
}

// Rows two GiB apart, in address space of which only they are ever touched.
TEST_F(RmsNormEmulatorTest, TensorsBeyondFourGiB) {
  constexpr int64_t kStride = int64_t{1} << 29;  // elements
  constexpr int64_t kRows = 4, kN = 1000;
  constexpr int64_t kBytes = ((kRows - 1) * kStride + kN) * 4;
  void* mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  float* tensor = static_cast<float*>(mapping);
  {
    TestDevice device;
    ASSERT_TRUE(device.Register(tensor, kBytes));
    const Problem p = {.dtype = "f32", .n = kN, .ldx = kStride, .ldy = kStride};
    const absl::StatusOr<Plan> plan = MakePlan(SpecFor(p));
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (int64_t row = 0; row < kRows; ++row) {
      std::fill_n(tensor + row * kStride, kN, static_cast<float>(row + 1));
    }
    LaunchInputs inputs;
    inputs.dims = {kRows, kN};
    inputs.operands = {tensor, tensor};
    inputs.strides = {{kStride, 1}, {kStride, 1}};
    inputs.scalars = {0.0};
    const absl::StatusOr<LaunchReport> report = device.Launch(*plan, inputs);
    ASSERT_TRUE(report.ok()) << report.status();
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t i = 0; i < kN; ++i) {
        ASSERT_NEAR(tensor[row * kStride + i], 1.0, 1e-6) << row << " " << i;
      }
    }
  }
  munmap(mapping, kBytes);
}

// The same numbers in whichever order the waves of a workgroup run.
TEST_F(RmsNormEmulatorTest, OrderOfWavesDoesNotShow) {
  const Problem p = {.dtype = "f32", .rows = 3, .n = 16384};
  const absl::StatusOr<Plan> plan = MakePlan(SpecFor(p));
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<float> x(p.rows * p.n);
  for (float& value : x) value = static_cast<float>(normal_(generator_));
  std::vector<float> results[2];
  for (int reverse = 0; reverse < 2; ++reverse) {
    emulator::Options options = emulator::Options::FromEnvironment();
    options.reverse_waves = reverse != 0;
    TestDevice device(options);
    float* buffer = device.Allocate<float>(p.rows * p.n);
    std::copy(x.begin(), x.end(), buffer);
    LaunchInputs inputs;
    inputs.dims = {p.rows, p.n};
    inputs.operands = {buffer, buffer};
    const absl::StatusOr<LaunchReport> report = device.Launch(*plan, inputs);
    ASSERT_TRUE(report.ok()) << report.status();
    results[reverse].assign(buffer, buffer + p.rows * p.n);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(RmsNormEmulatorTest, OneObjectServesAllRowCounts) {
  const absl::StatusOr<Plan> plan =
      MakePlan(SpecFor({.dtype = "bf16", .weight = "bf16", .n = 4096}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kernels.size(), 1u);
  EXPECT_EQ(plan->variants.size(), 1u);
}

}  // namespace
}  // namespace ingot
