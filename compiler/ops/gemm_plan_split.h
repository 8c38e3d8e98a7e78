// The launches of a product whose k one workgroup a tile has, or several share:
// what the plans of gemm and scaled_gemm have in common. Those that share it
// write their sums, f32, into the workspace (tile/partial_sums.h), and a second
// launch adds them, part by part in order.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_SPLIT_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_SPLIT_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "compiler/expr.h"
#include "compiler/kernel_spec.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/plan.h"

namespace ingot {

// Extents of a product at launch.
struct GemmProduct {
  Expr m;
  Expr n;
  Expr k;
  Expr batch;
};

// What of a product a kernel computes: baked as `part`.
enum class GemmPart { kAll, kPartial, kSum };

// For symbols: "64x64x64", "64x64x64_partial", "sum".
std::string GemmPartName(const GemmTile& tile, GemmPart part);

// A tile as a schedule runs it.
struct GemmTileLaunch {
  GemmSchedule schedule = GemmSchedule::kDma;
  GemmTile tile;
  int64_t lds_bytes = 0;
};

// The recipe of a tile; its kernels go into the plan. `kernel` gives what is
// the op's own of one: symbol, parameters with those of the tile, arguments.
Recipe GemmRecipe(
    const GemmProduct& product, const GemmTileLaunch& launch,
    absl::FunctionRef<KernelSpec(const GemmTile& tile, GemmPart part)> kernel,
    Plan* plan);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_SPLIT_H_
