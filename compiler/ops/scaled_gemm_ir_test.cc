// scaled_gemm's kernels compile for every pair of formats, layout and access;
// they fit; and the loops are as dense as their author meant them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program_text.h"

namespace ingot {
namespace {

using testing::CountInstructions;
using testing::Instruction;
using testing::ParseProgram;

constexpr const char* kFormats[] = {"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1"};

Spec ScaledGemm(const std::string& a, const std::string& b, int64_t n,
                int64_t k, bool shuffled) {
  Spec spec{"scaled_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", a},
                   {"b", b},
                   {"scale_a", "e8m0"},
                   {"scale_b", "e8m0"},
                   {"d", "bf16"}};
  spec.attrs = {{"scale_layout", shuffled ? "shuffled_16x4" : "linear"},
                {"weight_layout", shuffled ? "shuffled" : "linear"}};
  return spec;
}

// Contract, spills and scratch are checked by Compile itself.
void CheckCompiles(const Spec& spec) {
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const PlanKernel& kernel : plan->kernels) {
    const absl::StatusOr<CompiledKernel> compiled = Compile(kernel.spec);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const CodeObjectDescription& found = compiled->description;
    EXPECT_EQ(found.scratch_bytes + found.vgpr_spills + found.sgpr_spills, 0u);
    EXPECT_EQ(found.lds_bytes, kernel.spec.lds_bytes);
  }
}

TEST(ScaledGemmIr, EveryPairOfFormatsCompiles) {
  ASSERT_EQ(WarmUpCompiler(), absl::OkStatus());
  for (const char* a : kFormats) {
    for (const char* b : kFormats) {
      for (const bool shuffled : {false, true}) {
        // Words of scales, and bytes or pairs of them.
        for (const int64_t k : {4096, 4160}) {
          CheckCompiles(ScaledGemm(a, b, 4096, k, shuffled));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Those that share k and those that grouped_gemm does not have, with scales by
// words, bytes and pairs.
TEST(ScaledGemmIr, EveryFurtherTileCompiles) {
  ASSERT_EQ(WarmUpCompiler(), absl::OkStatus());
  constexpr std::pair<const char*, const char*> kPairs[] = {
      {"e4m3fn", "e4m3fn"}, {"e2m1", "e2m1"}, {"e2m3", "e2m1"}};
  for (const auto& [a, b] : kPairs) {
    const auto bits = [](const std::string& dtype) {
      return dtype == "e2m1" ? 4 : dtype == "e2m3" ? 6 : 8;
    };
    const ScaledFormats formats = {bits(a), bits(b)};
    const std::vector<GemmTile> known =
        ScaledTiles(GemmSchedule::kDma, formats);
    for (const GemmTile& tile : AllScaledTiles(GemmSchedule::kDma, formats)) {
      if (std::find(known.begin(), known.end(), tile) != known.end()) continue;
      for (const bool shuffled : {false, true}) {
        for (const int64_t k : {4096, 4160}) {
          Spec spec = ScaledGemm(a, b, 4096, k, shuffled);
          spec.tuning = {{"tile_m", tile.m},
                         {"tile_n", tile.n},
                         {"tile_k", tile.k},
                         {"waves_k", tile.waves_k},
                         {"split_k", tile.split_k}};
          CheckCompiles(spec);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

struct Hot {
  const char* a;
  const char* b;
  bool shuffled;
};

class ScaledGemmLoopTest : public ::testing::TestWithParam<Hot> {};

// Nothing in a loop but MFMAs, LDS reads, DMA, scalar bookkeeping and the waits
// and barriers of the schedule.
TEST_P(ScaledGemmLoopTest, IsDense) {
  ASSERT_EQ(WarmUpCompiler(), absl::OkStatus());
  const Hot& hot = GetParam();
  Spec spec = ScaledGemm(hot.a, hot.b, 4096, 4096, hot.shuffled);
  spec.tuning = {{"split_k", 1}, {"tile_m", 256}, {"tile_n", 256}};
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->kernels.size(), 1u);
  const KernelSpec& kernel = plan->kernels[0].spec;
  const absl::StatusOr<CompiledKernel> compiled = Compile(kernel);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const absl::StatusOr<std::string> text = Disassemble(compiled->object);
  ASSERT_TRUE(text.ok()) << text.status();
  const std::vector<Instruction> loop =
      testing::MatmulLoopOf(ParseProgram(*text));
  const int steps = 2;
  const int64_t k = *kernel.GetInt("tile_k");
  const int mfmas =
      static_cast<int>(steps * 256 * 256 * k / (16 * 16 * 128 * 4));
  SCOPED_TRACE(absl::StrCat(kernel.symbol, ": ", loop.size(), " instructions"));
  EXPECT_EQ(CountInstructions(loop, "v_mfma_scale_f32_16x16x128_f8f6f4"),
            mfmas);
  EXPECT_EQ(CountInstructions(loop, "v_"), mfmas);
  EXPECT_EQ(CountInstructions(loop, "scratch_"), 0);
  EXPECT_EQ(CountInstructions(loop, "ds_read_b128"), 64);
  // A scale for each fragment of each 128 k; shuffled, one word for two
  // fragments, and two words a read.
  const int scale_reads = hot.shuffled ? mfmas / 16 : mfmas / 4;
  EXPECT_EQ(CountInstructions(loop, hot.shuffled ? "ds_read2" : "ds_read_u8"),
            scale_reads);
  EXPECT_EQ(CountInstructions(loop, "ds_read"), 64 + scale_reads);
  EXPECT_EQ(CountInstructions(loop, "buffer_load_dwordx4"), 32);
  EXPECT_EQ(CountInstructions(loop, "s_barrier"), 2 * steps);
  EXPECT_EQ(CountInstructions(loop, "s_waitcnt"), 3 * steps);
  EXPECT_EQ(compiled->description.agprs, 256u);
  EXPECT_LE(loop.size(), 560u);
}

INSTANTIATE_TEST_SUITE_P(Tiles, ScaledGemmLoopTest,
                         ::testing::Values(Hot{"e2m1", "e2m1", false},
                                           Hot{"e2m1", "e2m1", true},
                                           Hot{"e4m3fn", "e4m3fn", false},
                                           Hot{"e4m3fn", "e4m3fn", true}));

}  // namespace
}  // namespace ingot
