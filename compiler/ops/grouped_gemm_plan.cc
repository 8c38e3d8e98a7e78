// grouped_gemm: variants, kernels and tuning; the contract stands in
// grouped_gemm_plan_request.h.
//
// What is baked is what changes the code: dtypes, layout of b, tile, how wide
// the accesses to each matrix are, activation, whether there is a bias, and how
// many groups there is room for (64, 256 or 1024). g, n, k and strides travel
// as arguments, so all experts of a model share a handful of kernels and a
// token count never compiles.
//
// As many workgroups as the device holds at once walk over the tiles of all
// groups; how many tiles there are, only they know. Variants are those of gemm,
// split by total_m into the tiles that the model likes for so many rows a
// group.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/ops/gemm_plan_access.h"
#include "compiler/ops/gemm_plan_contract.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_time.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/grouped_gemm_plan_request.h"
#include "compiler/ops/grouped_gemm_plan_samples.h"
#include "compiler/ops/grouped_gemm_plan_scaled.h"
#include "compiler/ops/grouped_gemm_plan_walk.h"
#include "compiler/ops/op.h"

namespace ingot {
namespace {

KernelSpec Kernel(const GroupedGemmRequest& request, const GemmFamily& family,
                  const GemmTile& tile) {
  const GemmRequest& r = request.gemm;
  KernelSpec kernel;
  const bool dma = family.schedule == GemmSchedule::kDma;
  kernel.symbol = absl::StrCat("ingot_grouped_gemm_", r.dtype, "_", r.dtype_d,
                               "_", request.b_layout, "_", GemmTileName(tile),
                               dma ? "" : "_staged");
  kernel.params = {{"act", r.act},
                   {"b_layout", request.b_layout},
                   {"bias", r.bias == nullptr ? "none" : r.bias->dtype},
                   {"capacity", GroupedCapacity(request.groups().max)},
                   {"dtype_a", r.dtype},
                   {"dtype_b", r.dtype},
                   {"dtype_d", r.dtype_d},
                   {"pairing", r.pairing},
                   {"scales_a", "none"},
                   {"scales_b", "none"},
                   {"schedule", dma ? "dma" : "staged"},
                   {"width_a", int64_t{family.width_a}},
                   {"width_b", int64_t{family.width_b}},
                   {"width_bias", int64_t{GemmBiasWidth(r)}},
                   {"width_d", int64_t{family.width_d}}};
  for (Param& param : GemmTileParams(tile)) kernel.params.push_back(param);
  kernel.codegen = GemmCodegenOptions(family.schedule, tile);
  kernel.workgroup = {static_cast<uint32_t>(tile.waves() * 64), 1, 1};
  const Expr workgroups =
      GroupedWorkgroups(tile, tile.lds_bytes(), GemmColumns(r));
  kernel.grid = {workgroups, Expr::Const(1), Expr::Const(1)};
  kernel.lds_bytes = static_cast<uint32_t>(tile.lds_bytes());
  kernel.args = GroupedGemmArguments(request, workgroups);
  return kernel;
}

// A dim whose size is not known counts as a typical one to the model.
double ModelExtent(const PlanDim& dim, double typical) {
  return dim.min == dim.max ? static_cast<double>(dim.min) : typical;
}

struct ModelProblem {
  double groups = 0;
  double columns = 0;
  double k = 0;
  double n = 0;  // of d
};

double Microseconds(const GemmTile& tile, double rows, const ModelProblem& p) {
  constexpr double kMostResident = 2;  // GroupedWorkgroups starts no more
  const double active = ActiveGroups(rows, p.groups);
  const double weights = active * p.k * p.columns;
  const auto of = [&](double row_tiles) {
    return TilesMicroseconds(tile, row_tiles * std::ceil(p.columns / tile.n),
                             p.k, 2 * (rows * p.k + weights + rows * p.n),
                             kMostResident);
  };
  // Equal shares and skewed ones count alike: how the last tiles fill the
  // device differs between them.
  const double even = active * std::ceil(rows / active / tile.m);
  return (of(even) + of(GroupedRowTiles(tile, rows, p.groups))) / 2;
}

void AddFamily(const GroupedGemmRequest& request, const GemmFamily& family,
               absl::Span<const GemmTile> tiles, Plan* plan) {
  const GemmRequest& r = request.gemm;
  const double n = ModelExtent(r.dims[kGemmN], 4096);
  const ModelProblem problem = {ModelExtent(request.groups(), 16),
                                n * r.columns_factor(),
                                ModelExtent(r.dims[kGemmK], 4096), n};
  const PlanDim& rows = r.dims[kGroupedTotalM];
  const std::vector<GemmBucket> buckets =
      TileBuckets(tiles, rows.min, rows.max, GroupedBucketScale(problem.groups),
                  [&](const GemmTile& tile, double m) {
                    return Microseconds(tile, m, problem);
                  });
  for (const GemmBucket& bucket : buckets) {
    Variant variant;
    const bool dma = family.schedule == GemmSchedule::kDma;
    variant.name = absl::StrCat(dma ? "dma" : "staged",
                                family.width_d > 1 ? "" : "_narrow", "_",
                                GemmTileName(bucket.tile));
    variant.guards = family.guards;
    variant.guards.push_back(
        {Guard::kDim, kGroupedTotalM, bucket.min, bucket.max, 0});
    LaunchStep launch;
    launch.kernel = static_cast<int>(plan->kernels.size());
    plan->kernels.push_back({Kernel(request, family, bucket.tile)});
    launch.grid = plan->kernels.back().spec.grid;
    variant.recipe.steps.push_back(launch);
    plan->variants.push_back(std::move(variant));
  }
}

absl::StatusOr<Plan> PlanGroupedGemm(const Spec& spec) {
  if (IsScaledGroupedGemm(spec)) return PlanScaledGroupedGemm(spec);
  INGOT_ASSIGN_OR_RETURN(const GroupedGemmRequest request,
                         ReadGroupedGemmRequest(spec));
  Plan plan;
  plan.resolved = spec;
  DescribeGroupedGemm(request, &plan);
  const std::vector<GemmFamily> families = GemmFamilies(request.gemm);
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

extern constinit const OpDef k_op_grouped_gemm = {
    .name = "grouped_gemm",
    .summary =
        "d[r,n] = act(a[r,k] @ B[e][k,n] + bias[e,n]) for each row r of group "
        "e, which ends at offs[e]",
    .dims = kGroupedGemmDims,
    .operands = kGroupedGemmOperands,
    .attrs = kGroupedGemmAttrs,
    .tuning = kGemmTuning,
    .plan = PlanGroupedGemm,
    .samples = GroupedGemmSamples,
    .bad_samples = GroupedGemmBadSamples,
};

}  // namespace ingot
