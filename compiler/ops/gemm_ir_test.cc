// gemm's kernels compile, in every combination of what is baked; they fit; and
// the loops are as dense as their author meant them.
#include <set>

#include "compiler/compile.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/compile_plan.h"

namespace ingot {
namespace {

Spec Gemm(const std::string& layout, const std::string& dtype,
          const std::string& dtype_d, int64_t n, int64_t k) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", dtype}, {"b", dtype}, {"d", dtype_d}};
  spec.attrs = {{"layout", layout}};
  return spec;
}

class GemmIrTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_EQ(WarmUpCompiler(), absl::OkStatus()); }

  void CompileAll(const Spec& spec) { testing::CompileAll(spec, &compiled_); }

  std::set<std::string> compiled_;
};

// Every width of every operand, every tile that the plans use for them.
TEST_P(GemmIrTest, EveryWidthCompiles) {
  for (int64_t n : {4096, 4100, 4098, 4097}) {
    for (int64_t k : {4096, 4100, 4098, 4097}) {
      CompileAll(Gemm(GetParam(), "bf16", "bf16", n, k));
    }
  }
}

TEST_P(GemmIrTest, EveryEpilogueCompiles) {
  int i = 0;
  for (const char* dtype_d : {"bf16", "f16", "f32"}) {
    for (const std::string& bias :
         {std::string(), std::string(dtype_d), std::string("f32")}) {
      for (const bool has_c : {false, true}) {
        for (int64_t n : {4096, 4097}) {
          Spec spec =
              Gemm(GetParam(), ++i % 2 == 0 ? "bf16" : "f16", dtype_d, n, 4096);
          if (has_c) spec.operands.push_back({"c", dtype_d});
          if (!bias.empty()) spec.operands.push_back({"bias", bias});
          CompileAll(spec);
        }
      }
    }
  }
}

TEST_P(GemmIrTest, TheSameBytesTwice) {
  const absl::StatusOr<Plan> plan =
      MakePlan(Gemm(GetParam(), "f16", "f32", 4096, 4096));
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const PlanKernel& kernel : plan->kernels) {
    const absl::StatusOr<CompiledKernel> once = Compile(kernel.spec);
    const absl::StatusOr<CompiledKernel> twice = Compile(kernel.spec);
    ASSERT_TRUE(once.ok() && twice.ok());
    EXPECT_EQ(once->object, twice->object) << kernel.spec.symbol;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, GemmIrTest,
                         ::testing::Values("nn", "nt", "tn", "tt"));

}  // namespace
}  // namespace ingot
