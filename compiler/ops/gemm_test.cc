// gemm's plans: which kernels, which variants, what is refused.
#include <functional>
#include <random>
#include <set>

#include "compiler/ops/gemm_plan_time.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

Spec Gemm(int64_t n = 4096, int64_t k = 4096, const char* layout = "nt") {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}};
  spec.attrs = {{"layout", std::string(layout)}};
  return spec;
}

Plan PlanOf(const Spec& spec) {
  absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

std::set<std::string> Keys(const Spec& spec) {
  std::set<std::string> keys;
  for (const PlanKernel& kernel : PlanOf(spec).kernels) keys.insert(kernel.key);
  return keys;
}

// The first variant whose dim and stride guards hold.
std::string Match(const Plan& plan, const std::vector<int64_t>& dims,
                  const std::vector<int64_t>& strides) {
  for (const Variant& variant : plan.variants) {
    bool holds = true;
    for (const Guard& guard : variant.guards) {
      if (guard.subject == Guard::kOperandAlignment) continue;
      const int64_t value = guard.subject == Guard::kDim ? dims[guard.index]
                                                         : strides[guard.index];
      holds = holds && value >= guard.min &&
              (guard.max == 0 || value <= guard.max) &&
              value % std::max<int64_t>(1, guard.multiple_of) == 0;
    }
    if (holds) return variant.name;
  }
  return "none";
}

TEST(GemmPlan, TokenCountIsNotInAnyKey) {
  const std::set<std::string> all = Keys(Gemm());
  for (int64_t m : {1, 7, 64, 100, 4096, 8192}) {
    Spec spec = Gemm();
    spec.dims[0].value = m;
    EXPECT_EQ(Keys(spec), all) << m;
    EXPECT_EQ(PlanOf(spec).spec_digest, PlanOf(Gemm()).spec_digest);
  }
}

TEST(GemmPlan, BatchIsInNoKey) {
  Spec spec = Gemm();
  spec.dims.push_back({"b"});
  const std::set<std::string> all = Keys(spec);
  for (int64_t b : {1, 7, 4096}) {
    spec.dims[3].value = b;
    EXPECT_EQ(Keys(spec), all) << b;
  }
  // Where the matrices lie is not, either.
  spec.operands[1].stride_mode = StrideMode::kStatic;
  spec.operands[1].strides = {0, 4096, 1};
  EXPECT_EQ(Keys(spec), all);
}

TEST(GemmPlan, DenseBatchesLieBehindEachOther) {
  Spec spec = Gemm(24, 40);
  spec.dims.push_back({"b"});
  spec.attrs.push_back({"act", "swiglu"});
  spec.attrs.push_back({"pairing", "interleaved"});
  spec.operands.push_back({"c", "bf16"});
  const Plan plan = PlanOf(spec);
  const int64_t dims[] = {10, 24, 40, 3};
  const int64_t wanted[][3] = {
      {10 * 40, 40, 1}, {48 * 40, 40, 1}, {10 * 24, 24, 1}, {10 * 48, 48, 1}};
  ASSERT_EQ(plan.operands.size(), 4u);
  for (size_t x = 0; x < 4; ++x) {
    ASSERT_EQ(plan.operands[x].axes, 3);
    EXPECT_EQ(*Evaluate(plan.operands[x].extents[0], {dims, {}, 256}), 3);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_EQ(*Evaluate(plan.operands[x].strides[axis], {dims, {}, 256}),
                wanted[x][axis])
          << x << " " << axis;
    }
  }
}

TEST(GemmPlan, ALaunchOfNothingHasAnEmptyGrid) {
  Spec spec = Gemm();
  spec.dims.push_back({"b"});
  const Plan plan = PlanOf(spec);
  EXPECT_NE(Match(plan, {0, 4096, 4096, 2}, {}), "none");
  EXPECT_NE(Match(plan, {5, 4096, 4096, 0}, {}), "none");
  for (const Variant& variant : plan.variants) {
    for (const auto& [m, b] : {std::pair{0, 2}, std::pair{5, 0}}) {
      const int64_t dims[] = {m, 4096, 4096, b};
      int64_t groups = 1;
      for (const Expr& grid :
           std::get<LaunchStep>(variant.recipe.steps.front()).grid) {
        groups *= *Evaluate(grid, {dims, {}, 256});
      }
      EXPECT_EQ(groups, 0) << variant.name;
    }
  }
}

TEST(GemmPlan, ARangeOfTokensKeepsSomeOfTheKernels) {
  const std::set<std::string> all = Keys(Gemm());
  Spec decode = Gemm();
  decode.dims[0].max = 16;
  const std::set<std::string> few = Keys(decode);
  EXPECT_EQ(few.size(), 1u);
  EXPECT_TRUE(all.contains(*few.begin()));
}

// All Linear layers of a few models: how many objects they need together.
TEST(GemmPlan, WeightsOfAClassShareKernels) {
  const std::pair<int64_t, int64_t> weights[] = {
      {6144, 4096},  {4096, 4096}, {28672, 4096}, {4096, 14336},
      {10240, 5120}, {5120, 8192}, {51200, 5120}, {5120, 25600},
      {10240, 8192}, {8192, 8192}, {57344, 8192}, {8192, 28672}};
  std::set<std::string> keys;
  for (const auto& [n, k] : weights) keys.merge(Keys(Gemm(n, k)));
  EXPECT_LE(keys.size(), AllGemmTiles(GemmSchedule::kDma).size());
}

using Change = std::function<void(Spec&)>;

TEST(GemmPlan, WhatIsBakedIsInEveryKey) {
  const std::pair<const char*, Change> changes[] = {
      {"dtype",
       [](Spec& s) { s.operands[0].dtype = s.operands[1].dtype = "f16"; }},
      {"output dtype", [](Spec& s) { s.operands[2].dtype = "f32"; }},
      {"layout", [](Spec& s) { s.attrs[0].value = "nn"; }},
      {"c", [](Spec& s) { s.operands.push_back({"c", "bf16"}); }},
      {"bias", [](Spec& s) { s.operands.push_back({"bias", "bf16"}); }},
      {"residual", [](Spec& s) { s.operands.push_back({"residual", "bf16"}); }},
      {"act", [](Spec& s) { s.attrs.push_back({"act", "relu"}); }},
      {"batch", [](Spec& s) { s.dims.push_back({"b"}); }},
      {"f32 bias", [](Spec& s) { s.operands.push_back({"bias", "f32"}); }},
      {"odd k", [](Spec& s) { s.dims[2].value = 4095; }},
      {"odd n", [](Spec& s) { s.dims[1].value = 4095; }},
      {"alignment of a", [](Spec& s) { s.operands[0].alignment = 2; }},
      {"alignment of d", [](Spec& s) { s.operands[2].alignment = 2; }},
      {"target", [](Spec& s) { s.target = "gfx950:xnack-"; }},
  };
  const std::set<std::string> before = Keys(Gemm());
  for (const auto& [name, change] : changes) {
    Spec spec = Gemm();
    change(spec);
    for (const std::string& key : Keys(spec)) {
      EXPECT_FALSE(before.contains(key)) << name;
    }
  }
}

TEST(GemmPlan, StridesAreArguments) {
  const std::set<std::string> dense = Keys(Gemm());
  Spec spec = Gemm();
  spec.operands[0].stride_mode = StrideMode::kStatic;
  spec.operands[0].strides = {8192, 1};
  EXPECT_EQ(Keys(spec), dense);
  spec.operands[0].strides = {8193, 1};
  for (const std::string& key : Keys(spec)) EXPECT_FALSE(dense.contains(key));
}

TEST(GemmPlan, EveryTokenCountMatchesAVariant) {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (int64_t n : {1, 8, 4096}) {
      const Plan plan = PlanOf(Gemm(n, 128, layout));
      for (int64_t m = 1; m < 3000; ++m) {
        ASSERT_NE(Match(plan, {m, n, 128}, {}), "none") << layout << " " << m;
      }
      EXPECT_NE(Match(plan, {plan.dims[0].max, n, 128}, {}), "none");
    }
  }
}

TEST(GemmPlan, TokensAsRowLengthChooseTheAccess) {
  const Plan plan = PlanOf(Gemm(4096, 4096, "tn"));
  EXPECT_THAT(Match(plan, {4096, 4096, 4096}, {}), HasSubstr("dma_"));
  EXPECT_THAT(Match(plan, {4097, 4096, 4096}, {}), HasSubstr("staged_"));
  Spec multiple = Gemm(4096, 4096, "tn");
  multiple.dims[0].multiple_of = 8;
  for (const Variant& variant : PlanOf(multiple).variants) {
    EXPECT_THAT(variant.name, HasSubstr("dma_"));
  }
}

TEST(GemmPlan, DynamicStridesChooseTheAccess) {
  Spec spec = Gemm(4096, 4096);
  spec.operands[0].stride_mode = StrideMode::kDynamic;
  spec.operands[2].stride_mode = StrideMode::kDynamic;
  const Plan plan = PlanOf(spec);
  const auto match = [&](int64_t lda, int64_t ldd) {
    std::vector<int64_t> strides(24, 1);
    strides[0] = lda;
    strides[8] = 4096;
    strides[16] = ldd;
    return Match(plan, {100, 4096, 4096}, strides);
  };
  EXPECT_THAT(match(4096, 4096), HasSubstr("dma_64"));
  EXPECT_THAT(match(4096, 4097), HasSubstr("dma_narrow"));
  EXPECT_THAT(match(4097, 4096), HasSubstr("staged"));
  EXPECT_EQ(match(4095, 4096), "none") << "rows would overlap";
  EXPECT_EQ(match(int64_t{1} << 21, 4096), "none");
}

// A spec of random extents, layouts, strides and alignments.
Spec RandomSpec(std::mt19937& random) {
  const auto pick = [&](int64_t most) {
    const int64_t kind = random() % 3;
    const int64_t value = 1 + static_cast<int64_t>(random()) % most;
    return kind == 0 ? value : std::max<int64_t>(1, value / 8 * 8);
  };
  const char* layouts[] = {"nn", "nt", "tn", "tt"};
  Spec spec = Gemm(pick(9000), pick(9000), layouts[random() % 4]);
  if (random() % 2) spec.dims[0].max = pick(5000);
  if (random() % 3 == 0) spec.dims[0].multiple_of = 8;
  if (random() % 4 == 0) {
    spec.dims[1] = {"n"};
    spec.dims[1].multiple_of = static_cast<int64_t>(random()) % 9;
  }
  if (random() % 2) spec.operands.push_back({"c", "bf16"});
  if (random() % 2) spec.operands.push_back({"bias", "f32"});
  for (Operand& operand : spec.operands) {
    if (operand.name == "bias") continue;
    operand.alignment = 1u << (random() % 6);
    operand.stride_mode = static_cast<StrideMode>(random() % 3);
    if (operand.stride_mode == StrideMode::kStatic) {
      operand.strides = {pick(20000), 1};
    }
  }
  return spec;
}

// Whatever plans serves every launch that its dims and operands promise.
TEST(GemmPlan, RandomSpecsAreServedWhollyOrRefused) {
  std::mt19937 random(17);
  int planned = 0;
  for (int i = 0; i < 3000; ++i) {
    const absl::StatusOr<Plan> plan = MakePlan(RandomSpec(random));
    if (!plan.ok()) {
      EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument)
          << plan.status();
      continue;
    }
    ++planned;
    for (int launch = 0; launch < 20; ++launch) {
      std::vector<int64_t> dims;
      for (const PlanDim& dim : plan->dims) {
        const int64_t least = (dim.min + dim.multiple_of - 1) / dim.multiple_of;
        const int64_t most = dim.max / dim.multiple_of;
        ASSERT_LE(least, most) << dim.name;
        dims.push_back((least + random() % (most - least + 1)) *
                       dim.multiple_of);
      }
      std::vector<int64_t> strides(plan->operands.size() * 8, 1);
      for (size_t x = 0; x < plan->operands.size(); ++x) {
        const PlanOperand& operand = plan->operands[x];
        const int64_t inner =
            *Evaluate(operand.extents.back(), {dims, strides, 256});
        const bool fixed = operand.stride_mode != StrideMode::kDynamic;
        strides[x * 8] =
            fixed ? *Evaluate(operand.strides[0], {dims, strides, 256})
                  : std::clamp<int64_t>(inner + random() % 64, 1, 2097151);
      }
      ASSERT_NE(Match(*plan, dims, strides), "none") << "spec " << i;
    }
  }
  EXPECT_GT(planned, 500);
}

TEST(GemmPlan, PinnedTuningIsKeptAndShown) {
  for (const GemmTile& tile : AllGemmTiles(GemmSchedule::kDma)) {
    Spec spec = Gemm();
    spec.tuning = GemmPins(tile);
    const Plan plan = PlanOf(spec);
    ASSERT_EQ(plan.variants.size(), 1u);
    EXPECT_EQ(plan.variants[0].recipe.steps.size(),
              tile.split_k == 1 ? 1u : 2u);
    EXPECT_EQ(plan.kernels.size(), plan.variants[0].recipe.steps.size());
    for (const Tuning& pin : spec.tuning) {
      EXPECT_EQ(plan.resolved.FindTuning(pin.name)->value, pin.value)
          << pin.name;
    }
    EXPECT_EQ(*plan.kernels[0].spec.GetInt("tile_m"), tile.m);
    EXPECT_EQ(*plan.kernels[0].spec.GetInt("waves_k"), tile.waves_k);
  }
  Spec spec = Gemm();
  spec.tuning = {{"tile_m", 100}};
  const absl::Status status = MakePlan(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("tile_m=100"), HasSubstr("tile_m=256")));
}

TEST(GemmPlan, RefusalsNameTheField) {
  const std::tuple<const char*, absl::StatusCode, Change> cases[] = {
      {"dim n: found 0, allowed 1 to 2097151",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.dims[1].value = 0; }},
      {"dim k: found none", absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.dims.pop_back(); }},
      {"dim n: found 1099511627776", absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.dims[1].value = int64_t{1} << 40; }},
      {"dtype of operand b: found 'f16', allowed bf16",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.operands[1].dtype = "f16"; }},
      {"operand d: found none", absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.operands.pop_back(); }},
      {"strides of operand a: found 4095", absl::StatusCode::kInvalidArgument,
       [](Spec& s) {
         s.operands[0].stride_mode = StrideMode::kStatic;
         s.operands[0].strides = {4095, 1};
       }},
      {"strides of operand a: found 5, allowed row strides of 8",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) {
         s.attrs[0].value = "tt";
         s.dims[0].multiple_of = 8;
         s.operands[0].stride_mode = StrideMode::kStatic;
         s.operands[0].strides = {5, 1};
       }},
      {"attribute act: found 'tanh', allowed none, relu, gelu_tanh",
       absl::StatusCode::kUnimplemented,
       [](Spec& s) { s.attrs.push_back({"act", "tanh"}); }},
      {"attribute pairing: found none, allowed halves, interleaved",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.attrs.push_back({"act", "swiglu"}); }},
      {"attribute pairing: found one, allowed one with swiglu only",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.attrs.push_back({"pairing", "halves"}); }},
      {"dim n: found 1048576, allowed 1 to 1048575",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) {
         s.dims[1].value = 1 << 20;
         s.attrs.push_back({"act", "swiglu"});
         s.attrs.push_back({"pairing", "interleaved"});
       }},
      {"strides of operand d: found 0, allowed batch strides of 1",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) {
         s.dims.push_back({"b"});
         s.operands[2].stride_mode = StrideMode::kStatic;
         s.operands[2].strides = {0, 4096, 1};
       }},
      {"strides of operand b: found 4096, 1, allowed a batch stride, a row",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) {
         s.dims.push_back({"b"});
         s.operands[1].stride_mode = StrideMode::kStatic;
         s.operands[1].strides = {4096, 1};
       }},
      {"attribute layout: found 'ab', allowed nn, nt, tn, tt",
       absl::StatusCode::kUnimplemented,
       [](Spec& s) { s.attrs[0].value = "ab"; }},
      {"alignment of operand d: found 1", absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.operands[2].alignment = 1; }},
  };
  for (const auto& [message, code, change] : cases) {
    Spec spec = Gemm();
    change(spec);
    const absl::Status status = MakePlan(spec).status();
    EXPECT_EQ(status.code(), code) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(GemmTiles, FitTheDevice) {
  for (const GemmSchedule schedule :
       {GemmSchedule::kDma, GemmSchedule::kStaged}) {
    for (const GemmTile& tile : AllGemmTiles(schedule)) {
      EXPECT_LE(tile.lds_bytes(), 160 * 1024);
      EXPECT_EQ(tile.m % (16 * tile.waves_m), 0);
      EXPECT_EQ(tile.n % (16 * tile.waves_n), 0);
      EXPECT_EQ(tile.k % 32, 0);
      // A wave moves whole rounds of 1 KiB of each panel, alone where it has
      // panels of its own.
      const int waves = tile.waves_k > 1 ? 1 : tile.waves();
      EXPECT_EQ(tile.m * tile.k * 2 % (1024 * waves), 0);
      EXPECT_EQ(tile.n * tile.k * 2 % (1024 * waves), 0);
      if (tile.waves_k > 1) {
        EXPECT_EQ(tile.waves_m * tile.waves_n, 1);
      }
    }
  }
}

std::vector<GemmBucket> Buckets(absl::Span<const GemmTile> tiles, int64_t min,
                                int64_t max, double n_and_k) {
  return TileBuckets(tiles, min, max, 1, [&](const GemmTile& tile, double m) {
    return GemmMicroseconds(tile, m, n_and_k, n_and_k);
  });
}

TEST(GemmTiles, BucketsCoverEveryRangeWithoutGaps) {
  const auto tiles = GemmTiles(GemmSchedule::kDma);
  const std::pair<int64_t, int64_t> ranges[] = {
      {1, int64_t{1} << 30}, {1, 1}, {17, 17}, {100, 9000}, {20000, 30000}};
  for (const auto& [min, max] : ranges) {
    int64_t next = min;
    for (const GemmBucket& bucket : Buckets(tiles, min, max, 4096)) {
      EXPECT_EQ(bucket.min, next);
      EXPECT_GE(bucket.max, bucket.min);
      next = bucket.max + 1;
    }
    EXPECT_EQ(next, max + 1);
  }
}

// What is launched is what the model thought of.
TEST(GemmTiles, SplitsAreThoseOfTheModel) {
  for (const GemmTile& tile : AllGemmTiles(GemmSchedule::kDma)) {
    for (const int64_t tiles : {1, 3, 16, 100, 256, 1000}) {
      for (const int64_t k : {1, 500, 4096, 28672}) {
        const int64_t parts =
            *Evaluate(GemmSplits(tile, tile.lds_bytes(), Expr::Const(tiles),
                                 Expr::Const(k)),
                      {});
        EXPECT_EQ(parts,
                  GemmSplits(tile, tile.lds_bytes(), double(tiles), double(k)));
        EXPECT_GE(parts, 1);
        EXPECT_LE(parts, 16);
        EXPECT_TRUE(tile.split_k == 0 || parts == tile.split_k);
      }
    }
  }
}

TEST(GemmPlan, ASplitIsALaunchMoreAndAWorkspace) {
  Spec spec = Gemm(4096, 8192);
  spec.tuning = {
      {"split_k", 6}, {"tile_m", 64}, {"tile_n", 64}, {"waves_k", 1}};
  const Plan plan = PlanOf(spec);
  ASSERT_EQ(plan.variants.size(), 1u);
  const Recipe& recipe = plan.variants[0].recipe;
  ASSERT_EQ(recipe.steps.size(), 2u);
  const std::vector<int64_t> dims = {50, 4096, 8192};
  const LaunchValues values{dims, {}, 256};
  // Whole blocks of 16 x 16, f32, in six parts.
  EXPECT_EQ(*Evaluate(recipe.workspace_bytes, values), 6 * 64 * 4096 * 4);
  const LaunchStep& partial = std::get<LaunchStep>(recipe.steps[0]);
  EXPECT_EQ(*Evaluate(partial.grid[0], values), 64);
  EXPECT_EQ(*Evaluate(partial.grid[1], values), 6);
  const LaunchStep& sum = std::get<LaunchStep>(recipe.steps[1]);
  EXPECT_EQ(*Evaluate(sum.grid[0], values), 4 * 32);
  spec.tuning[0].value = 65;
  EXPECT_EQ(MakePlan(spec).status().code(), absl::StatusCode::kInvalidArgument);
}

// The model's order where measurements of other implementations leave no doubt.
TEST(GemmTiles, ModelPrefersSmallTilesForFewRowsAndLargeOnesForMany) {
  const auto tiles = GemmTiles(GemmSchedule::kDma);
  const std::vector<GemmBucket> buckets =
      Buckets(tiles, 1, int64_t{1} << 30, 8192);
  EXPECT_EQ(buckets.front().tile.m, 16);
  EXPECT_EQ(buckets.back().tile.m, 256);
  for (size_t i = 1; i < buckets.size(); ++i) {
    EXPECT_GE(buckets[i].tile.m * buckets[i].tile.n,
              buckets[i - 1].tile.m * buckets[i - 1].tile.n);
  }
}

}  // namespace
}  // namespace ingot
