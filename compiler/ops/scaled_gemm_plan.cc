// scaled_gemm: variants, kernels and tuning; the contract stands in
// scaled_gemm_plan_request.h.
//
// What is baked is what changes the code: formats, layouts, tile, how wide the
// accesses to each matrix are, whether there is a bias. n, k and strides travel
// as arguments, so all weights of a model share a handful of kernels and a
// token count never compiles.
//
// Variants, in this order: the fastest accesses that some launch may allow,
// then those that every launch does, each split by m into the tiles that the
// model likes (scaled_gemm_plan_tiles.h).
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/gemm_plan_split.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scaled_gemm_plan_access.h"
#include "compiler/ops/scaled_gemm_plan_request.h"
#include "compiler/ops/scaled_gemm_plan_samples.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"

namespace ingot {
namespace {

// Widths of accesses: of a and b in bytes, of d and bias in elements.
struct Family {
  GemmSchedule schedule = GemmSchedule::kStaged;
  ScaledFormats formats;
  int64_t width_a = 1;
  int64_t width_b = 1;
  int64_t width_d = 1;
  int64_t width_bias = 0;
  std::vector<Guard> guards;

  bool dma() const { return schedule == GemmSchedule::kDma; }
};

// The best that every launch allows; with `any_stride`, whose dynamic strides
// are what the family's guards ask for.
Family BestFamily(const ScaledGemmRequest& r, bool any_stride) {
  Family family;
  family.formats = {r.bits(kScaledA), r.bits(kScaledB), true,
                    r.scales_shuffled};
  family.width_a = RowAlignment(r, kScaledA, 16, any_stride);
  family.width_b = RowAlignment(r, kScaledB, 16, any_stride);
  family.width_d = ScaledOutputWidth(r, any_stride);
  family.width_bias = ScaledBiasWidth(r);
  const bool dma = family.width_a == 16 && family.width_b == 16;
  family.schedule = dma ? GemmSchedule::kDma : GemmSchedule::kStaged;
  // Words of shuffled scales cover 256 k; only a DMA takes scales by words.
  family.formats.scale_words =
      dma && (r.scales_shuffled
                  ? AlwaysMultiple(r.dims[kScaledK], 256)
                  : RowAlignment(r, kScaledScaleA, 4, any_stride) == 4 &&
                        RowAlignment(r, kScaledScaleB, 4, any_stride) == 4);
  const auto require = [&](int operand, int64_t bytes) {
    RequireRows(r, operand, operand, bytes, &family.guards);
  };
  const int64_t scale_bytes = family.formats.scale_words ? 4 : 1;
  require(kScaledA, family.width_a);
  require(kScaledB, family.width_b);
  // Pairs of shuffled scales are two bytes.
  const int64_t scale_alignment = r.scales_shuffled ? 4 : scale_bytes;
  require(kScaledScaleA, scale_alignment);
  require(kScaledScaleB, scale_alignment);
  require(kScaledD, family.width_d * DtypeBytes(r.dtype(kScaledD)));
  if (r.bias != nullptr) {
    family.guards.push_back({Guard::kOperandAlignment, kScaledBias, 0, 0,
                             family.width_bias * DtypeBytes(r.bias->dtype)});
  }
  return family;
}

std::vector<Family> Families(const ScaledGemmRequest& r) {
  std::vector<Family> families;
  if (HasDynamicStrides(r)) families.push_back(BestFamily(r, true));
  families.push_back(BestFamily(r, false));
  return families;
}

KernelSpec Kernel(const ScaledGemmRequest& r, const Family& family,
                  const GemmTile& tile, GemmPart part) {
  KernelSpec kernel;
  kernel.symbol = absl::StrCat(
      "ingot_scaled_gemm_", r.dtype(kScaledA), "_", r.dtype(kScaledB), "_",
      r.dtype(kScaledD), "_", GemmPartName(tile, part),
      family.dma() ? "" : "_staged", r.weights_shuffled ? "_shuffled" : "");
  kernel.params = ScaledGemmContractParams(r);
  const auto pieces = [&](int wave_rows) {
    return ScalePiecesName(PiecesOf(family.formats, tile, wave_rows));
  };
  kernel.params.push_back({"scales_a", pieces(tile.m / tile.waves_m)});
  kernel.params.push_back({"scales_b", pieces(tile.n / tile.waves_n)});
  kernel.params.push_back({"schedule", family.dma() ? "dma" : "staged"});
  kernel.params.push_back({"width_a", family.width_a});
  kernel.params.push_back({"width_b", family.width_b});
  kernel.params.push_back({"width_bias", family.width_bias});
  kernel.params.push_back({"width_d", family.width_d});
  for (Param& param : GemmTileParams(tile)) kernel.params.push_back(param);
  kernel.args = ScaledGemmArguments(r);
  return kernel;
}

Recipe RecipeFor(const ScaledGemmRequest& r, const Family& family,
                 const GemmTile& tile, Plan* plan) {
  return GemmRecipe(
      {Expr::DimAt(kScaledM), Expr::DimAt(kScaledN), Expr::DimAt(kScaledK),
       Expr::Const(1)},
      {family.schedule, tile, ScaledLdsBytes(family.formats, tile)},
      [&](const GemmTile& of, GemmPart part) {
        return Kernel(r, family, of, part);
      },
      plan);
}

void AddFamily(const ScaledGemmRequest& r, const Family& family,
               absl::Span<const GemmTile> tiles, Plan* plan,
               std::vector<GemmTile>* used) {
  const PlanDim& m = r.dims[kScaledM];
  const double n = ModelExtent(r.dims[kScaledN]);
  const double k = ModelExtent(r.dims[kScaledK]);
  const std::vector<GemmBucket> buckets = TileBuckets(
      tiles, m.min, m.max, 1, [&](const GemmTile& tile, double rows) {
        return ScaledMicroseconds(family.formats, tile, rows, n, k);
      });
  for (const GemmBucket& bucket : buckets) {
    Variant variant;
    variant.name =
        GemmVariantName(family.schedule, family.width_d, bucket.tile);
    variant.guards = family.guards;
    variant.guards.push_back(
        {Guard::kDim, kScaledM, bucket.min, bucket.max, 0});
    variant.recipe = RecipeFor(r, family, bucket.tile, plan);
    plan->variants.push_back(std::move(variant));
    used->push_back(bucket.tile);
  }
}

std::vector<GemmTile> Tiles(const ScaledGemmRequest& r, GemmSchedule schedule,
                            const ScaledFormats& formats) {
  std::vector<GemmTile> tiles = AllScaledTiles(schedule, formats);
  // Of a product of one step, the other stages would be fetched in vain.
  for (GemmTile& tile : tiles) {
    if (r.dims[kScaledK].max <= tile.k) tile.stages = 2;
  }
  return tiles;
}

absl::StatusOr<Plan> PlanScaledGemm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const ScaledGemmRequest request,
                         ReadScaledGemmRequest(spec));
  Plan plan;
  plan.resolved = spec;
  DescribeScaledGemm(request, &plan);
  std::vector<GemmTile> allowed, used;
  for (const Family& family : Families(request)) {
    const std::vector<GemmTile> all =
        Tiles(request, family.schedule, family.formats);
    allowed.insert(allowed.end(), all.begin(), all.end());
    // A pinned tile that a fall-back does not have leaves the fall-back out: a
    // launch that needs it matches no variant and is refused.
    const std::vector<GemmTile> tiles = PinnedTiles(spec, all);
    if (!tiles.empty()) AddFamily(request, family, tiles, &plan, &used);
  }
  if (used.empty()) return RefusePins(spec, allowed);
  ResolveGemmTuning(used, &plan);
  return plan;
}

std::vector<Candidate> Candidates(const Spec& spec) {
  const absl::StatusOr<ScaledGemmRequest> request = ReadScaledGemmRequest(spec);
  if (!request.ok()) return {};
  const ScaledFormats formats = BestFamily(*request, true).formats;
  return TileCandidates(spec,
                        {Tiles(*request, GemmSchedule::kDma, formats),
                         Tiles(*request, GemmSchedule::kStaged, formats)},
                        [&](const GemmTile& tile) {
                          return ScaledMicroseconds(
                              formats, tile, SpecExtent(spec, "m", 4096),
                              SpecExtent(spec, "n", 4096),
                              SpecExtent(spec, "k", 4096));
                        });
}

}  // namespace

extern constinit const OpDef k_op_scaled_gemm = {
    .name = "scaled_gemm",
    .summary =
        "d[m,n] = (a[m,k] * 2^(scale_a[m,k/32]-127)) @ "
        "(b[n,k] * 2^(scale_b[n,k/32]-127))^T + bias[n]",
    .dims = kScaledGemmDims,
    .operands = kScaledGemmOperands,
    .attrs = kScaledGemmAttrs,
    .tuning = kGemmTuning,
    .plan = PlanScaledGemm,
    .samples = ScaledGemmSamples,
    .bad_samples = ScaledGemmBadSamples,
    .candidates = Candidates,
};

}  // namespace ingot
