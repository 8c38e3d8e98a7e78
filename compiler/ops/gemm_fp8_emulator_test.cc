// gemm of 8-bit floats, executed, against a reference in f64 that shares
// nothing with the kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/gemm_problem.h"
#include "tests/support/launch.h"
#include "tests/support/mx_format.h"
#include "tests/support/number.h"

namespace ingot {
namespace {

using testing::Format;
using testing::LaunchInputs;
using testing::LaunchReport;
using testing::MxValue;
using testing::TestDevice;

struct Problem {
  std::string a = "e4m3fn";
  std::string b = "e4m3fn";
  std::string d = "bf16";
  std::string scaling = "none";
  std::string bias;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t pad = 0;  // bytes behind rows of a and b, elements of d; dynamic
  double alpha = 1;
  std::vector<Tuning> tuning;
};

Spec ToSpec(const Problem& p) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", p.n}, {"k", p.k}};
  spec.operands = {{"a", p.a}, {"b", p.b}, {"d", p.d}};
  if (p.pad > 0) {
    for (Operand& x : spec.operands) x.stride_mode = StrideMode::kDynamic;
  }
  if (p.scaling != "none") {
    spec.operands.push_back({"scale_a", "f32"});
    spec.operands.push_back({"scale_b", "f32"});
  }
  if (!p.bias.empty()) spec.operands.push_back({"bias", p.bias});
  spec.attrs = {{"scaling", p.scaling}};
  spec.tuning = p.tuning;
  return spec;
}

// Device memory that is freed with this; padding is NaN.
class Memory {
 public:
  Memory(TestDevice& device, int64_t bytes)
      : device_(device), data_(device.Allocate<uint8_t>(bytes)) {
    std::memset(data_, 0xff, bytes);
  }
  ~Memory() { device_.Free(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  uint8_t* data() const { return data_; }

 private:
  TestDevice& device_;
  uint8_t* data_;
};

// Of every code.
std::array<double, 256> ValuesOf(const std::string& dtype) {
  std::array<double, 256> values;
  for (uint32_t code = 0; code < 256; ++code) {
    values[code] = MxValue(dtype, code);
  }
  return values;
}

void FillCodes(const std::string& dtype, const Memory& memory, int64_t rows,
               int64_t columns, int64_t stride, std::mt19937& random) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      uint8_t code = static_cast<uint8_t>(random());
      while (!(std::fabs(MxValue(dtype, code)) <= 32)) {
        code = static_cast<uint8_t>(random());
      }
      memory.data()[i * stride + j] = code;
    }
  }
}

std::vector<double> FillVector(const std::string& dtype, const Memory& memory,
                               int64_t count, std::mt19937& random) {
  const Format format = testing::FormatOf(dtype);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    uint8_t* at = memory.data() + i * format.bytes;
    testing::Encode(format, std::normal_distribution<double>()(random), at);
    values.push_back(testing::Decode(format, at));
  }
  return values;
}

void Check(TestDevice& device, const Problem& p, uint32_t seed,
           std::string* variant = nullptr) {
  SCOPED_TRACE(absl::StrCat(p.a, " x ", p.b, " -> ", p.d, " ", p.m, "x", p.n,
                            "x", p.k, " scaling=", p.scaling, " bias=", p.bias,
                            " pad=", p.pad));
  const absl::StatusOr<Plan> plan = MakePlan(ToSpec(p));
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::mt19937 random(seed);
  const Format format = testing::FormatOf(p.d);
  const int64_t row = p.k + p.pad;
  const int64_t row_d = p.n + p.pad;
  const Memory a(device, (p.m - 1) * row + p.k);
  const Memory b(device, (p.n - 1) * row + p.k);
  const Memory d(device, ((p.m - 1) * row_d + p.n) * format.bytes);
  const bool rows = p.scaling == "row";
  const int64_t count_a = rows ? p.m : 1;
  const int64_t count_b = rows ? p.n : 1;
  const Memory scale_a(device, count_a * 4);
  const Memory scale_b(device, count_b * 4);
  const Memory bias(device, p.n * 4);
  FillCodes(p.a, a, p.m, p.k, row, random);
  FillCodes(p.b, b, p.n, p.k, row, random);
  const std::vector<double> sa = FillVector("f32", scale_a, count_a, random);
  const std::vector<double> sb = FillVector("f32", scale_b, count_b, random);
  const std::vector<double> added =
      FillVector(p.bias.empty() ? "f32" : p.bias, bias, p.n, random);
  LaunchInputs inputs;
  inputs.dims = {p.m, p.n, p.k};
  inputs.operands = {a.data(), b.data(), d.data()};
  inputs.strides = {{row, 1}, {row, 1}, {row_d, 1}};
  if (p.pad == 0) inputs.strides.clear();
  if (p.scaling != "none") {
    inputs.operands.push_back(scale_a.data());
    inputs.operands.push_back(scale_b.data());
  }
  if (!p.bias.empty()) inputs.operands.push_back(bias.data());
  inputs.scalars = {p.alpha};
  const absl::StatusOr<LaunchReport> report = device.Launch(*plan, inputs);
  ASSERT_TRUE(report.ok()) << report.status();
  if (variant != nullptr) *variant = report->variant;
  const std::array<double, 256> values_a = ValuesOf(p.a);
  const std::array<double, 256> values_b = ValuesOf(p.b);
  const double growth =
      4 * std::sqrt(static_cast<double>(p.k)) * std::ldexp(1.0, -24);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        const double product =
            values_a[a.data()[i * row + k]] * values_b[b.data()[j * row + k]];
        sum += product;
        magnitude += std::fabs(product);
      }
      double factor = p.alpha;
      if (p.scaling != "none") factor *= sa[rows ? i : 0] * sb[rows ? j : 0];
      const double from_bias = p.bias.empty() ? 0 : added[j];
      const double wanted = factor * sum + from_bias;
      const double tolerance =
          format.Unit() * std::fabs(wanted) +
          growth * (std::fabs(factor) * magnitude + std::fabs(from_bias)) +
          format.SmallestSubnormal() / 2;
      const double found =
          testing::Decode(format, d.data() + (i * row_d + j) * format.bytes);
      ASSERT_LE(std::fabs(found - wanted), tolerance)
          << "d[" << i << "," << j << "]: found " << found << ", reference "
          << wanted;
    }
  }
}

// Formats, outputs, scalings and biases go round with the extents.
TEST(Fp8Gemm, AnyExtents) {
  TestDevice device;
  constexpr int64_t kExtents[] = {1, 2, 15, 16, 17, 31, 64, 65, 100, 129, 256};
  std::mt19937 random(8);
  const auto pick = [&] { return kExtents[random() % std::size(kExtents)]; };
  for (uint32_t i = 0; i < 60; ++i) {
    Problem p;
    p.a = i % 2 == 0 ? "e4m3fn" : "e5m2";
    p.b = i / 2 % 2 == 0 ? "e4m3fn" : "e5m2";
    p.d = std::array{"bf16", "f16", "f32"}[i % 3];
    p.scaling = std::array{"none", "tensor", "row"}[i / 3 % 3];
    if (i % 4 == 1) p.bias = "f32";
    if (i % 4 == 2) p.bias = p.d;
    if (i % 5 == 4) p.pad = i % 2 == 0 ? 16 : 3;
    if (i % 7 == 6) p.alpha = -0.375;
    p.m = pick();
    p.n = pick();
    p.k = i % 3 == 0 ? 16 * pick() : pick();
    Check(device, p, i);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Fp8Gemm, EveryTile) {
  TestDevice device;
  uint32_t seed = 0;
  for (const GemmSchedule schedule :
       {GemmSchedule::kDma, GemmSchedule::kStaged}) {
    for (const GemmTile& tile : ScaledTiles(schedule, {8, 8, false})) {
      Problem p;
      p.b = "e5m2";
      p.scaling = "row";
      p.m = tile.m + 8;
      p.n = std::min(tile.n, 128) + 8;
      // Steps for each of the waves that share k, and a part of one.
      p.k = schedule == GemmSchedule::kDma ? 144 + 256 * tile.waves_k : 401;
      p.tuning = GemmPins(tile);
      std::string variant;
      Check(device, p, ++seed, &variant);
      if (::testing::Test::HasFatalFailure()) return;
      EXPECT_NE(variant.find(GemmTileName(tile)), std::string::npos);
    }
  }
}

// Everything that gemm has beside, in each layout with each tile; rows of 16
// bytes and others.
TEST(Fp8Gemm, EveryLayoutAndTile) {
  TestDevice device;
  uint32_t seed = 0;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (const GemmSchedule schedule :
         {GemmSchedule::kDma, GemmSchedule::kStaged}) {
      const bool odd = schedule == GemmSchedule::kStaged;
      for (const GemmTile& tile : ScaledTiles(schedule, {8, 8, false})) {
        testing::GemmProblem p;
        p.layout = layout;
        p.dtype = "e4m3fn";
        p.dtype_b = "e5m2";
        p.scaling = seed % 2 == 0 ? "row" : "tensor";
        p.m = tile.m + (odd ? 9 : 16);
        p.n = std::min(tile.n, 128) + (odd ? 9 : 16);
        p.k = odd ? 401 : 144 + 256 * tile.waves_k;
        p.act = "swiglu";
        p.pairing = layout[1] == 't' && seed % 4 < 2 ? "halves" : "interleaved";
        p.bias = "f32";
        p.has_residual = true;
        p.has_c = seed % 3 == 0;
        p.beta = -1.5;
        p.tuning = GemmPins(tile);
        std::string variant;
        CheckGemm(device, p, ++seed, &variant);
        if (::testing::Test::HasFatalFailure()) return;
        EXPECT_EQ(variant.find("staged") != std::string::npos, odd) << variant;
        if (odd || tile.m < 64) continue;
        GemmTile parts = tile;
        parts.split_k = 3;
        p.tuning = GemmPins(parts);
        p.batch = 2;
        CheckGemm(device, p, ++seed, &variant);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace ingot
