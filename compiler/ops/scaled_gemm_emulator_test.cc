// scaled_gemm, executed.
#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/scaled_gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckScaledGemm;
using testing::ScaledGemmProblem;
using testing::TestDevice;

constexpr const char* kFormats[] = {"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1"};

class ScaledGemmPairTest
    : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  ScaledGemmProblem Problem(int64_t m, int64_t n, int64_t k) const {
    ScaledGemmProblem p;
    p.a = std::get<0>(GetParam());
    p.b = std::get<1>(GetParam());
    p.m = m;
    p.n = n;
    p.k = k;
    return p;
  }
  TestDevice device_;
};

// Extents around the edges of tiles and of what a step has of k.
constexpr std::array<int64_t, 3> kExtents[] = {
    {1, 1, 32}, {17, 33, 96}, {65, 97, 128}, {33, 70, 544}, {100, 64, 640}};

TEST_P(ScaledGemmPairTest, AnyExtents) {
  uint32_t seed = 0;
  for (const auto& [m, n, k] : kExtents) {
    for (const bool shuffled : {false, true}) {
      ScaledGemmProblem p = Problem(m, n, k);
      p.scales_shuffled = shuffled;
      p.d = std::array{"bf16", "f16", "f32"}[seed % 3];
      if (seed % 4 == 1) p.bias = "f32";
      if (seed % 4 == 3) p.bias = p.d;
      CheckScaledGemm(device_, p, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

// NaN, infinity, -0; scales 0, 1, 254, 255. What the layouts pad is NaN in
// every test.
TEST_P(ScaledGemmPairTest, SpecialValues) {
  for (const bool shuffled : {false, true}) {
    ScaledGemmProblem p = Problem(37, 45, 224);
    p.special = true;
    p.scales_shuffled = shuffled;
    p.d = "f32";
    CheckScaledGemm(device_, p, 7);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ScaledGemmPairTest,
                         ::testing::Combine(::testing::ValuesIn(kFormats),
                                            ::testing::ValuesIn(kFormats)),
                         [](const auto& info) {
                           return absl::StrCat(std::get<0>(info.param), "_",
                                               std::get<1>(info.param));
                         });

struct Kind {
  const char* a;
  const char* b;
  bool scales_shuffled;
  bool weights_shuffled;
};

class ScaledGemmTileTest : public ::testing::TestWithParam<Kind> {
 protected:
  static ScaledGemmProblem Problem(int64_t m, int64_t n, int64_t k) {
    ScaledGemmProblem p;
    p.a = GetParam().a;
    p.b = GetParam().b;
    p.scales_shuffled = GetParam().scales_shuffled;
    p.weights_shuffled = GetParam().weights_shuffled;
    p.m = m;
    p.n = n;
    p.k = k;
    return p;
  }
  static ScaledFormats Formats() {
    const auto bits = [](absl::string_view dtype) {
      return dtype == "e2m1" ? 4 : absl::StartsWith(dtype, "e4m3") ? 8 : 6;
    };
    return {bits(GetParam().a), bits(GetParam().b)};
  }
  // Stages aside, which depend on k.
  static std::vector<Tuning> Pins(const GemmTile& tile) {
    return {{"tile_m", tile.m},
            {"tile_n", tile.n},
            {"tile_k", tile.k},
            {"waves_k", tile.waves_k},
            {"split_k", tile.split_k}};
  }
  TestDevice device_;
};

// Less than a tile, several, ragged; steps of k that fill up rounds of stages
// and that do not; scales by words and by bytes.
TEST_P(ScaledGemmTileTest, EveryTile) {
  constexpr std::array<int64_t, 3> kProblems[] = {
      {8, 8, 64}, {264, 136, 512}, {33, 270, 448}};
  uint32_t seed = 0;
  for (const GemmSchedule schedule :
       {GemmSchedule::kDma, GemmSchedule::kStaged}) {
    for (const GemmTile& tile : ScaledTiles(schedule, Formats())) {
      for (const auto& [m, n, k] : kProblems) {
        ScaledGemmProblem p = Problem(m, n, k);
        p.tuning = Pins(tile);
        if (schedule == GemmSchedule::kStaged) {
          p.alignment = seed % 2 == 0 ? 4 : 1;
        }
        std::string variant;
        CheckScaledGemm(device_, p, ++seed, &variant);
        if (HasFatalFailure()) return;
        EXPECT_EQ(absl::StartsWith(variant, "staged"),
                  schedule == GemmSchedule::kStaged)
            << variant;
        EXPECT_TRUE(absl::StrContains(variant, GemmTileName(tile))) << variant;
      }
    }
  }
}

TEST_P(ScaledGemmTileTest, Strides) {
  uint32_t seed = 100;
  for (const StrideMode mode : {StrideMode::kStatic, StrideMode::kDynamic}) {
    for (const int64_t pad : {16, 5}) {
      ScaledGemmProblem p = Problem(70, 40, 256);
      p.strides = mode;
      p.pad = pad;
      CheckScaledGemm(device_, p, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

// The order in which waves run must not matter where barriers do.
TEST_P(ScaledGemmTileTest, WavesLastToFirst) {
  emulator::Options options = emulator::Options::FromEnvironment();
  options.reverse_waves = true;
  TestDevice device(options);
  for (const GemmTile& tile : ScaledTiles(GemmSchedule::kDma, Formats())) {
    ScaledGemmProblem p = Problem(130, 264, 768);
    p.tuning = Pins(tile);
    CheckScaledGemm(device, p, static_cast<uint32_t>(tile.m));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ScaledGemmTileTest,
                         ::testing::Values(Kind{"e4m3fn", "e4m3fn", false,
                                                false},
                                           Kind{"e4m3fn", "e4m3fn", true, true},
                                           Kind{"e2m1", "e2m1", false, false},
                                           Kind{"e2m1", "e2m1", true, true},
                                           Kind{"e4m3fn", "e2m1", false, true},
                                           Kind{"e2m1", "e4m3fn", true, false},
                                           Kind{"e2m3", "e3m2", false, true},
                                           Kind{"e3m2", "e2m1", true, true}),
                         [](const auto& info) {
                           return absl::StrCat(
                               info.param.a, "_", info.param.b,
                               info.param.scales_shuffled ? "_scales" : "",
                               info.param.weights_shuffled ? "_weights" : "");
                         });

// Shapes that people measure, by their k and the tile that their m and n get,
// with fewer rows and columns.
TEST(ScaledGemmShapes, WithFewerRowsAndColumns) {
  TestDevice device;
  constexpr std::array<int64_t, 3> kShapes[] = {{32, 4096, 4096},
                                                {512, 4096, 4096},
                                                {1, 6144, 7168},
                                                {1, 7168, 3072},
                                                {65, 97, 128}};
  uint32_t seed = 0;
  for (const char* format : {"e4m3fn", "e2m1"}) {
    for (const auto& [m, n, k] : kShapes) {
      ScaledGemmProblem p;
      p.a = p.b = format;
      p.m = m;
      p.n = n;
      p.k = k;
      const absl::StatusOr<Plan> plan = MakePlan(p.ToSpec());
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const Variant& variant : plan->variants) {
        const Guard& rows = variant.guards.back();
        if (m < rows.min || (rows.max != 0 && m > rows.max)) continue;
        const auto& step = std::get<LaunchStep>(variant.recipe.steps[0]);
        const KernelSpec& kernel = plan->kernels[step.kernel].spec;
        for (const char* name : {"tile_m", "tile_n", "waves_k"}) {
          p.tuning.push_back({name, *kernel.GetInt(name)});
        }
        break;
      }
      p.m = std::min<int64_t>(m, 40);
      p.n = std::min<int64_t>(n, 72);
      CheckScaledGemm(device, p, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ingot
