// The shapes of the manifests with the tiles that they get, executed.
#include "gtest/gtest.h"
#include "tests/support/gemm_shapes.h"

namespace ingot {
namespace {

class GemmShapes : public ::testing::TestWithParam<const char*> {};

TEST_P(GemmShapes, All) {
  testing::TestDevice device;
  uint32_t run = 0;
  for (const auto& p : testing::ReducedGemmShapes(GetParam())) {
    testing::CheckGemm(device, p, ++run);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Manifests, GemmShapes,
    ::testing::Values("tests/data/manifests/gemm_bf16.jsonl",
                      "tests/data/manifests/gemm_models_bf16.jsonl"));

}  // namespace
}  // namespace ingot
