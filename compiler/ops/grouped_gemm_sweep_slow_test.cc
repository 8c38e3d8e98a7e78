// Many random problems of grouped_gemm.
#include "gtest/gtest.h"
#include "tests/support/grouped_gemm_sweep.h"

namespace ingot {
namespace {

class GroupedGemmSweep : public ::testing::TestWithParam<uint32_t> {};

TEST_P(GroupedGemmSweep, RandomProblems) {
  testing::SweepGroupedGemm(GetParam(), 150);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GroupedGemmSweep,
                         ::testing::Values(101, 102, 103, 104));

}  // namespace
}  // namespace ingot
