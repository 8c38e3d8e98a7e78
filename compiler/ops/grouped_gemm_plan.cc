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
#include "absl/strings/str_cat.h"
#include "compiler/ops/gemm_plan_access.h"
#include "compiler/ops/gemm_plan_contract.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/grouped_gemm_plan_request.h"
#include "compiler/ops/grouped_gemm_plan_samples.h"
#include "compiler/ops/grouped_gemm_plan_scaled.h"
#include "compiler/ops/grouped_gemm_plan_walk.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recipe_steps.h"

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

void AddFamily(const GroupedGemmRequest& request,
               const GroupedModelProblem& problem, const GemmFamily& family,
               absl::Span<const GemmTile> tiles, Plan* plan) {
  const GemmRequest& r = request.gemm;
  const PlanDim& rows = r.dims[kGroupedTotalM];
  const std::vector<GemmBucket> buckets = TileBuckets(
      tiles, rows.min, rows.max, GroupedBucketScale(problem.groups),
      [&](const GemmTile& tile, double m) {
        return GroupedMicroseconds(tile, ElementsOf(tile), m, problem);
      });
  for (const GemmBucket& bucket : buckets) {
    Variant variant;
    variant.name =
        GemmVariantName(family.schedule, family.width_d, bucket.tile);
    variant.guards = family.guards;
    variant.guards.push_back(
        {Guard::kDim, kGroupedTotalM, bucket.min, bucket.max, 0});
    AddLaunch(Kernel(request, family, bucket.tile), plan, &variant.recipe);
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
    if (!tiles.empty())
      AddFamily(request, GroupedModelProblemOf(spec), family, tiles, &plan);
  }
  if (plan.variants.empty()) return RefuseGemmPins(spec, families);
  ResolveGemmTuning(&plan);
  return plan;
}

std::vector<Candidate> Candidates(const Spec& spec) {
  if (IsScaledGroupedGemm(spec)) return ScaledGroupedGemmCandidates(spec);
  const GroupedModelProblem problem = GroupedModelProblemOf(spec);
  return TileCandidates(
      spec, {GemmTiles(GemmSchedule::kDma), GemmTiles(GemmSchedule::kStaged)},
      [&](const GemmTile& tile) {
        return GroupedMicroseconds(tile, ElementsOf(tile),
                                   SpecExtent(spec, "total_m", 4096), problem);
      });
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
    .candidates = Candidates,
};

}  // namespace ingot
