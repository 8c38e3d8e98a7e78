// The hot loops of gemm, as emitted: nothing in them but what they are for, so
// that no change of ours or of LLVM's makes them longer unnoticed.
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/program_text.h"

namespace ingot {
namespace {

using testing::CountInstructions;
using testing::Instruction;

Spec Gemm(const std::string& layout, const GemmTile& tile) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", 4096}, {"k", 4096}};
  spec.dims[0].multiple_of = 8;
  spec.operands = {{"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}};
  spec.attrs = {{"layout", layout}};
  spec.tuning = GemmPins(tile);
  return spec;
}

// What a schedule puts into a step beside products, reads and loads.
struct Step {
  int barriers = 0;
  int waits = 0;
  int priorities = 0;
};

Step StepOf(const GemmTile& tile) {
  if (tile.waves_k > 1) return {0, 2, 0};
  // Three waits for loads, four for reads.
  if (tile.ping_pong()) return {8, 7, 8};
  return {2, tile.k / 32 + 1, 0};
}

// By a wave, in a step.
int Reads(const GemmTile& tile, const std::string& layout) {
  const int a = tile.m / tile.waves_m / 16 * (tile.k / 32);
  const int b = tile.n / tile.waves_n / 16 * (tile.k / 32);
  // Half a fragment a read where k is not contiguous.
  return a * (layout[0] == 'n' ? 1 : 2) + b * (layout[1] == 't' ? 1 : 2);
}

int Loads(const GemmTile& tile) {
  const int waves = tile.waves_k > 1 ? 1 : tile.waves();
  return (tile.m + tile.n) * tile.k * 2 / (1024 * waves);
}

int Products(const GemmTile& tile) {
  return tile.m * tile.n * tile.k /
         (16 * 16 * 32 * tile.waves_m * tile.waves_n);
}

// Scalar instructions of a round at most: M0 for each load; the place in k and
// whether it is beyond the end; where each panel's step starts, or its
// descriptor; and the end of the round.
int Scalars(const GemmTile& tile, const std::string& layout) {
  const int panels = tile.ping_pong() ? 4 : 2;
  const int each = layout == "nt" ? 1 : 5;
  return tile.stages * (Loads(tile) + 2 + panels * each) +
         (layout == "nt" ? 3 : 6);
}

class GemmLoopTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_EQ(WarmUpCompiler(), absl::OkStatus()); }

  // The loop of the tile's kernel that multiplies.
  void CompileLoop(const GemmTile& tile, std::vector<Instruction>* loop) {
    const absl::StatusOr<Plan> plan = MakePlan(Gemm(GetParam(), tile));
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->variants.size(), 1u);
    const absl::StatusOr<CompiledKernel> compiled =
        Compile(plan->kernels[0].spec);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const absl::StatusOr<std::string> text = Disassemble(compiled->object);
    ASSERT_TRUE(text.ok()) << text.status();
    const CodeObjectDescription& found = compiled->description;
    EXPECT_EQ(found.scratch_bytes + found.vgpr_spills + found.sgpr_spills, 0u);
    // Two waves share the registers of a SIMD.
    EXPECT_LE(found.vgprs, tile.ping_pong() ? 256u : 512u);
    *loop = testing::MatmulLoopOf(testing::ParseProgram(*text));
  }

  void Check(const GemmTile& tile, const std::vector<Instruction>& loop) {
    const std::string layout = GetParam();
    const Step step = StepOf(tile);
    const int steps = tile.stages;
    const auto count = [&](const char* prefix) {
      return CountInstructions(loop, prefix);
    };
    EXPECT_EQ(count("v_mfma_f32_16x16x32_bf16"), steps * Products(tile));
    EXPECT_EQ(count("v_"), steps * Products(tile));
    EXPECT_EQ(count("ds_read"), steps * Reads(tile, layout));
    EXPECT_EQ(count("buffer_load_dwordx4"), steps * Loads(tile));
    EXPECT_EQ(count("s_barrier"), steps * step.barriers);
    // LLVM found nothing to wait for that the schedule does not wait for.
    EXPECT_EQ(count("s_waitcnt"), steps * step.waits);
    EXPECT_EQ(count("s_setprio"), steps * step.priorities);
    // Nothing else reads or writes.
    EXPECT_EQ(count("ds_"), count("ds_read"));
    EXPECT_EQ(count("buffer_"), count("buffer_load_dwordx4"));
    EXPECT_EQ(count("v_") + count("ds_") + count("buffer_") + count("s_"),
              static_cast<int>(loop.size()));
    // M0 is written before a product or a read, where there are enough.
    const int nops = count("s_nop");
    if (tile.ping_pong()) {
      EXPECT_LE(nops, steps);
    } else if (tile.m * tile.n >= 64 * 64) {
      EXPECT_EQ(nops, 0);
    } else {
      EXPECT_LE(2 * nops, count("buffer_"));
    }
    EXPECT_LE(count("s_") - nops - count("s_barrier") - count("s_waitcnt") -
                  count("s_setprio"),
              Scalars(tile, layout));
  }
};

TEST_P(GemmLoopTest, HoldsNothingButWhatItIsFor) {
  for (const GemmTile& tile : AllGemmTiles(GemmSchedule::kDma)) {
    // A part of k has the same loop.
    if (tile.split_k != 1 && tile.waves_k == 1) continue;
    SCOPED_TRACE(absl::StrCat(GetParam(), " ", GemmTileName(tile)));
    std::vector<Instruction> loop;
    CompileLoop(tile, &loop);
    if (HasFatalFailure()) return;
    Check(tile, loop);
  }
}

// All instructions of a round, against what hand-written assembly of the same
// loop needs. Ours has five more, with which steps beyond k cost no request; in
// the ping-pong, whose operands have two panels each, two more of those.
TEST_P(GemmLoopTest, IsAsShortAsAssembly) {
  struct Figure {
    GemmTile tile;
    size_t instructions;
  };
  const Figure figures[] = {{{256, 256, 64, 2, 2, 2}, 399 + 5},
                            {{256, 256, 64, 2, 4, 2}, 269 + 7},
                            {{192, 256, 64, 2, 2, 2}, 319 + 5},
                            {{256, 128, 64, 2, 2, 2}, 239 + 5},
                            {{128, 256, 64, 2, 2, 2}, 239 + 5},
                            {{128, 128, 64, 2, 2, 2}, 143 + 5}};
  if (GetParam() != std::string("nt")) return;
  for (const Figure& figure : figures) {
    SCOPED_TRACE(GemmTileName(figure.tile));
    std::vector<Instruction> loop;
    CompileLoop(figure.tile, &loop);
    if (HasFatalFailure()) return;
    EXPECT_GT(loop.size(), 100u);
    EXPECT_LE(loop.size(), figure.instructions);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, GemmLoopTest,
                         ::testing::Values("nn", "nt", "tn", "tt"));

}  // namespace
}  // namespace ingot
