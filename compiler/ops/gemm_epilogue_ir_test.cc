// gemm's epilogues compile: the registers hold the largest tile and everything
// that may be added to it.
#include "compiler/compile.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

class GemmEpilogueTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_EQ(WarmUpCompiler(), absl::OkStatus()); }
};

// Everything there is besides the activation: c, bias, residual, a batch.
Spec Fullest(const std::string& act, const char* dtype_d, int64_t n) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", 4096}, {"b"}};
  spec.operands = {{"a", "bf16"}, {"b", "bf16"}};
  for (const char* name : {"d", "c", "bias", "residual"}) {
    spec.operands.push_back({name, dtype_d});
  }
  const bool paired = act == "halves" || act == "interleaved";
  spec.attrs = {{"act", paired ? "swiglu" : act}};
  if (paired) spec.attrs.push_back({"pairing", act});
  return spec;
}

TEST_P(GemmEpilogueTest, CompilesWithoutSpills) {
  for (const char* dtype_d : {"bf16", "f32"}) {
    for (const int64_t n : {4096, 4100, 4099}) {
      const absl::StatusOr<Plan> plan =
          MakePlan(Fullest(GetParam(), dtype_d, n));
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const PlanKernel& kernel : plan->kernels) {
        const absl::StatusOr<CompiledKernel> compiled = Compile(kernel.spec);
        ASSERT_TRUE(compiled.ok()) << compiled.status();
        const CodeObjectDescription& found = compiled->description;
        EXPECT_EQ(found.scratch_bytes + found.vgpr_spills + found.sgpr_spills,
                  0u)
            << kernel.spec.symbol;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Activations, GemmEpilogueTest,
                         ::testing::Values("none", "relu", "gelu_tanh",
                                           "gelu_erf", "silu", "halves",
                                           "interleaved"));

}  // namespace
}  // namespace ingot
