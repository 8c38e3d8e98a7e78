// gemm's epilogues compile: the registers hold the largest tile and everything
// that may be added to it; and they are as dense as their author meant them.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/compile.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/program_text.h"

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

std::vector<testing::Instruction> AfterTheLoop(const std::string& text) {
  const std::vector<testing::Instruction> all = testing::ParseProgram(text);
  const auto last =
      std::find_if(all.rbegin(), all.rend(), [](const auto& instruction) {
        return absl::StartsWith(instruction.name, "v_mfma");
      });
  return {last.base(), all.end()};
}

// Lanes store 16 bytes each, and arithmetic that has a packed form is packed.
TEST_P(GemmEpilogueTest, IsDense) {
  Spec spec = Fullest(GetParam(), "bf16", 4096);
  spec.dims[0].min = 4096;
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const PlanKernel& kernel : plan->kernels) {
    const absl::StatusOr<CompiledKernel> compiled = Compile(kernel.spec);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const absl::StatusOr<std::string> text = Disassemble(compiled->object);
    ASSERT_TRUE(text.ok()) << text.status();
    int stores = 0;
    for (const testing::Instruction& x : AfterTheLoop(*text)) {
      if (absl::StartsWith(x.name, "buffer_store")) {
        EXPECT_EQ(x.name, "buffer_store_dwordx4") << kernel.spec.symbol;
        ++stores;
      }
      for (const char* alone : {"v_fma_f32", "v_mul_f32", "v_add_f32"}) {
        EXPECT_FALSE(absl::StartsWith(x.name, alone))
            << kernel.spec.symbol << ": " << x.name << " " << x.operands;
      }
    }
    EXPECT_GT(stores, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Activations, GemmEpilogueTest,
                         ::testing::Values("none", "relu", "gelu_tanh",
                                           "gelu_erf", "silu", "halves",
                                           "interleaved"));

}  // namespace
}  // namespace ingot
