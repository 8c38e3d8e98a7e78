#include "compiler/ops/gemm_plan_tiles.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

// Stages: two where a stage holds enough bytes to cover the latency of memory,
// more where it does not (11 KB a compute unit must be in flight to stream).
constexpr GemmTile kDmaTiles[] = {
    {256, 256, 64, 2, 2, 2}, {128, 128, 64, 2, 2, 2}, {64, 64, 64, 2, 2, 4},
    {32, 64, 128, 2, 2, 2},  {16, 64, 128, 1, 4, 4},
};

// Two stages of LDS: a tile is written while the one before is read.
constexpr GemmTile kStagedTiles[] = {
    {128, 128, 64, 2, 2, 2},
    {64, 64, 64, 2, 2, 2},
    {16, 64, 128, 1, 4, 2},
};

}  // namespace

absl::Span<const GemmTile> GemmTiles(GemmSchedule schedule) {
  if (schedule == GemmSchedule::kDma) return kDmaTiles;
  return kStagedTiles;
}

// t = launch + max(compute, memory) + min(compute, memory) / 8, the last term
// because they never overlap wholly, with
//   compute = rounds * K steps * clocks a step / f
//   memory = bytes / bandwidth.
// A step costs what its busiest resource does: MFMA (4096 FLOP a clock), LDS
// reads (256 B a clock; every wave reads its rows and columns once), panels out
// of L2 (64 B a clock) or the barriers of a step, whichever is most. Clocks sag
// under power when MFMAs are dense, so large tiles are priced at 1.5 GHz.
double TilesMicroseconds(const GemmTile& tile, double tiles, double k,
                         double bytes) {
  constexpr double kCus = 256;
  constexpr double kLaunch = 4;
  constexpr double kBytesPerUs = 6.2e6;
  constexpr double kStepOverhead = 120;  // waits and barriers, clocks
  const double rows_read =
      tile.m * double(tile.waves_n) + tile.n * double(tile.waves_m);
  const double mfma = 2.0 * tile.m * tile.n * tile.k / 4096;
  const double lds = rows_read * tile.k * 2 / 256;
  const double l2 = (tile.m + tile.n) * tile.k * 2.0 / 64;
  // Two workgroups on a compute unit hide each other's barriers.
  const int resident = tile.lds_bytes() <= 80 * 1024 ? 2 : 1;
  const double step =
      std::max({mfma, lds, l2}) + kStepOverhead / (resident * tile.k / 64.0);
  const double clocks_per_us = tile.m * tile.n >= 128 * 128 ? 1500 : 2200;
  const double rounds = std::max(1.0, std::ceil(tiles / kCus));
  const double compute = rounds * std::ceil(k / tile.k) * step / clocks_per_us;
  const double memory = bytes / kBytesPerUs;
  return kLaunch + std::max(compute, memory) + std::min(compute, memory) / 8;
}

double GemmMicroseconds(const GemmTile& tile, double m, double n, double k) {
  const double tiles = std::ceil(m / tile.m) * std::ceil(n / tile.n);
  return TilesMicroseconds(tile, tiles, k, 2 * (m * k + k * n + m * n));
}

std::vector<GemmBucket> TileBuckets(
    absl::Span<const GemmTile> tiles, int64_t min_m, int64_t max_m,
    int64_t scale,
    absl::FunctionRef<double(const GemmTile&, double)> microseconds) {
  std::vector<GemmBucket> buckets;
  const auto best = [&](int64_t m) {
    return *std::min_element(
        tiles.begin(), tiles.end(), [&](const GemmTile& a, const GemmTile& b) {
          return microseconds(a, double(m)) < microseconds(b, double(m));
        });
  };
  // Ranges end at powers of two up to 8192 rows: beyond, the ranking is that of
  // large tiles, and a finer split would only add kernels.
  const int64_t last = 8192 * scale;
  int64_t min = min_m;
  while (min <= max_m) {
    int64_t max = 16 * scale;
    while (max < min && max < 2 * last) max *= 2;
    if (max > last || max > max_m) max = max_m;
    const GemmTile tile = best(std::min<int64_t>(max, 2 * last));
    if (!buckets.empty() && buckets.back().tile == tile) {
      buckets.back().max = max;
    } else {
      buckets.push_back({min, max, tile});
    }
    min = max + 1;
  }
  return buckets;
}

std::vector<GemmBucket> GemmBuckets(absl::Span<const GemmTile> tiles,
                                    int64_t min_m, int64_t max_m, double n,
                                    double k) {
  return TileBuckets(tiles, min_m, max_m, 1,
                     [&](const GemmTile& tile, double m) {
                       return GemmMicroseconds(tile, m, n, k);
                     });
}

std::string GemmTileName(const GemmTile& tile) {
  return absl::StrCat(tile.m, "x", tile.n, "x", tile.k);
}

}  // namespace ingot
