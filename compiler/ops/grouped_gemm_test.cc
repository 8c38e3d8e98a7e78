// grouped_gemm's plans: which kernels, which variants, what is refused.
#include <functional>
#include <random>
#include <set>

#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

// Places in a plan's dims.
enum { kTotalM, kN, kK, kG };

Spec Grouped(int64_t g = 8, int64_t n = 4096, int64_t k = 4096,
             const char* b_layout = "gkn") {
  Spec spec{"grouped_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"total_m"}, {"n", n}, {"k", k}, {"g", g}};
  spec.operands = {
      {"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}, {"offs", "i32"}};
  spec.attrs = {{"b_layout", std::string(b_layout)}};
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

TEST(GroupedGemmPlan, TokenCountIsNotInAnyKey) {
  const std::set<std::string> all = Keys(Grouped());
  for (int64_t rows : {0, 1, 7, 64, 100, 4096, 100000}) {
    Spec spec = Grouped();
    spec.dims[kTotalM].value = rows;
    EXPECT_EQ(Keys(spec), all) << rows;
    EXPECT_EQ(PlanOf(spec).spec_digest, PlanOf(Grouped()).spec_digest);
  }
}

// Experts of a few models: g, n, k of gate and up, and of down.
TEST(GroupedGemmPlan, ExpertsShareKernels) {
  std::set<std::string> keys;
  for (const auto& [g, n, k] : {std::array<int64_t, 3>{8, 28672, 4096},
                                {8, 4096, 14336},
                                {64, 2048, 2048},
                                {60, 1408, 2048},
                                {16, 8192, 5120}}) {
    keys.merge(Keys(Grouped(g, n, k)));
  }
  EXPECT_LE(keys.size(), GemmTiles(GemmSchedule::kDma).size());
}

using Change = std::function<void(Spec&)>;

TEST(GroupedGemmPlan, WhatIsBakedIsInEveryKey) {
  const std::pair<const char*, Change> changes[] = {
      {"dtype",
       [](Spec& s) { s.operands[0].dtype = s.operands[1].dtype = "f16"; }},
      {"output dtype", [](Spec& s) { s.operands[2].dtype = "f32"; }},
      {"layout", [](Spec& s) { s.attrs[0].value = "gnk"; }},
      {"bias", [](Spec& s) { s.operands.push_back({"bias", "bf16"}); }},
      {"f32 bias", [](Spec& s) { s.operands.push_back({"bias", "f32"}); }},
      {"room for groups", [](Spec& s) { s.dims[kG].value = 65; }},
      {"odd k", [](Spec& s) { s.dims[kK].value = 4095; }},
      {"odd n", [](Spec& s) { s.dims[kN].value = 4095; }},
      {"alignment of a", [](Spec& s) { s.operands[0].alignment = 2; }},
      {"alignment of d", [](Spec& s) { s.operands[2].alignment = 2; }},
      {"target", [](Spec& s) { s.target = "gfx950:xnack-"; }},
  };
  const std::set<std::string> before = Keys(Grouped());
  for (const auto& [name, change] : changes) {
    Spec spec = Grouped();
    change(spec);
    for (const std::string& key : Keys(spec)) {
      EXPECT_FALSE(before.contains(key)) << name;
    }
  }
}

TEST(GroupedGemmPlan, StridesAreArguments) {
  const std::set<std::string> dense = Keys(Grouped());
  Spec spec = Grouped();
  spec.operands[1].stride_mode = StrideMode::kStatic;
  spec.operands[1].strides = {8192 * 4096, 8192, 1};
  EXPECT_EQ(Keys(spec), dense);
  // A group that starts where no row could: fast accesses are gone.
  spec.operands[1].strides = {8192 * 4096 + 1, 8192, 1};
  for (const std::string& key : Keys(spec)) EXPECT_FALSE(dense.contains(key));
}

// The first variant whose dim and stride guards hold.
const Variant* Match(const Plan& plan, const std::vector<int64_t>& dims,
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
    if (holds) return &variant;
  }
  return nullptr;
}

int64_t WorkgroupsOf(const Plan& plan, const Variant& variant,
                     const std::vector<int64_t>& dims) {
  const auto& launch = std::get<LaunchStep>(variant.recipe.steps[0]);
  const std::vector<int64_t> strides(plan.operands.size() * 8, 1);
  const absl::StatusOr<int64_t> groups =
      Evaluate(launch.grid[0], {dims, strides, 256});
  EXPECT_TRUE(groups.ok()) << groups.status();
  return groups.value_or(-1);
}

TEST(GroupedGemmPlan, EveryRowCountMatchesAVariantAndTheGridHoldsItsTiles) {
  for (const int64_t g : {1, 8, 300}) {
    const Plan plan = PlanOf(Grouped(g, 96, 128));
    for (int64_t rows = 0; rows < 3000; rows += 1 + rows / 50) {
      const std::vector<int64_t> dims = {rows, 96, 128, g};
      const Variant* variant = Match(plan, dims, {});
      ASSERT_NE(variant, nullptr) << rows;
      const int64_t groups = WorkgroupsOf(plan, *variant, dims);
      EXPECT_EQ(groups == 0, rows == 0) << rows;
      EXPECT_LE(groups, 512);
    }
    const std::vector<int64_t> most = {plan.dims[kTotalM].max, 96, 128, g};
    ASSERT_NE(Match(plan, most, {}), nullptr);
    EXPECT_GE(WorkgroupsOf(plan, *Match(plan, most, {}), most), 256);
  }
}

TEST(GroupedGemmPlan, MoreRowsAGroupGetLargerTiles) {
  const auto tile_m = [](int64_t g, int64_t rows) {
    const Plan plan = PlanOf(Grouped(g));
    const Variant* variant = Match(plan, {rows, 4096, 4096, g}, {});
    const auto& launch = std::get<LaunchStep>(variant->recipe.steps[0]);
    return *plan.kernels[launch.kernel].spec.GetInt("tile_m");
  };
  for (int64_t g : {8, 64, 256}) {
    EXPECT_EQ(tile_m(g, 1), 16) << g;
    EXPECT_EQ(tile_m(g, 4 * g), 16) << g;
    EXPECT_GE(tile_m(g, 4096 * g), 128) << g;
    // Not much larger than the groups.
    for (int64_t each = 1; each <= 4096; each *= 4) {
      EXPECT_LE(tile_m(g, each * g), std::max<int64_t>(16, 4 * each))
          << g << " groups of " << each;
    }
  }
}

TEST(GroupedGemmPlan, TilesCanBeNumbered) {
  for (int64_t n : {1, 4096, 2097151}) {
    const PlanDim& rows = PlanOf(Grouped(1024, n)).dims[kTotalM];
    EXPECT_LT((rows.max / 16 + 1024) * ((n + 63) / 64), int64_t{1} << 31);
    EXPECT_GT(rows.max, 1000000);
    EXPECT_EQ(rows.min, 0);
  }
  Spec spec = Grouped();
  spec.dims[kTotalM].min = 5;
  EXPECT_EQ(PlanOf(spec).dims[kTotalM].min, 5);
}

TEST(GroupedGemmPlan, DynamicStridesChooseTheAccess) {
  Spec spec = Grouped();
  for (int i = 0; i < 3; ++i) {
    spec.operands[i].stride_mode = StrideMode::kDynamic;
  }
  const Plan plan = PlanOf(spec);
  const auto match = [&](int64_t lda, int64_t group, int64_t ldb, int64_t ldd) {
    std::vector<int64_t> strides(40, 1);
    strides[0] = lda;
    strides[8] = group;
    strides[9] = ldb;
    strides[16] = ldd;
    const Variant* found = Match(plan, {100, 4096, 4096, 8}, strides);
    return found == nullptr ? "none" : found->name;
  };
  EXPECT_THAT(match(4096, 4096 * 4096, 4096, 4096), HasSubstr("dma_"));
  EXPECT_THAT(match(4096, 4096 * 4096, 4096, 4097), HasSubstr("dma_narrow"));
  EXPECT_THAT(match(4097, 4096 * 4096, 4096, 4096), HasSubstr("staged"));
  EXPECT_THAT(match(4096, 4096 * 4096 + 4, 4096, 4096), HasSubstr("staged"));
  EXPECT_THAT(match(4096, 0, 4096, 4096), HasSubstr("dma_"));
  EXPECT_EQ(match(4095, 4096 * 4096, 4096, 4096), "none");
}

// A spec of random extents, layouts, strides and alignments.
Spec RandomSpec(std::mt19937& random) {
  const auto pick = [&](int64_t most) {
    const int64_t value = 1 + static_cast<int64_t>(random()) % most;
    return random() % 3 == 0 ? value : std::max<int64_t>(1, value / 8 * 8);
  };
  Spec spec = Grouped(pick(1024), pick(9000), pick(9000),
                      random() % 2 == 0 ? "gkn" : "gnk");
  if (random() % 2) spec.dims[kTotalM].max = pick(5000);
  if (random() % 4 == 0) {
    spec.dims[kN] = {"n"};
    spec.dims[kN].multiple_of = static_cast<int64_t>(random()) % 9;
  }
  if (random() % 4 == 0) spec.dims[kG] = {"g"};
  if (random() % 2) spec.operands.push_back({"bias", "f32"});
  for (int i = 0; i < 3; ++i) {
    Operand& operand = spec.operands[i];
    operand.alignment = 1u << (random() % 6);
    operand.stride_mode = static_cast<StrideMode>(random() % 3);
    if (operand.stride_mode != StrideMode::kStatic) continue;
    operand.strides = {pick(20000), 1};
    if (i == 1) operand.strides.insert(operand.strides.begin(), pick(1 << 30));
  }
  return spec;
}

// Whatever plans serves every launch that its dims and operands promise.
TEST(GroupedGemmPlan, RandomSpecsAreServedWhollyOrRefused) {
  std::mt19937 random(17);
  int planned = 0;
  for (int i = 0; i < 2000; ++i) {
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
      for (size_t x = 0; x < 3; ++x) {
        const PlanOperand& operand = plan->operands[x];
        for (int axis = 0; axis + 1 < operand.axes; ++axis) {
          const int64_t inner =
              *Evaluate(operand.extents.back(), {dims, strides, 256});
          const bool fixed = operand.stride_mode != StrideMode::kDynamic;
          strides[x * 8 + axis] =
              fixed ? *Evaluate(operand.strides[axis], {dims, strides, 256})
                    : std::min<int64_t>(inner + random() % 64, 2097151);
        }
      }
      ASSERT_NE(Match(*plan, dims, strides), nullptr) << "spec " << i;
    }
  }
  EXPECT_GT(planned, 300);
}

TEST(GroupedGemmPlan, PinnedTuningIsKeptAndShown) {
  for (const GemmTile& tile : GemmTiles(GemmSchedule::kDma)) {
    Spec spec = Grouped();
    spec.tuning = {{"tile_m", tile.m},
                   {"tile_n", tile.n},
                   {"waves_m", tile.waves_m},
                   {"waves_n", tile.waves_n}};
    const Plan plan = PlanOf(spec);
    ASSERT_EQ(plan.kernels.size(), 1u);
    EXPECT_EQ(plan.resolved.FindTuning("tile_k")->value, tile.k);
    EXPECT_EQ(plan.resolved.FindTuning("stages")->value, tile.stages);
    EXPECT_EQ(*plan.kernels[0].spec.GetInt("tile_m"), tile.m);
  }
}

TEST(GroupedGemmPlan, RefusalsNameTheField) {
  const std::tuple<const char*, absl::StatusCode, Change> cases[] = {
      {"dim g: found 1025, allowed 1 to 1024",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.dims[kG].value = 1025; }},
      {"dim n: found 0, allowed 1 to 2097151",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.dims[kN].value = 0; }},
      {"dim total_m: found none", absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.dims.erase(s.dims.begin()); }},
      {"operand offs: found none", absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.operands.pop_back(); }},
      {"dtype of operand offs: found 'i64', allowed i32",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.operands[3].dtype = "i64"; }},
      {"dtype of operand b: found 'f16', allowed bf16",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.operands[1].dtype = "f16"; }},
      {"strides of operand b: found 4096, 1, allowed a batch stride",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) {
         s.operands[1].stride_mode = StrideMode::kStatic;
         s.operands[1].strides = {4096, 1};
       }},
      {"strides of operand b: found 4095", absl::StatusCode::kInvalidArgument,
       [](Spec& s) {
         s.operands[1].stride_mode = StrideMode::kStatic;
         s.operands[1].strides = {1 << 24, 4095, 1};
       }},
      {"attribute b_layout: found 'mk', allowed gkn, gnk",
       absl::StatusCode::kUnimplemented,
       [](Spec& s) { s.attrs[0].value = "mk"; }},
      {"tuning of grouped_gemm: found tile_m=100",
       absl::StatusCode::kInvalidArgument,
       [](Spec& s) { s.tuning = {{"tile_m", 100}}; }},
  };
  for (const auto& [message, code, change] : cases) {
    Spec spec = Grouped();
    change(spec);
    const absl::Status status = MakePlan(spec).status();
    EXPECT_EQ(status.code(), code) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

}  // namespace
}  // namespace ingot
