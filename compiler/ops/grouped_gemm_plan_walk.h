// How workgroups walk over the tiles of all groups: how many of them there are,
// how many groups they have room for, and how many tiles to expect.
#ifndef INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_WALK_H_
#define INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_WALK_H_

#include <cstdint>

#include "compiler/expr.h"
#include "compiler/ops/gemm_plan_tiles.h"

namespace ingot {

// Groups that a kernel has room for, at least `groups`.
int64_t GroupedCapacity(int64_t groups);

// As many workgroups as fit the device at once, by LDS, and no more than there
// can be tiles.
Expr GroupedWorkgroups(const GemmTile& tile, int64_t lds_bytes,
                       const Expr& columns);

// Rows of tiles that `rows` rows in at most `groups` groups have when routing
// is as uneven as it usually is.
double GroupedRowTiles(const GemmTile& tile, double rows, double groups);

// Groups that have rows.
double ActiveGroups(double rows, double groups);

// Of the ranges of total_m (TileBuckets).
int64_t GroupedBucketScale(double groups);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_WALK_H_
