// gemm, executed.
#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "compiler/ops/gemm_plan_tuning.h"
#include "gtest/gtest.h"
#include "tests/support/gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckGemm;
using testing::GemmProblem;
using testing::TestDevice;

using Triple = std::array<int64_t, 3>;

constexpr int64_t kExtents[] = {1,  2,   15,  16,  17,  31,  33,  63,  64,
                                65, 100, 127, 129, 255, 256, 257, 300, 512};

// 120 triples in which each extent stands in each place, and 27 corners.
std::vector<Triple> Triples() {
  constexpr size_t kCount = 120;
  std::mt19937 random(950);
  std::vector<Triple> triples(kCount);
  for (size_t place = 0; place < 3; ++place) {
    std::vector<int64_t> order(std::begin(kExtents), std::end(kExtents));
    for (size_t i = 0; i < kCount; ++i) {
      if (i % order.size() == 0) {
        std::shuffle(order.begin(), order.end(), random);
      }
      triples[i][place] = order[i % order.size()];
    }
  }
  for (int64_t m : {1, 17, 257}) {
    for (int64_t n : {1, 17, 257}) {
      for (int64_t k : {1, 17, 257}) triples.push_back({m, n, k});
    }
  }
  return triples;
}

// Output types, bias, c, strides and scalars go round with the problems.
GemmProblem Problem(const char* layout, const char* dtype,
                    const Triple& extents, size_t i) {
  GemmProblem p;
  p.layout = layout;
  p.dtype = dtype;
  p.dtype_d = std::array{"bf16", "f16", "f32"}[i % 3];
  p.bias = std::array{std::string(), p.dtype_d, std::string("f32")}[i / 3 % 3];
  p.has_c = i % 2 == 1;
  p.m = extents[0];
  p.n = extents[1];
  p.k = extents[2];
  if (i % 5 == 4) {
    p.strides = i % 2 == 0 ? StrideMode::kStatic : StrideMode::kDynamic;
    p.pad = i % 4 < 2 ? 8 : 3;
  }
  if (i % 4 == 3) {
    p.alpha = 0.375;
    p.beta = -1.5;
  }
  return p;
}

struct Kind {
  const char* layout;
  const char* dtype;
};

class GemmKindTest : public ::testing::TestWithParam<Kind> {
 protected:
  TestDevice device_;
};

TEST(GemmTriples, PutEveryExtentInEveryPlace) {
  const std::vector<Triple> triples = Triples();
  EXPECT_EQ(triples.size(), 147u);
  for (size_t place = 0; place < 3; ++place) {
    std::set<int64_t> seen;
    for (const Triple& triple : triples) seen.insert(triple[place]);
    EXPECT_EQ(seen.size(), std::size(kExtents));
  }
}

TEST_P(GemmKindTest, AnyExtents) {
  size_t i = 0;
  for (const Triple& triple : Triples()) {
    CheckGemm(device_, Problem(GetParam().layout, GetParam().dtype, triple, i),
              static_cast<uint32_t>(i));
    if (HasFatalFailure()) return;
    ++i;
  }
}

// Extents around every edge of each tile: less than one, several, ragged; steps
// of k that fill up rounds of stages and that do not; fewer steps than waves or
// parts of k. Each kind takes one of the problems with each tile.
TEST_P(GemmKindTest, EveryTile) {
  const Triple problems[] = {{8, 8, 8},      {264, 136, 64}, {257, 264, 136},
                             {129, 520, 72}, {16, 64, 1320}, {300, 264, 392}};
  const std::string layout = GetParam().layout;
  size_t i = (layout[0] == 't') + (layout[1] == 't') * 2 +
             (GetParam().dtype == std::string("f16"));
  for (const GemmSchedule schedule :
       {GemmSchedule::kDma, GemmSchedule::kStaged}) {
    for (const GemmTile& tile : AllGemmTiles(schedule)) {
      ++i;
      GemmProblem p = Problem(GetParam().layout, GetParam().dtype,
                              problems[i % std::size(problems)], i);
      p.pad = 0;
      p.strides = StrideMode::kDense;
      if (p.layout[0] == 't') p.m = p.m / 8 * 8;
      if (schedule == GemmSchedule::kStaged) p.k += 1, p.n += 1;
      p.tuning = GemmPins(tile);
      std::string variant;
      CheckGemm(device_, p, static_cast<uint32_t>(i), &variant);
      if (HasFatalFailure()) return;
      EXPECT_EQ(variant.find("staged") == 0, schedule == GemmSchedule::kStaged)
          << variant;
      EXPECT_NE(variant.find(GemmTileName(tile)), std::string::npos) << variant;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, GemmKindTest,
    ::testing::Values(Kind{"nn", "bf16"}, Kind{"nt", "bf16"},
                      Kind{"tn", "bf16"}, Kind{"tt", "bf16"}, Kind{"nn", "f16"},
                      Kind{"nt", "f16"}, Kind{"tn", "f16"}, Kind{"tt", "f16"}),
    [](const ::testing::TestParamInfo<Kind>& info) {
      return absl::StrCat(info.param.layout, "_", info.param.dtype);
    });

// The order in which waves run must not matter where barriers do.
TEST(GemmWaves, LastToFirst) {
  emulator::Options options = emulator::Options::FromEnvironment();
  options.reverse_waves = true;
  TestDevice device(options);
  uint32_t seed = 0;
  for (const char* layout : {"nt", "tn"}) {
    for (const GemmTile& tile : AllGemmTiles(GemmSchedule::kDma)) {
      GemmProblem p = Problem(layout, "bf16", {264, 264, 520}, 0);
      p.tuning = GemmPins(tile);
      CheckGemm(device, p, ++seed);
    }
    GemmProblem odd = Problem(layout, "f16", {129, 131, 201}, 0);
    CheckGemm(device, odd, ++seed);
  }
}

// All m of a plan, through its buckets: one object a variant.
TEST(GemmBuckets, OneObjectServesAllTokenCounts) {
  TestDevice device;
  GemmProblem p = Problem("nt", "bf16", {1, 256, 320}, 0);
  const absl::StatusOr<Plan> plan = MakePlan(p.ToSpec());
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::set<std::string> variants;
  for (int64_t m : {1, 2, 16, 17, 64, 65, 128, 129, 512, 513, 2048, 2100}) {
    p.m = m;
    const absl::StatusOr<Plan> again = MakePlan(p.ToSpec());
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(again->kernels.size(), plan->kernels.size());
    for (size_t i = 0; i < plan->kernels.size(); ++i) {
      EXPECT_EQ(again->kernels[i].key, plan->kernels[i].key);
    }
    std::string variant;
    CheckGemm(device, p, static_cast<uint32_t>(m), &variant);
    variants.insert(variant);
  }
  EXPECT_GT(variants.size(), 1u);
}

// NaN and infinity of an input reach their row or column and no other element.
TEST(GemmSpecial, RowsBeyondTheMatrixDoNotLeakIn) {
  // Padding is NaN everywhere in these tests; this one has nothing but padding
  // beside a single element.
  TestDevice device;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (const int64_t pad : {7, 8, 63, 64}) {
      GemmProblem p = Problem(layout, "bf16", {1, 1, 1}, 0);
      p.strides = StrideMode::kDynamic;
      p.pad = pad;
      CheckGemm(device, p, 1);
      p.k = 65;
      CheckGemm(device, p, 2);
    }
  }
}

}  // namespace
}  // namespace ingot
