// The shapes of gemm that people measure (tests/data/manifests), made small
// enough for the emulator.
#ifndef TESTS_SUPPORT_GEMM_SHAPES_H_
#define TESTS_SUPPORT_GEMM_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/gemm_problem.h"

namespace ingot::testing {

// The rows of a manifest as problems whose tile is pinned to what the row's own
// extents get; then m and n are cut to a tile and a ragged edge, k stays. No
// problem twice. Reports through gtest what it cannot read or plan.
std::vector<GemmProblem> ReducedGemmShapes(const std::string& manifest);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_GEMM_SHAPES_H_
