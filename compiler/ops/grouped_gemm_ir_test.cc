// grouped_gemm's kernels compile and fit, and going over tiles costs their k
// loops nothing.
#include <set>

#include "compiler/compile.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/compile_plan.h"
#include "tests/support/program_text.h"

namespace ingot {
namespace {

using testing::CountInstructions;
using testing::Instruction;
using testing::ParseProgram;

Spec Grouped(const char* b_layout, const char* dtype, const char* dtype_d,
             int64_t n, int64_t k) {
  Spec spec{"grouped_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"total_m"}, {"g", 8}, {"n", n}, {"k", k}};
  spec.operands = {{"a", dtype}, {"b", dtype}, {"d", dtype_d}, {"offs", "i32"}};
  spec.attrs = {{"b_layout", std::string(b_layout)}};
  return spec;
}

class GroupedGemmIrTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_EQ(WarmUpCompiler(), absl::OkStatus()); }

  void CompileAll(const Spec& spec) { testing::CompileAll(spec, &compiled_); }

  std::set<std::string> compiled_;
};

TEST_P(GroupedGemmIrTest, EveryWidthCompiles) {
  for (int64_t n : {4096, 4100, 4098, 4097}) {
    for (int64_t k : {4096, 4100, 4098, 4097}) {
      CompileAll(Grouped(GetParam(), "bf16", "bf16", n, k));
    }
  }
}

TEST_P(GroupedGemmIrTest, EveryNumberOfGroupsAndEpilogueCompiles) {
  for (int64_t g : {64, 256, 1024}) {
    for (const char* bias : {"", "bf16", "f32"}) {
      Spec spec =
          Grouped(GetParam(), "f16", *bias ? "bf16" : "f32", 4096, 4096);
      spec.dims[1].value = g;
      if (*bias != 0) spec.operands.push_back({"bias", bias});
      CompileAll(spec);
    }
  }
}

TEST_P(GroupedGemmIrTest, EveryActivationCompiles) {
  for (const char* act : {"relu", "gelu_tanh", "gelu_erf", "silu"}) {
    Spec spec = Grouped(GetParam(), "bf16", "bf16", 4096, 4096);
    spec.attrs.push_back({"act", std::string(act)});
    CompileAll(spec);
  }
  for (const char* pairing : {"halves", "interleaved"}) {
    for (int64_t n : {4096, 4097}) {
      Spec spec = Grouped(GetParam(), "bf16", "bf16", n, 4096);
      spec.attrs.push_back({"act", std::string("swiglu")});
      spec.attrs.push_back({"pairing", std::string(pairing)});
      spec.operands.push_back({"bias", "f32"});
      CompileAll(spec);
    }
  }
}

// The loop of gemm's kernel of the same tile, instruction for instruction but
// for the registers.
TEST_P(GroupedGemmIrTest, LoopsAreThoseOfGemm) {
  for (const GemmTile& tile : GemmTiles(GemmSchedule::kDma)) {
    Spec grouped = Grouped(GetParam(), "bf16", "bf16", 4096, 4096);
    Spec dense{"gemm"};
    dense.target = "gfx950";
    dense.dims = {{"m"}, {"n", 4096}, {"k", 4096}};
    dense.operands = {{"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}};
    dense.attrs = {{"layout", std::string(GetParam()) == "gnk" ? "nt" : "nn"}};
    std::vector<std::vector<Instruction>> loops;
    for (Spec* spec : {&dense, &grouped}) {
      spec->tuning = GemmPins(tile);
      const absl::StatusOr<Plan> plan = MakePlan(*spec);
      ASSERT_TRUE(plan.ok()) << plan.status();
      ASSERT_EQ(plan->kernels.size(), 1u);
      const absl::StatusOr<CompiledKernel> compiled =
          Compile(plan->kernels[0].spec);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      const absl::StatusOr<std::string> text = Disassemble(compiled->object);
      ASSERT_TRUE(text.ok()) << text.status();
      loops.push_back(testing::MatmulLoopOf(ParseProgram(*text)));
    }
    SCOPED_TRACE(GemmTileName(tile));
    ASSERT_FALSE(loops[0].empty());
    EXPECT_EQ(loops[1].size(), loops[0].size());
    const int mfmas = CountInstructions(loops[1], "v_mfma");
    EXPECT_GT(mfmas, 0);
    EXPECT_EQ(mfmas, CountInstructions(loops[0], "v_mfma"));
    EXPECT_EQ(CountInstructions(loops[1], "v_"), mfmas);
    for (const char* kind : {"ds_read", "buffer_load", "s_barrier", "s_waitcnt",
                             "s_nop", "s_setprio"}) {
      EXPECT_EQ(CountInstructions(loops[1], kind),
                CountInstructions(loops[0], kind))
          << kind;
    }
    EXPECT_EQ(CountInstructions(loops[1], "scratch_"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, GroupedGemmIrTest,
                         ::testing::Values("gkn", "gnk"));

}  // namespace
}  // namespace ingot
