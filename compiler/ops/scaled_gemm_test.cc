// scaled_gemm's plans: which kernels, which variants, what is refused.
#include <functional>
#include <set>

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
  EXPECT_LE(keys.size(), ScaledTiles(GemmSchedule::kDma, {4, 4}).size());
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

TEST(ScaledGemmModel, FewRowsGetSmallTilesAndManyTheLargest) {
  const Plan plan = PlanOf(ScaledGemm("e4m3fn", "e4m3fn", 8192, 8192));
  EXPECT_THAT(plan.variants.front().name, HasSubstr("16x64"));
  EXPECT_THAT(plan.variants.back().name, HasSubstr("256x256"));
}

}  // namespace
}  // namespace ingot
