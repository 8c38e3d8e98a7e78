// How workgroups walk over the tiles of all groups: how many of them there are,
// how many groups they have room for, and how many tiles to expect.
#ifndef INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_WALK_H_
#define INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_WALK_H_

#include <cstdint>

#include "compiler/expr.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_time.h"
#include "compiler/spec.h"

namespace ingot {

// Groups that a kernel has room for, at least `groups`.
int64_t GroupedCapacity(int64_t groups);

// As many workgroups as fit the device at once, by LDS, and no more than there
// can be tiles.
Expr GroupedWorkgroups(const GemmTile& tile, int64_t lds_bytes,
                       const Expr& columns);

// What the model knows of a problem beside its rows.
struct GroupedModelProblem {
  double groups = 0;
  double columns = 0;  // of the product
  double k = 0;
  double n = 0;  // of d
};

// Of a spec's extents; those that are not known count as usual ones.
GroupedModelProblem GroupedModelProblemOf(const Spec& spec);

// Microseconds of all of `rows` in groups of usual sizes.
double GroupedMicroseconds(const GemmTile& tile, const GemmElements& elements,
                           double rows, const GroupedModelProblem& problem);

// Of the ranges of total_m (TileBuckets).
int64_t GroupedBucketScale(double groups);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_WALK_H_
