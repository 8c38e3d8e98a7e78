// The shapes of the manifests with the tiles that they get, executed: those
// that the emulator does in a moment. The slow test runs all.
#include "gtest/gtest.h"
#include "tests/support/gemm_shapes.h"

namespace ingot {
namespace {

TEST(GemmShapes, SmallOnes) {
  constexpr int64_t kMost = 20'000'000;
  testing::TestDevice device;
  uint32_t run = 0;
  for (const char* manifest : {"tests/data/manifests/gemm_bf16.jsonl",
                               "tests/data/manifests/gemm_models_bf16.jsonl"}) {
    for (const auto& p : testing::ReducedGemmShapes(manifest)) {
      if (p.m * p.n * p.k > kMost) continue;
      testing::CheckGemm(device, p, ++run);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(run, 10u);
}

}  // namespace
}  // namespace ingot
