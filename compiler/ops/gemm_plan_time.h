// How long a launch of gemm's tiles takes on an MI355X, for ranking them: a
// first-order form of the model that judges finished kernels
// (tests/emulator/profile/launch_time.h), which needs no code.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_TIME_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_TIME_H_

#include "compiler/ops/gemm_plan_tiles.h"

namespace ingot {

// Microseconds of a launch that computes `tiles` tiles over k elements and
// moves `bytes` to and from memory; 16-bit elements. `most_resident`:
// workgroups on a compute unit, for launches that start no more.
double TilesMicroseconds(const GemmTile& tile, double tiles, double k,
                         double bytes, double most_resident = 8);

// The same of a whole product, with the launch that adds parts of a split k.
double GemmMicroseconds(const GemmTile& tile, double m, double n, double k);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_TIME_H_
