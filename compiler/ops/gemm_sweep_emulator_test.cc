// Random problems of gemm, executed.
#include "gtest/gtest.h"
#include "tests/support/gemm_sweep.h"

namespace ingot {
namespace {

TEST(GemmSweep, RandomProblems) { testing::SweepGemm(7, 160); }

}  // namespace
}  // namespace ingot
