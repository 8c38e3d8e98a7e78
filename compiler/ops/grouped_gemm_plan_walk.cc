#include "compiler/ops/grouped_gemm_plan_walk.h"

#include <algorithm>
#include <cmath>

#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/grouped_gemm_plan_request.h"

namespace ingot {

int64_t GroupedCapacity(int64_t groups) {
  int64_t capacity = 64;
  while (capacity < groups) capacity *= 4;
  return capacity;
}

// Each group has at most one ragged tile, and only a group with rows has any.
Expr GroupedWorkgroups(const GemmTile& tile, int64_t lds_bytes,
                       const Expr& columns) {
  const int64_t resident = lds_bytes <= 80 * 1024 ? 2 : 1;
  const Expr rows = Expr::DimAt(kGroupedTotalM);
  const Expr row_tiles = FloorDiv(rows, Expr::Const(tile.m)) +
                         Min(rows, Expr::DimAt(kGroupedGroups));
  return Min(Expr::CuCount() * Expr::Const(resident),
             row_tiles * CeilDiv(columns, Expr::Const(tile.n)));
}

namespace {

// Rows of tiles that `rows` rows in `active` groups have when routing is as
// uneven as it usually is: a third of the groups has 0.62 of the average, a
// third 1.38.
double UnevenRowTiles(const GemmTile& tile, double rows, double active) {
  double tiles = 0;
  for (const double share : {0.62, 1.0, 1.38}) {
    tiles += active / 3 * std::ceil(rows / active * share / tile.m);
  }
  return tiles;
}

}  // namespace

GroupedModelProblem GroupedModelProblemOf(const Spec& spec) {
  const double n = SpecExtent(spec, "n", 4096);
  return {SpecExtent(spec, "g", 16),
          spec.FindAttr("pairing") == nullptr ? n : 2 * n,
          SpecExtent(spec, "k", 4096), n};
}

double GroupedMicroseconds(const GemmTile& tile, const GemmElements& elements,
                           double rows, const GroupedModelProblem& p) {
  constexpr double kStarted = 2;  // on a compute unit, by GroupedWorkgroups
  const double active = std::max(1.0, std::min(p.groups, rows));
  const double bytes = rows * p.k * elements.bytes_a +
                       active * p.k * p.columns * elements.bytes_b +
                       2 * rows * p.n;
  const auto of = [&](double row_tiles) {
    return TilesMicroseconds(tile, elements,
                             row_tiles * std::ceil(p.columns / tile.n), p.k,
                             bytes, kStarted);
  };
  // Skewed shares count as well, so that no tile is chosen that only equal
  // ones fill; how many tiles are left for the last round is chance with them,
  // so they count less.
  const double even = active * std::ceil(rows / active / tile.m);
  return (3 * of(even) + of(UnevenRowTiles(tile, rows, active))) / 4;
}

// The first range ends at eight rows a group, where the fullest group still
// fits the smallest tile.
int64_t GroupedBucketScale(double groups) {
  return std::max<int64_t>(1, static_cast<int64_t>(groups / 2));
}

}  // namespace ingot
