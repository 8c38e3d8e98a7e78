// Random problems of grouped_gemm: routings, layouts, dtypes, ways to lay out
// operands, tiles that a plan may choose, numbers of compute units; small
// sizes. The same seed gives the same problems.
#ifndef TESTS_SUPPORT_GROUPED_GEMM_SWEEP_H_
#define TESTS_SUPPORT_GROUPED_GEMM_SWEEP_H_

#include <cstdint>
#include <random>

#include "tests/support/grouped_gemm_problem.h"

namespace ingot::testing {

GroupedGemmProblem RandomGroupedGemmProblem(std::mt19937& random);

// Runs `count` problems, every fourth of them again with one thread, waves in
// the other order and another number of compute units, which must give the same
// bits. Reports through gtest.
void SweepGroupedGemm(uint32_t seed, int count);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_GROUPED_GEMM_SWEEP_H_
