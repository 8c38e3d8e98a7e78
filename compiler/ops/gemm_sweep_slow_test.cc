// Many random problems of gemm, executed.
#include "gtest/gtest.h"
#include "tests/support/gemm_sweep.h"

namespace ingot {
namespace {

class GemmSweep : public ::testing::TestWithParam<uint32_t> {};

TEST_P(GemmSweep, RandomProblems) { testing::SweepGemm(GetParam(), 200); }

INSTANTIATE_TEST_SUITE_P(Seeds, GemmSweep,
                         ::testing::Values(101, 102, 103, 104, 105));

}  // namespace
}  // namespace ingot
