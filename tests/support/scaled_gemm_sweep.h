// Random problems of scaled_gemm: every pair of formats, layout, way to lay out
// operands and tile that a plan may choose, small sizes. The same seed gives
// the same problems.
#ifndef TESTS_SUPPORT_SCALED_GEMM_SWEEP_H_
#define TESTS_SUPPORT_SCALED_GEMM_SWEEP_H_

#include <random>

#include "tests/support/scaled_gemm_problem.h"

namespace ingot::testing {

ScaledGemmProblem RandomScaledGemmProblem(std::mt19937& random);

// Runs `count` problems, every fourth of them again on a device of another size
// with one thread and waves in the other order, which must give the same bits.
// Reports through gtest.
void SweepScaledGemm(uint32_t seed, int count);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_SCALED_GEMM_SWEEP_H_
