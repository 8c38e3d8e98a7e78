#include "compiler/ops/grouped_gemm_plan_walk.h"

#include <algorithm>
#include <cmath>

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

double ActiveGroups(double rows, double groups) {
  return std::max(1.0, std::min(groups, rows));
}

// A third of the groups with rows has 0.62 of the average, a third 1.38.
double GroupedRowTiles(const GemmTile& tile, double rows, double groups) {
  const double active = ActiveGroups(rows, groups);
  double tiles = 0;
  for (const double share : {0.62, 1.0, 1.38}) {
    tiles += active / 3 * std::ceil(rows / active * share / tile.m);
  }
  return tiles;
}

// The first range ends at eight rows a group, where the fullest group still
// fits the smallest tile.
int64_t GroupedBucketScale(double groups) {
  return std::max<int64_t>(1, static_cast<int64_t>(groups / 2));
}

}  // namespace ingot
