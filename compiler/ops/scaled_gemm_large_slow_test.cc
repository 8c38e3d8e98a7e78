// scaled_gemm on operands beyond 4 GiB: rows whose offsets do not fit 32 bits.
// Only pages with elements take memory.
#include "gtest/gtest.h"
#include "tests/support/scaled_gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckScaledGemm;
using testing::ScaledGemmProblem;
using testing::TestDevice;

// Almost the longest row that there may be, in bytes of a, b and the scales and
// elements of d; 2100 of them are 4.4 GB of bytes, 8.8 GB of bf16.
constexpr int64_t kPad = (1 << 21) - 4096;
constexpr int64_t kRows = 2100;

ScaledGemmProblem Problem(int64_t m, int64_t n) {
  ScaledGemmProblem p;
  p.m = m;
  p.n = n;
  p.k = 64;
  p.pad = kPad;
  p.strides = StrideMode::kDynamic;
  return p;
}

TEST(ScaledGemmLarge, ManyRowsOfAAndD) {
  TestDevice device;
  CheckScaledGemm(device, Problem(kRows, 16), 1);
}

TEST(ScaledGemmLarge, ManyRowsOfB) {
  TestDevice device;
  CheckScaledGemm(device, Problem(16, kRows), 2);
}

// Six and four bits, and rows that no wide access can take.
TEST(ScaledGemmLarge, OddRows) {
  TestDevice device;
  for (const bool of_b : {false, true}) {
    ScaledGemmProblem p = of_b ? Problem(5, kRows) : Problem(kRows, 5);
    p.a = "e2m3";
    p.b = "e2m1";
    p.pad = kPad + 1;
    p.strides = StrideMode::kStatic;
    CheckScaledGemm(device, p, 3);
  }
}

}  // namespace
}  // namespace ingot
