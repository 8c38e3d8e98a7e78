// scaled_gemm's plans: which kernels, which variants, what is refused.
#include <functional>
#include <set>

#include "compiler/candidates.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFormats[] = {"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1"};

Spec ScaledGemm(const std::string& a, const std::string& b, int64_t n = 4096,
                int64_t k = 4096) {
  Spec spec{"scaled_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", a},
                   {"b", b},
                   {"scale_a", "e8m0"},
                   {"scale_b", "e8m0"},
                   {"d", "bf16"}};
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

TEST(ScaledGemmPlan, EveryPairOfFormatsFitsTheDevice) {
  std::set<std::string> all;
  for (const char* a : kFormats) {
    for (const char* b : kFormats) {
      for (const PlanKernel& kernel : PlanOf(ScaledGemm(a, b)).kernels) {
        EXPECT_LE(kernel.spec.lds_bytes, 160u * 1024);
        EXPECT_TRUE(all.insert(kernel.key).second) << kernel.spec.symbol;
      }
    }
  }
}

TEST(ScaledGemmPlan, TokenCountIsNotInAnyKey) {
  const std::set<std::string> all = Keys(ScaledGemm("e4m3fn", "e2m1"));
  for (int64_t m : {1, 64, 100, 8192}) {
    Spec spec = ScaledGemm("e4m3fn", "e2m1");
    spec.dims[0].value = m;
    EXPECT_EQ(Keys(spec), all) << m;
  }
}

TEST(ScaledGemmPlan, WeightsOfAClassShareKernels) {
  std::set<std::string> keys;
  for (const auto& [n, k] : {std::pair<int64_t, int64_t>{6144, 7168},
                             {4096, 4096},
                             {28672, 4096},
                             {7168, 3072}}) {
    keys.merge(Keys(ScaledGemm("e2m1", "e2m1", n, k)));
  }
  EXPECT_LE(keys.size(), AllScaledTiles(GemmSchedule::kDma, {4, 4}).size());
}

TEST(ScaledGemmPlan, WhatIsBakedIsInEveryKey) {
  const std::pair<const char*, std::function<void(Spec&)>> changes[] = {
      {"a", [](Spec& s) { s.operands[0].dtype = "e5m2"; }},
      {"b", [](Spec& s) { s.operands[1].dtype = "e2m1"; }},
      {"d", [](Spec& s) { s.operands[4].dtype = "f32"; }},
      {"bias", [](Spec& s) { s.operands.push_back({"bias", "bf16"}); }},
      {"scales by bytes", [](Spec& s) { s.dims[2].value = 4128; }},
      {"odd n", [](Spec& s) { s.dims[1].value = 4095; }},
      {"scale layout",
       [](Spec& s) { s.attrs = {{"scale_layout", "shuffled_16x4"}}; }},
      {"weight layout",
       [](Spec& s) { s.attrs = {{"weight_layout", "shuffled"}}; }}};
  const std::set<std::string> before = Keys(ScaledGemm("e4m3fn", "e4m3fn"));
  for (const auto& [what, change] : changes) {
    Spec spec = ScaledGemm("e4m3fn", "e4m3fn");
    change(spec);
    for (const std::string& key : Keys(spec)) {
      EXPECT_FALSE(before.contains(key)) << what;
    }
  }
}

// Bytes, not elements, and padded where layouts are shuffled.
TEST(ScaledGemmPlan, ExtentsOfPackedAndShuffledOperands) {
  Spec spec = ScaledGemm("e2m1", "e2m3", 100, 320);
  spec.attrs = {{"scale_layout", "shuffled_16x4"},
                {"weight_layout", "shuffled"}};
  const Plan plan = PlanOf(spec);
  const int64_t dims[] = {40, 100, 320};
  const LaunchValues values{dims, {}, 256};
  const std::pair<int64_t, int64_t> wanted[] = {
      {40, 160}, {112, 240}, {256, 16}, {256, 16}, {40, 100}};
  for (size_t i = 0; i < plan.operands.size(); ++i) {
    const std::vector<Expr>& extents = plan.operands[i].extents;
    EXPECT_EQ(*Evaluate(extents[0], values), wanted[i].first) << i;
    EXPECT_EQ(*Evaluate(extents[1], values), wanted[i].second) << i;
  }
}

TEST(ScaledGemmPlan, RefusalsSayWhy) {
  Spec spec = ScaledGemm("e4m3fn", "e4m3fn", 4096, 4080);
  EXPECT_THAT(MakePlan(spec).status().ToString(), HasSubstr("multiples of 32"));
  spec = ScaledGemm("e4m3fn", "e2m3", 4096, 96);
  spec.attrs = {{"weight_layout", "shuffled"}};
  EXPECT_THAT(MakePlan(spec).status().ToString(), HasSubstr("16 bytes"));
}

TEST(ScaledGemmPlan, ASplitIsALaunchMoreAndAWorkspace) {
  Spec spec = ScaledGemm("e4m3fn", "e2m1", 4096, 8192);
  spec.tuning = {
      {"split_k", 6}, {"tile_m", 64}, {"tile_n", 64}, {"waves_k", 1}};
  const Plan plan = PlanOf(spec);
  ASSERT_EQ(plan.variants.size(), 1u);
  ASSERT_EQ(plan.kernels.size(), 2u);
  const Recipe& recipe = plan.variants[0].recipe;
  ASSERT_EQ(recipe.steps.size(), 2u);
  const int64_t dims[] = {100, 4096, 8192};
  const LaunchValues values{dims, {}, 256};
  // Whole blocks of 16 rows, f32.
  EXPECT_EQ(*Evaluate(recipe.workspace_bytes, values), 6 * 112 * 4096 * 4);
  const auto& partial = std::get<LaunchStep>(recipe.steps[0]);
  EXPECT_EQ(*Evaluate(partial.grid[0], values), 2 * 64);
  EXPECT_EQ(*Evaluate(partial.grid[1], values), 6);
  EXPECT_EQ(plan.resolved.FindTuning("split_k")->value, 6);
}

TEST(ScaledGemmPlan, CandidatesHaveTilesThatShareK) {
  const absl::StatusOr<std::vector<Candidate>> all =
      Candidates(ScaledGemm("e4m3fn", "e4m3fn"));
  ASSERT_TRUE(all.ok()) << all.status();
  int split = 0, shared = 0;
  for (const Candidate& candidate : *all) {
    for (const Tuning& pin : candidate.tuning) {
      split += pin.name == "split_k" && pin.value == 0;
      shared += pin.name == "waves_k" && pin.value > 1;
    }
  }
  EXPECT_GT(split, 0);
  EXPECT_GT(shared, 0);
}

TEST(ScaledGemmModel, MuchKAndFewTilesAreSplit) {
  const auto chosen = [](int64_t n, int64_t k) {
    std::string names;
    for (const Variant& variant :
         PlanOf(ScaledGemm("e4m3fn", "e4m3fn", n, k)).variants) {
      names += variant.name + " ";
    }
    return names;
  };
  EXPECT_THAT(chosen(5120, 25600), HasSubstr("_split"));
  EXPECT_THAT(chosen(4096, 4096), ::testing::Not(HasSubstr("_split")));
  EXPECT_THAT(chosen(4096, 4096), HasSubstr("_k4"));
}

TEST(ScaledGemmModel, FewRowsGetSmallTilesAndManyTheLargest) {
  const Plan plan = PlanOf(ScaledGemm("e4m3fn", "e4m3fn", 8192, 8192));
  EXPECT_THAT(plan.variants.front().name, HasSubstr("dma_16x"));
  EXPECT_THAT(plan.variants.back().name, HasSubstr("256x256"));
}

}  // namespace
}  // namespace ingot
