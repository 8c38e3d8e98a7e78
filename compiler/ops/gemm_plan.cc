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
#include <algorithm>

#include "absl/strings/str_join.h"
#include "compiler/ops/gemm_plan_access.h"
#include "compiler/ops/gemm_plan_contract.h"
#include "compiler/ops/gemm_plan_samples.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/op.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

struct TuningField {
  const char* name;
  int GemmTile::* member;
};
constexpr TuningField kTuning[] = {
    {"tile_m", &GemmTile::m},        {"tile_n", &GemmTile::n},
    {"tile_k", &GemmTile::k},        {"waves_m", &GemmTile::waves_m},
    {"waves_n", &GemmTile::waves_n}, {"stages", &GemmTile::stages}};

std::string Describe(const GemmTile& tile) {
  return absl::StrJoin(kTuning, " ",
                       [&](std::string* out, const TuningField& f) {
                         absl::StrAppend(out, f.name, "=", tile.*f.member);
                       });
}

// The tiles of a schedule that agree with what the spec pins; maybe none.
std::vector<GemmTile> PinnedTiles(const Spec& spec, GemmSchedule schedule) {
  std::vector<GemmTile> tiles;
  for (const GemmTile& tile : GemmTiles(schedule)) {
    if (std::all_of(std::begin(kTuning), std::end(kTuning),
                    [&](const TuningField& field) {
                      const Tuning* pin = spec.FindTuning(field.name);
                      return pin == nullptr || pin->value == tile.*field.member;
                    })) {
      tiles.push_back(tile);
    }
  }
  return tiles;
}

absl::Status RefusePins(const Spec& spec,
                        absl::Span<const GemmFamily> families) {
  std::vector<std::string> allowed;
  for (const GemmFamily& family : families) {
    for (const GemmTile& tile : GemmTiles(family.schedule)) {
      allowed.push_back(Describe(tile));
    }
  }
  return Invalid("tuning of gemm",
                 absl::StrJoin(spec.tuning, " ",
                               [](std::string* out, const Tuning& pin) {
                                 absl::StrAppend(out, pin.name, "=", pin.value);
                               }),
                 absl::StrJoin(allowed, "; "));
}

std::vector<Param> CodegenOptions(const GemmFamily& family,
                                  const GemmTile& tile) {
  if (family.schedule == GemmSchedule::kStaged) {
    return {{"agpr_alloc", int64_t{0}}, {"opt", "light"}};
  }
  // The body writes its loop in final order, so the schedulers and the middle
  // end stay off. Accumulators beyond a quarter of the register file go to
  // AGPRs.
  const int accumulators = tile.m * tile.n / tile.waves() / 64;
  const int64_t agprs = accumulators >= 128 ? 256 : 0;
  return {{"agpr_alloc", agprs}, {"opt", "none"}, {"reorder", int64_t{0}}};
}

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
  for (const TuningField& field : kTuning) {
    kernel.params.push_back({field.name, int64_t{tile.*field.member}});
  }
  kernel.codegen = CodegenOptions(family, tile);
  kernel.workgroup = {static_cast<uint32_t>(tile.waves() * 64), 1, 1};
  kernel.grid = {CeilDiv(Expr::DimAt(kGemmM), Expr::Const(tile.m)) *
                     CeilDiv(Expr::DimAt(kGemmN), Expr::Const(tile.n)),
                 Expr::Const(1), Expr::Const(1)};
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

// One configuration for the whole plan is written into the resolved spec, which
// then pins it; several stand in the names of the variants.
void ResolveTuning(Plan* plan) {
  const std::vector<Param>& first = plan->kernels.front().spec.params;
  std::vector<Tuning> tuning;
  for (const TuningField& field : kTuning) {
    for (const PlanKernel& kernel : plan->kernels) {
      if (kernel.spec.GetInt(field.name).value_or(0) !=
          plan->kernels.front().spec.GetInt(field.name).value_or(0)) {
        return;
      }
    }
  }
  for (const Param& param : first) {
    for (const TuningField& field : kTuning) {
      if (param.name == field.name) {
        tuning.push_back({param.name, std::get<int64_t>(param.value)});
      }
    }
  }
  std::sort(tuning.begin(), tuning.end(),
            [](const Tuning& a, const Tuning& b) { return a.name < b.name; });
  plan->resolved.tuning = std::move(tuning);
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
    const std::vector<GemmTile> tiles = PinnedTiles(spec, family.schedule);
    if (!tiles.empty()) AddFamily(request, family, tiles, &plan);
  }
  if (plan.variants.empty()) return RefusePins(spec, families);
  ResolveTuning(&plan);
  return plan;
}

constexpr const char* kTuningNames[] = {"tile_m",  "tile_n",  "tile_k",
                                        "waves_m", "waves_n", "stages"};

}  // namespace

extern constinit const OpDef k_op_gemm = {
    .name = "gemm",
    .summary =
        "d[m,n] = alpha * op(A)[m,k] @ op(B)[k,n] + beta * c[m,n] + "
        "bias[n]",
    .dims = kGemmDims,
    .operands = kGemmOperands,
    .attrs = kGemmAttrs,
    .tuning = kTuningNames,
    .plan = PlanGemm,
    .samples = GemmSamples,
    .bad_samples = GemmBadSamples,
};

}  // namespace ingot
