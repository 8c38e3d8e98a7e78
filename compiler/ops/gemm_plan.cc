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
#include "compiler/ops/checks.h"
#include "compiler/ops/gemm_plan_access.h"
#include "compiler/ops/gemm_plan_contract.h"
#include "compiler/ops/gemm_plan_samples.h"
#include "compiler/ops/gemm_plan_split.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_time.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"

namespace ingot {
namespace {

constexpr ScaledFormats kFp8 = {8, 8, /*block_scaled=*/false};

std::vector<GemmTile> TilesFor(bool fp8, GemmSchedule schedule) {
  if (!fp8) return AllGemmTiles(schedule);
  return AllScaledTiles(schedule, kFp8);
}

GemmElements ElementsFor(bool fp8, const GemmTile& tile) {
  return fp8 ? ScaledElements(kFp8, tile) : ElementsOf(tile);
}

KernelSpec Kernel(const GemmRequest& r, const GemmFamily& family,
                  const GemmTile& tile, GemmPart part) {
  KernelSpec kernel;
  const bool dma = family.schedule == GemmSchedule::kDma;
  kernel.symbol = absl::StrCat(
      "ingot_gemm_", r.dtype, "_", r.fp8() ? r.dtype_b + "_" : "", r.dtype_d,
      "_", r.layout, "_", GemmPartName(tile, part), dma ? "" : "_staged");
  kernel.params = GemmContractParams(r);
  kernel.params.push_back({"schedule", dma ? "dma" : "staged"});
  kernel.params.push_back({"width_a", int64_t{family.width_a}});
  kernel.params.push_back({"width_b", int64_t{family.width_b}});
  kernel.params.push_back({"width_d", int64_t{family.width_d}});
  for (Param& param : GemmTileParams(tile)) kernel.params.push_back(param);
  kernel.args = GemmArguments(r);
  return kernel;
}

Recipe RecipeFor(const GemmRequest& r, const GemmFamily& family,
                 const GemmTile& tile, Plan* plan) {
  const auto lds_bytes =
      static_cast<int64_t>(ElementsFor(r.fp8(), tile).lds_bytes);
  return GemmRecipe(
      {Expr::DimAt(kGemmM), GemmColumns(r), Expr::DimAt(kGemmK), GemmGridZ(r)},
      {family.schedule, tile, lds_bytes},
      [&](const GemmTile& of, GemmPart part) {
        return Kernel(r, family, of, part);
      },
      plan);
}

void AddFamily(const GemmRequest& r, const GemmFamily& family,
               absl::Span<const GemmTile> tiles, Plan* plan,
               std::vector<GemmTile>* used) {
  const PlanDim& m = r.dims[kGemmM];
  const double n = ModelExtent(r.dims[kGemmN]);
  const double k = ModelExtent(r.dims[kGemmK]);
  const auto microseconds = [&](const GemmTile& tile, double rows) {
    return GemmMicroseconds(tile, ElementsFor(r.fp8(), tile), rows, n, k);
  };
  for (const GemmBucket& bucket :
       TileBuckets(tiles, m.min, m.max, 1, microseconds)) {
    Variant variant;
    variant.name =
        GemmVariantName(family.schedule, family.width_d, bucket.tile);
    variant.guards = family.guards;
    variant.guards.push_back({Guard::kDim, kGemmM, bucket.min, bucket.max, 0});
    variant.recipe = RecipeFor(r, family, bucket.tile, plan);
    plan->variants.push_back(std::move(variant));
    used->push_back(bucket.tile);
  }
}

absl::StatusOr<Plan> PlanGemm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const GemmRequest request, ReadGemmRequest(spec));
  Plan plan;
  plan.resolved = spec;
  DescribeGemm(request, &plan);
  std::vector<GemmTile> allowed, used;
  for (const GemmFamily& family : GemmFamilies(request)) {
    // A pinned tile that a fall-back does not have leaves the fall-back out: a
    // launch that needs it matches no variant and is refused.
    const std::vector<GemmTile> all = TilesFor(request.fp8(), family.schedule);
    allowed.insert(allowed.end(), all.begin(), all.end());
    const std::vector<GemmTile> tiles = PinnedTiles(spec, all);
    if (!tiles.empty()) AddFamily(request, family, tiles, &plan, &used);
  }
  if (used.empty()) return RefusePins(spec, allowed);
  ResolveGemmTuning(used, &plan);
  return plan;
}

std::vector<Candidate> GemmCandidates(const Spec& spec) {
  const Operand* a = spec.FindOperand("a");
  const bool fp8 = a != nullptr && DtypeBytes(a->dtype) == 1;
  const double m = SpecExtent(spec, "m", 4096);
  const double n = SpecExtent(spec, "n", 4096);
  const double k = SpecExtent(spec, "k", 4096);
  return TileCandidates(
      spec,
      {TilesFor(fp8, GemmSchedule::kDma), TilesFor(fp8, GemmSchedule::kStaged)},
      [&](const GemmTile& tile) {
        return GemmMicroseconds(tile, ElementsFor(fp8, tile), m, n, k);
      });
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
    .candidates = GemmCandidates,
};

}  // namespace ingot
