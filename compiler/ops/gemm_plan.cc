// gemm: variants, kernels and tuning; the contract stands in
// gemm_plan_contract.h.
//
// What is baked is what changes the code: dtypes, layout, tile, how wide the
// accesses to each matrix are, which of c and bias there are. n, k and strides
// travel as arguments, so all weights of a model share a handful of kernels and
// a token count never compiles.
//
// Variants, in this order: families from the fastest accesses to those that
// always work, each split by m into the tiles that the model likes
// (gemm_plan_tiles.h).
#include "absl/strings/str_cat.h"
#include "compiler/ops/gemm_plan_access.h"
#include "compiler/ops/gemm_plan_contract.h"
#include "compiler/ops/gemm_plan_samples.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/op.h"

namespace ingot {
namespace {

KernelSpec Kernel(const GemmRequest& r, const GemmFamily& family,
                  const GemmTile& tile) {
  KernelSpec kernel;
  const bool dma = family.schedule == GemmSchedule::kDma;
  kernel.symbol =
      absl::StrCat("ingot_gemm_", r.dtype, "_", r.dtype_d, "_", r.layout, "_",
                   GemmTileName(tile), dma ? "" : "_staged");
  kernel.params = GemmContractParams(r);
  kernel.params.push_back({"schedule", dma ? "dma" : "staged"});
  kernel.params.push_back({"width_a", int64_t{family.width_a}});
  kernel.params.push_back({"width_b", int64_t{family.width_b}});
  kernel.params.push_back({"width_d", int64_t{family.width_d}});
  for (Param& param : GemmTileParams(tile)) kernel.params.push_back(param);
  kernel.codegen = GemmCodegenOptions(family.schedule, tile);
  kernel.workgroup = {static_cast<uint32_t>(tile.waves() * 64), 1, 1};
  kernel.grid = {CeilDiv(Expr::DimAt(kGemmM), Expr::Const(tile.m)) *
                     CeilDiv(GemmColumns(r), Expr::Const(tile.n)),
                 Expr::Const(1), GemmGridZ(r)};
  kernel.lds_bytes = static_cast<uint32_t>(tile.lds_bytes());
  kernel.args = GemmArguments(r);
  return kernel;
}

// A dim whose size is not known counts as a typical one to the model.
double ModelExtent(const PlanDim& dim) {
  return dim.min == dim.max ? static_cast<double>(dim.min) : 4096.0;
}

void AddFamily(const GemmRequest& r, const GemmFamily& family,
               absl::Span<const GemmTile> tiles, Plan* plan) {
  const PlanDim& m = r.dims[kGemmM];
  for (const GemmBucket& bucket :
       GemmBuckets(tiles, m.min, m.max, ModelExtent(r.dims[kGemmN]),
                   ModelExtent(r.dims[kGemmK]))) {
    Variant variant;
    const bool dma = family.schedule == GemmSchedule::kDma;
    variant.name = absl::StrCat(dma ? "dma" : "staged",
                                family.width_d > 1 ? "" : "_narrow", "_",
                                GemmTileName(bucket.tile));
    variant.guards = family.guards;
    variant.guards.push_back({Guard::kDim, kGemmM, bucket.min, bucket.max, 0});
    LaunchStep launch;
    launch.kernel = static_cast<int>(plan->kernels.size());
    plan->kernels.push_back({Kernel(r, family, bucket.tile)});
    launch.grid = plan->kernels.back().spec.grid;
    variant.recipe.steps.push_back(launch);
    plan->variants.push_back(std::move(variant));
  }
}

absl::StatusOr<Plan> PlanGemm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const GemmRequest request, ReadGemmRequest(spec));
  Plan plan;
  plan.resolved = spec;
  DescribeGemm(request, &plan);
  const std::vector<GemmFamily> families = GemmFamilies(request);
  for (const GemmFamily& family : families) {
    // A pinned tile that a fall-back does not have leaves the fall-back out: a
    // launch that needs it matches no variant and is refused.
    const std::vector<GemmTile> tiles = GemmPinnedTiles(spec, family.schedule);
    if (!tiles.empty()) AddFamily(request, family, tiles, &plan);
  }
  if (plan.variants.empty()) return RefuseGemmPins(spec, families);
  ResolveGemmTuning(&plan);
  return plan;
}

}  // namespace

extern constinit const OpDef k_op_gemm = {
    .name = "gemm",
    .summary =
        "d[m,n] = act(alpha * op(A)[m,k] @ op(B)[k,n] + beta * c[m,n] + "
        "bias[n]) + residual[m,n]",
    .dims = kGemmDims,
    .operands = kGemmOperands,
    .attrs = kGemmAttrs,
    .tuning = kGemmTuning,
    .plan = PlanGemm,
    .samples = GemmSamples,
    .bad_samples = GemmBadSamples,
};

}  // namespace ingot
