// gemm: d[m,n] = alpha * op(A)[m,k] @ op(B)[k,n] + beta * c[m,n] + bias[n]
//
// a, b: bf16 or f16, the same; d: bf16, f16 or f32; c (optional): dtype of d;
// bias (optional): dtype of d or f32. f32 accumulation, one rounding at the
// end. `layout` (default "nt"): first letter A, n = stored [m,k], t = stored
// [k,m]; second letter B, n = stored [k,n], t = stored [n,k]. With c its
// elements are read whatever beta is. d may be c, and may not overlap a or b.
//
// Limits: n, k and row strides below 2^21 elements, so that a panel of 256 rows
// stays inside a buffer descriptor (2 GiB; tensors may be larger); m up to 2^30
// where it is not a row's length.
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
#include "compiler/ops/gemm_plan_request.h"
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

PlanOperand DescribeMatrix(const GemmMatrix& x, bool output) {
  PlanOperand out;
  out.name = x.operand->name;
  out.dtype = x.operand->dtype;
  out.axes = 2;
  out.stride_mode = x.operand->stride_mode;
  out.extents = {Expr::DimAt(x.rows), Expr::DimAt(x.inner)};
  out.output = output;
  if (out.stride_mode == StrideMode::kDense) {
    out.strides = {Expr::DimAt(x.inner), Expr::Const(1)};
  } else if (out.stride_mode == StrideMode::kStatic) {
    out.strides = {Expr::Const(x.operand->strides[0]), Expr::Const(1)};
  }
  return out;
}

void DescribeOperands(const GemmRequest& r, Plan* plan) {
  plan->dims.assign(r.dims.begin(), r.dims.end());
  plan->operands = {DescribeMatrix(r.a, false), DescribeMatrix(r.b, false),
                    DescribeMatrix(r.d, true)};
  plan->scalars = {{"alpha", "f32", 1.0}};
  if (r.has_c()) {
    plan->operands.push_back(DescribeMatrix(r.c, false));
    plan->scalars.push_back({"beta", "f32", 0.0});
  }
  if (r.bias != nullptr) {
    PlanOperand bias;
    bias.name = "bias";
    bias.dtype = r.bias->dtype;
    bias.axes = 1;
    bias.strides = {Expr::Const(1)};
    bias.extents = {Expr::DimAt(kGemmN)};
    plan->operands.push_back(bias);
  }
}

std::vector<KernelArg> Arguments(const GemmRequest& r) {
  std::vector<KernelArg> args;
  const auto pointer = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kOperand, index, 8, Expr::Const(0)});
  };
  const auto integer = [&](const char* name, Expr value) {
    args.push_back({name, KernelArg::kInteger, 0, 4, std::move(value)});
  };
  const auto scalar = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kScalar, index, 4, Expr::Const(0)});
  };
  pointer("a", r.a.index);
  pointer("b", r.b.index);
  pointer("d", r.d.index);
  if (r.has_c()) pointer("c", r.c.index);
  if (r.bias != nullptr) pointer("bias", r.has_c() ? 4 : 3);
  integer("m", Expr::DimAt(kGemmM));
  integer("n", Expr::DimAt(kGemmN));
  integer("k", Expr::DimAt(kGemmK));
  // Strides also where they are dense or static: the kernel is the same.
  integer("lda", Expr::StrideAt(r.a.index, 0));
  integer("ldb", Expr::StrideAt(r.b.index, 0));
  integer("ldd", Expr::StrideAt(r.d.index, 0));
  if (r.has_c()) integer("ldc", Expr::StrideAt(r.c.index, 0));
  scalar("alpha", 0);
  if (r.has_c()) scalar("beta", 1);
  return args;
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
  const std::string bias = r.bias == nullptr ? "none" : r.bias->dtype;
  kernel.symbol =
      absl::StrCat("ingot_gemm_", r.dtype, "_", r.dtype_d, "_", r.layout, "_",
                   GemmTileName(tile), dma ? "" : "_staged");
  kernel.params = {{"dtype", r.dtype},
                   {"dtype_d", r.dtype_d},
                   {"bias", bias},
                   {"layout", r.layout},
                   {"schedule", dma ? "dma" : "staged"},
                   {"has_c", int64_t{r.has_c()}},
                   {"width_a", int64_t{family.width_a}},
                   {"width_b", int64_t{family.width_b}},
                   {"width_d", int64_t{family.width_d}}};
  for (const TuningField& field : kTuning) {
    kernel.params.push_back({field.name, int64_t{tile.*field.member}});
  }
  kernel.codegen = CodegenOptions(family, tile);
  kernel.workgroup = {static_cast<uint32_t>(tile.waves() * 64), 1, 1};
  kernel.grid = {CeilDiv(Expr::DimAt(kGemmM), Expr::Const(tile.m)) *
                     CeilDiv(Expr::DimAt(kGemmN), Expr::Const(tile.n)),
                 Expr::Const(1), Expr::Const(1)};
  kernel.lds_bytes = static_cast<uint32_t>(tile.lds_bytes());
  kernel.args = Arguments(r);
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
  plan.resolved.attrs = {{"act", "none"}, {"layout", request.layout}};
  DescribeOperands(request, &plan);
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

Spec Sample(absl::string_view layout, absl::string_view dtype, int64_t n,
            int64_t k, absl::string_view dtype_d) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", n}, {"k", k}};
  spec.operands = {{"a", std::string(dtype)},
                   {"b", std::string(dtype)},
                   {"d", std::string(dtype_d)}};
  spec.attrs = {{"layout", std::string(layout)}};
  return spec;
}

std::vector<Spec> Samples() {
  std::vector<Spec> samples;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    samples.push_back(Sample(layout, "bf16", 4096, 4096, "bf16"));
    samples.push_back(Sample(layout, "f16", 257, 129, "f32"));
  }
  Spec addmm = Sample("nt", "bf16", 6144, 4096, "bf16");
  addmm.operands.push_back({"c", "bf16"});
  addmm.operands.push_back({"bias", "f32"});
  samples.push_back(addmm);
  Spec strided = Sample("nn", "f16", 512, 1000, "f16");
  strided.operands[0].stride_mode = StrideMode::kDynamic;
  strided.operands[1].stride_mode = StrideMode::kStatic;
  strided.operands[1].strides = {1024, 1};
  strided.operands[2].alignment = 2;
  samples.push_back(strided);
  Spec pinned = Sample("nt", "bf16", 4096, 4096, "bf16");
  pinned.tuning = {{"tile_m", 256}, {"tile_n", 256}};
  samples.push_back(pinned);
  return samples;
}

std::vector<Spec> BadSamples() {
  const Spec good = Sample("nt", "bf16", 4096, 4096, "bf16");
  std::vector<Spec> bad;
  const auto with = [&](auto change) {
    bad.push_back(good);
    change(bad.back());
  };
  with([](Spec& s) { s.dims[1].value = 0; });
  with([](Spec& s) { s.dims[1].value = int64_t{1} << 40; });
  with([](Spec& s) { s.dims.erase(s.dims.begin()); });
  with([](Spec& s) { s.dims.push_back({"q", 1}); });
  with([](Spec& s) { s.dims[0].min = 8, s.dims[0].max = 4; });
  with([](Spec& s) { s.operands.pop_back(); });
  with([](Spec& s) { s.operands[1].dtype = "f16"; });
  with([](Spec& s) { s.operands[0].dtype = s.operands[1].dtype = "f32"; });
  with([](Spec& s) { s.operands[2].dtype = "i8"; });
  with([](Spec& s) { s.operands.push_back({"c", "f32"}); });
  with([](Spec& s) { s.operands.push_back({"bias", "f16"}); });
  with([](Spec& s) { s.operands[0].alignment = 1; });
  with([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {4095, 1};
  });
  with([](Spec& s) {
    s.operands[0].stride_mode = StrideMode::kStatic;
    s.operands[0].strides = {1, 4096};
  });
  with([](Spec& s) { s.attrs[0].value = "xy"; });
  with([](Spec& s) { s.attrs[0].value = int64_t{1}; });
  with([](Spec& s) { s.attrs.push_back({"act", "gelu_tanh"}); });
  with([](Spec& s) { s.attrs.push_back({"colour", "red"}); });
  with([](Spec& s) { s.tuning = {{"tile_m", 100}}; });
  with([](Spec& s) { s.tuning = {{"warps", 4}}; });
  return bad;
}

constexpr const char* kDims[] = {"m", "n", "k"};
constexpr const char* kOperands[] = {"a", "b", "d", "c", "bias"};
constexpr const char* kAttrs[] = {"layout", "act"};
constexpr const char* kTuningNames[] = {"tile_m",  "tile_n",  "tile_k",
                                        "waves_m", "waves_n", "stages"};

}  // namespace

extern constinit const OpDef k_op_gemm = {
    .name = "gemm",
    .summary =
        "d[m,n] = alpha * op(A)[m,k] @ op(B)[k,n] + beta * c[m,n] + "
        "bias[n]",
    .dims = kDims,
    .operands = kOperands,
    .attrs = kAttrs,
    .tuning = kTuningNames,
    .plan = PlanGemm,
    .samples = Samples,
    .bad_samples = BadSamples,
};

}  // namespace ingot
