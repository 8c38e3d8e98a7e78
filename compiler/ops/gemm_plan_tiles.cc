#include "compiler/ops/gemm_plan_tiles.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

// Stages: two where a stage holds enough bytes to cover the latency of memory,
// more where it does not (11 KB a compute unit must be in flight to stream).
constexpr GemmTile kDmaTiles[] = {
    {256, 256, 64, 2, 2, 2}, {192, 256, 64, 2, 2, 2}, {128, 256, 64, 2, 2, 2},
    {256, 128, 64, 2, 2, 2}, {128, 128, 64, 2, 2, 2}, {96, 128, 64, 2, 2, 2},
    {64, 128, 64, 2, 2, 3},  {128, 64, 64, 2, 2, 3},  {64, 64, 64, 2, 2, 4},
    {32, 64, 128, 2, 2, 2},  {16, 64, 128, 1, 4, 4},
};

// Short steps, for a k that ends in the middle of a long one: three stages, so
// that rounds of them end elsewhere than those of two.
constexpr GemmTile kShortStepTiles[] = {{256, 256, 32, 2, 2, 3}};

// Two waves a SIMD that take turns.
constexpr GemmTile kPingPongTiles[] = {{256, 256, 64, 2, 4, 2}};

// Waves that share k: for few rows, where a product is a stream of weights.
// Each wave has a ring of its own; together they hold what LDS has room for, in
// one workgroup or in two.
constexpr GemmTile kSharedKTiles[] = {
    {64, 64, 64, 1, 1, 2, 4}, {64, 32, 64, 1, 1, 3, 4},
    {32, 64, 64, 1, 1, 3, 4}, {32, 32, 64, 1, 1, 4, 4},
    {32, 16, 64, 1, 1, 6, 4}, {16, 64, 64, 1, 1, 4, 4},
    {16, 32, 64, 1, 1, 6, 4}, {16, 16, 64, 1, 1, 8, 4},
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

std::vector<GemmTile> AllGemmTiles(GemmSchedule schedule) {
  const absl::Span<const GemmTile> plain = GemmTiles(schedule);
  std::vector<GemmTile> tiles;
  if (schedule == GemmSchedule::kDma) {
    tiles.assign(std::begin(kPingPongTiles), std::end(kPingPongTiles));
  }
  tiles.insert(tiles.end(), plain.begin(), plain.end());
  if (schedule != GemmSchedule::kDma) return tiles;
  tiles.insert(tiles.end(), std::begin(kShortStepTiles),
               std::end(kShortStepTiles));
  tiles.insert(tiles.end(), std::begin(kSharedKTiles), std::end(kSharedKTiles));
  AddSplitTiles(&tiles);
  return tiles;
}

void AddSplitTiles(std::vector<GemmTile>* tiles) {
  const size_t whole = tiles->size();
  for (size_t i = 0; i < whole; ++i) {
    tiles->push_back((*tiles)[i]);
    tiles->back().split_k = 0;
  }
}

namespace {

constexpr int kCus = 256;
constexpr int kMostSplits = 16;

// Workgroups on a compute unit.
int Resident(int64_t lds_bytes) { return lds_bytes <= 80 * 1024 ? 2 : 1; }

int LeastK(const GemmTile& tile) {
  return std::max(512, 4 * tile.k * tile.waves_k);
}

}  // namespace

Expr GemmSplits(const GemmTile& tile, int64_t lds_bytes, const Expr& tiles,
                const Expr& k) {
  if (tile.split_k != 0) return Expr::Const(tile.split_k);
  const Expr fill = FloorDiv(Expr::Const(kCus * Resident(lds_bytes)),
                             Max(tiles, Expr::Const(1)));
  const Expr worth = FloorDiv(k, Expr::Const(LeastK(tile)));
  return Max(Min(Min(fill, worth), Expr::Const(kMostSplits)), Expr::Const(1));
}

double GemmSplits(const GemmTile& tile, int64_t lds_bytes, double tiles,
                  double k) {
  if (tile.split_k != 0) return tile.split_k;
  const double fill = std::floor(kCus * Resident(lds_bytes) / tiles);
  const double worth = std::floor(k / LeastK(tile));
  return std::max(std::min({fill, worth, double{kMostSplits}}), 1.0);
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

std::string GemmTileName(const GemmTile& tile) {
  std::string name = absl::StrCat(tile.m, "x", tile.n, "x", tile.k);
  if (tile.ping_pong()) absl::StrAppend(&name, "_w8");
  if (tile.waves_k > 1) absl::StrAppend(&name, "_k", tile.waves_k);
  if (tile.split_k == 0) absl::StrAppend(&name, "_split");
  if (tile.split_k > 1) absl::StrAppend(&name, "_split", tile.split_k);
  return name;
}

std::string GemmVariantName(GemmSchedule schedule, int64_t width_d,
                            const GemmTile& tile) {
  return absl::StrCat(schedule == GemmSchedule::kDma ? "dma" : "staged",
                      width_d > 1 ? "" : "_narrow", "_", GemmTileName(tile));
}

double ModelExtent(const PlanDim& dim) {
  return dim.min == dim.max ? static_cast<double>(dim.min) : 4096.0;
}

}  // namespace ingot
