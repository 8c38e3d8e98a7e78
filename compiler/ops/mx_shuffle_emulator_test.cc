// mx_shuffle, executed: every byte of y by an index formula of its own.
#include <cstring>
#include <random>
#include <vector>

#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/launch.h"

namespace ingot {
namespace {

using testing::LaunchInputs;
using testing::LaunchReport;
using testing::TestDevice;

struct Problem {
  const char* what;
  const char* dtype;
  int64_t rows;
  int64_t n;
  int64_t pad;  // bytes behind each row of x; strides are dynamic then
};

int64_t RoundUp(int64_t value, int64_t factor) {
  return (value + factor - 1) / factor * factor;
}

// The byte of x that stands at `place` of y, as (row, column).
std::pair<int64_t, int64_t> SourceOf(bool weights, int64_t n, int64_t place) {
  if (weights) {
    // [rows / 16][n / 16][16][16]
    const int64_t block = place / 256;
    return {block / (n / 16) * 16 + place / 16 % 16,
            block % (n / 16) * 16 + place % 16};
  }
  // [rows / 32][n / 8][n % 4][rows % 16][n / 4 % 2][rows / 16 % 2]
  const int64_t blocks = RoundUp(n, 8) / 8;
  const int64_t block = place / 256;
  const int64_t in_block = place % 256;
  const int64_t row =
      block / blocks * 32 + in_block % 2 * 16 + in_block / 4 % 16;
  const int64_t column =
      block % blocks * 8 + in_block / 2 % 2 * 4 + in_block / 64;
  return {row, column};
}

void Check(TestDevice& device, const Problem& p) {
  SCOPED_TRACE(absl::StrCat(p.what, " ", p.rows, "x", p.n, " pad ", p.pad));
  Spec spec{"mx_shuffle"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", p.n}};
  spec.operands = {{"x", p.dtype}, {"y", p.dtype}};
  if (p.pad > 0) spec.operands[0].stride_mode = StrideMode::kDynamic;
  spec.attrs = {{"what", p.what}};
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const bool weights = std::string(p.what) == "weights";
  const int64_t stride = p.n + p.pad;
  const int64_t x_bytes = (p.rows - 1) * stride + p.n;
  const int64_t y_bytes =
      RoundUp(p.rows, weights ? 16 : 256) * RoundUp(p.n, weights ? 16 : 8);
  uint8_t* x = device.Allocate<uint8_t>(x_bytes);
  uint8_t* y = device.Allocate<uint8_t>(y_bytes);
  std::mt19937 random(static_cast<uint32_t>(p.rows * 1000 + p.n));
  for (int64_t i = 0; i < x_bytes; ++i) x[i] = static_cast<uint8_t>(random());
  LaunchInputs inputs;
  inputs.dims = {p.rows, p.n};
  inputs.operands = {x, y};
  if (p.pad > 0) inputs.strides = {{stride, 1}, {}};
  const absl::StatusOr<LaunchReport> report = device.Launch(*plan, inputs);
  ASSERT_TRUE(report.ok()) << report.status();
  for (int64_t i = 0; i < y_bytes; ++i) {
    const auto [row, column] = SourceOf(weights, p.n, i);
    const bool inside = row < p.rows && column < p.n;
    ASSERT_EQ(y[i], inside ? x[row * stride + column] : 0)
        << "byte " << i << " of y";
  }
  device.Free(x);
  device.Free(y);
}

TEST(MxShuffle, Scales) {
  TestDevice device;
  for (const int64_t rows : {1, 16, 31, 32, 97, 256, 300}) {
    for (const int64_t n : {1, 3, 4, 8, 17, 128}) {
      Check(device, {"scales", "e8m0", rows, n, 0});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  Check(device, {"scales", "e8m0", 70, 9, 5});
}

TEST(MxShuffle, Weights) {
  TestDevice device;
  for (const int64_t rows : {1, 15, 16, 17, 97}) {
    for (const int64_t n : {16, 48, 256, 400}) {
      Check(device, {"weights", "e2m1", rows, n, 0});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  Check(device, {"weights", "e4m3fn", 33, 96, 7});
}

}  // namespace
}  // namespace ingot
