// scaled_gemm whose k is shared, by workgroups or by the waves of one: any
// number of parts gives the product, and the same bits each time. And the tiles
// that are scaled_gemm's alone.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "gtest/gtest.h"
#include "tests/support/scaled_gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckScaledGemm;
using testing::ScaledGemmProblem;
using testing::TestDevice;

ScaledGemmProblem Split(const char* a, const char* b, int64_t m, int64_t n,
                        int64_t k, int64_t parts) {
  ScaledGemmProblem p;
  p.a = a;
  p.b = b;
  p.m = m;
  p.n = n;
  p.k = k;
  p.tuning = {{"split_k", parts}};
  return p;
}

// More parts than steps of k, too: some have nothing to add. The last step is a
// whole one, a few blocks, or one.
TEST(ScaledGemmSplit, AnyNumberOfParts) {
  TestDevice device;
  uint32_t seed = 0;
  for (const int64_t parts : {2, 3, 7, 16, 17, 64}) {
    for (const int64_t k : {32, 544, 1152, 2048}) {
      ScaledGemmProblem p = Split("e4m3fn", "e4m3fn", 33, 136, k, parts);
      p.tuning.push_back({"tile_m", 32});
      p.tuning.push_back({"waves_k", 1});
      CheckScaledGemm(device, p, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

// Formats, layouts of scales and weights, bias over ragged edges.
TEST(ScaledGemmSplit, WithEverythingElse) {
  TestDevice device;
  uint32_t seed = 100;
  constexpr std::pair<const char*, const char*> kFormats[] = {
      {"e4m3fn", "e5m2"}, {"e2m1", "e2m1"}, {"e2m3", "e2m1"}};
  for (const auto& [a, b] : kFormats) {
    for (const bool shuffled : {false, true}) {
      for (const char* d : {"bf16", "f32"}) {
        for (const int64_t n : {200, 201}) {
          ScaledGemmProblem p = Split(a, b, 40, n, 1600, 5);
          p.d = d;
          p.bias = "f32";
          p.scales_shuffled = p.weights_shuffled = shuffled;
          p.strides = StrideMode::kDynamic;
          p.pad = 16;
          p.special = n == 201;
          CheckScaledGemm(device, p, ++seed);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Those that share k and those that grouped_gemm does not have.
std::vector<GemmTile> FurtherTiles(const ScaledFormats& formats) {
  const std::vector<GemmTile> known = ScaledTiles(GemmSchedule::kDma, formats);
  std::vector<GemmTile> tiles;
  for (const GemmTile& tile : AllScaledTiles(GemmSchedule::kDma, formats)) {
    if (std::find(known.begin(), known.end(), tile) == known.end()) {
      tiles.push_back(tile);
    }
  }
  return tiles;
}

// Ragged edges; every other one by waves last to first.
TEST(ScaledGemmSplit, EveryFurtherTile) {
  emulator::Options options = emulator::Options::FromEnvironment();
  TestDevice device(options);
  options.reverse_waves = !options.reverse_waves;
  TestDevice reverse(options);
  uint32_t seed = 200;
  for (const char* format : {"e4m3fn", "e2m1"}) {
    const int bits = format == std::string("e2m1") ? 4 : 8;
    for (const bool shuffled : {false, true}) {
      for (const GemmTile& tile : FurtherTiles({.bits_a = bits,
                                                .bits_b = bits,
                                                .scales_shuffled = shuffled,
                                                .scale_words = true})) {
        const bool whole = tile.split_k == 1 && tile.waves_k == 1;
        ScaledGemmProblem p =
            Split(format, format, whole ? tile.m + 6 : 70,
                  whole ? tile.n + 8 : 72, whole ? 1280 : 2304, 0);
        p.scales_shuffled = p.weights_shuffled = shuffled;
        p.tuning = GemmPins(tile);
        std::string variant;
        ++seed;
        CheckScaledGemm(seed % 2 == 0 ? device : reverse, p, seed, &variant);
        if (HasFatalFailure()) return;
        EXPECT_EQ(variant, "dma_" + GemmTileName(tile));
      }
    }
  }
}

TEST(ScaledGemmSplit, GivesTheSameBitsEachTime) {
  for (const int64_t parts : {0, 6}) {
    ScaledGemmProblem p = Split("e4m3fn", "e2m1", 48, 192, 2080, parts);
    emulator::Options options = emulator::Options::FromEnvironment();
    std::string first, again;
    {
      TestDevice device(options);
      CheckScaledGemm(device, p, 11, nullptr, &first);
    }
    // One thread, another order of waves, a smaller device.
    options.threads = 1;
    for (const bool reverse : {false, true}) {
      options.reverse_waves = reverse;
      p.cu_count = reverse ? 32 : 256;
      TestDevice device(options);
      CheckScaledGemm(device, p, 11, nullptr, &again);
      EXPECT_EQ(again, first);
    }
  }
}

}  // namespace
}  // namespace ingot
