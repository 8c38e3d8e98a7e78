// Many random problems of scaled_gemm, executed.
#include "gtest/gtest.h"
#include "tests/support/scaled_gemm_sweep.h"

namespace ingot {
namespace {

class ScaledGemmSweep : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ScaledGemmSweep, RandomProblems) {
  testing::SweepScaledGemm(GetParam(), 150);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ScaledGemmSweep,
                         ::testing::Values(101, 102, 103, 104));

}  // namespace
}  // namespace ingot
