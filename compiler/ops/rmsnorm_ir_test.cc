// rmsnorm's kernels compile, in every class of n, and fit: no spills, no
// scratch, the launch contract kept, the same bytes each time.
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::TestWithParam;
using ::testing::Values;

struct Case {
  const char* dtype;
  const char* weight;
  bool rstd;
  bool aligned;
  bool residual = false;
  const char* quant = "none";
};

class RmsNormIrTest : public TestWithParam<Case> {};

Plan PlanFor(const Case& c, int64_t n) {
  Spec spec{"rmsnorm"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  const std::string quant = c.quant;
  const char* narrow = quant == "mxfp4" ? "e2m1" : "e4m3fn";
  spec.operands = {{"x", c.dtype}, {"y", quant == "none" ? c.dtype : narrow}};
  if (quant != "none") {
    spec.attrs = {{"quant", quant}};
    spec.operands.push_back({"scale", quant == "fp8_row" ? "f32" : "e8m0"});
  }
  if (c.weight[0] != '\0') spec.operands.push_back({"weight", c.weight});
  if (c.rstd) spec.operands.push_back({"rstd", "f32"});
  if (c.residual) {
    spec.operands.push_back({"residual", c.dtype});
    spec.operands.push_back({"residual_out", c.dtype});
  }
  if (!c.aligned) {
    spec.operands[0].alignment = spec.operands[0].dtype == "f32" ? 4 : 2;
  }
  absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : Plan();
}

TEST_P(RmsNormIrTest, EveryLengthFitsTheRegisters) {
  ASSERT_EQ(WarmUpCompiler(), absl::OkStatus());
  for (int64_t n : {1,     2,     3,     7,     63,     64,    65,   255,
                    256,   1000,  1024,  2047,  2048,   4096,  5120, 8191,
                    16384, 28672, 65535, 65536, 131071, 131072}) {
    // A scale has 32 elements.
    if (GetParam().quant[0] == 'm' && n % 32 != 0) continue;
    for (const PlanKernel& kernel : PlanFor(GetParam(), n).kernels) {
      const absl::StatusOr<CompiledKernel> compiled = Compile(kernel.spec);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      EXPECT_EQ(compiled->description.scratch_bytes, 0u) << n;
      EXPECT_EQ(compiled->description.vgpr_spills, 0u) << n;
      EXPECT_EQ(compiled->description.sgpr_spills, 0u) << n;
      EXPECT_EQ(compiled->description.elf_flags, 0x54fu);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Dtypes, RmsNormIrTest,
    Values(Case{"bf16", "bf16", true, true}, Case{"f16", "f32", false, true},
           Case{"f32", "f32", true, true}, Case{"bf16", "f32", true, false},
           Case{"f16", "", false, false}, Case{"f32", "f32", false, false},
           Case{"bf16", "bf16", false, true, true},
           Case{"f16", "f32", true, false, true},
           Case{"f32", "f32", false, true, true},
           Case{"bf16", "bf16", false, true, true, "fp8_row"},
           Case{"f16", "f32", true, false, true, "fp8_row"},
           Case{"bf16", "f32", false, true, true, "mxfp8"},
           Case{"f32", "f32", false, true, true, "mxfp8"},
           Case{"bf16", "bf16", false, true, true, "mxfp4"},
           Case{"f32", "", false, false, true, "mxfp4"}));

}  // namespace
}  // namespace ingot
