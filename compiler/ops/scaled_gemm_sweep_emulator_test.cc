// Random problems of scaled_gemm, executed.
#include "gtest/gtest.h"
#include "tests/support/scaled_gemm_sweep.h"

namespace ingot {
namespace {

TEST(ScaledGemmSweep, RandomProblems) { testing::SweepScaledGemm(7, 60); }

}  // namespace
}  // namespace ingot
