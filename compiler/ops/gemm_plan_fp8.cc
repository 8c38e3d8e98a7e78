#include "compiler/ops/gemm_plan_fp8.h"

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/scaled_gemm_plan_access.h"
#include "compiler/ops/scaled_gemm_plan_request.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 30;
// Places in Plan::operands; scales and bias where there are any.
constexpr int kD = 2;
constexpr int kScaleA = 3;
constexpr int kScaleB = 4;

// Matrices as in a scaled_gemm without block scales.
struct Request {
  ScaledGemmRequest matrices;
  std::string scaling;
  const Operand* scale_a = nullptr;
  const Operand* scale_b = nullptr;

  bool scaled() const { return scaling != "none"; }
  int bias_index() const { return scaled() ? kScaleB + 1 : kScaleA; }
};

absl::Status CheckVector(const Operand& x) {
  if (x.stride_mode == StrideMode::kDynamic ||
      (x.stride_mode == StrideMode::kStatic &&
       (x.strides.size() != 1 || x.strides[0] != 1))) {
    return Invalid(absl::StrCat("strides of operand ", x.name),
                   absl::StrJoin(x.strides, ", "), "dense, or static 1");
  }
  return absl::OkStatus();
}

absl::Status CheckMatrix(const ScaledGemmRequest& r, int operand) {
  const Operand& x = *r.operands[operand];
  if (x.stride_mode != StrideMode::kStatic) return absl::OkStatus();
  const int64_t least = LeastRow(r, operand);
  if (x.strides.size() != 2 || x.strides[1] != 1 || x.strides[0] < least ||
      x.strides[0] > kScaledMaxRow) {
    return Invalid(absl::StrCat("strides of operand ", x.name),
                   absl::StrJoin(x.strides, ", "),
                   absl::StrCat("a row stride of ", least, " to ",
                                kScaledMaxRow, " and 1"));
  }
  return absl::OkStatus();
}

absl::Status CheckAlignment(const Operand& x) {
  if (AlignmentOf(x) >= DtypeBytes(x.dtype)) return absl::OkStatus();
  return Invalid(absl::StrCat("alignment of operand ", x.name),
                 absl::StrCat(x.alignment),
                 absl::StrCat(DtypeBytes(x.dtype), " or more"));
}

absl::Status ReadScales(const Spec& spec, Request* r) {
  INGOT_ASSIGN_OR_RETURN(r->scaling, CheckChoice(spec, "scaling", "none",
                                                 {"none", "tensor", "row"}));
  for (const auto& [name, operand] :
       {std::pair("scale_a", &r->scale_a), {"scale_b", &r->scale_b}}) {
    if (!r->scaled()) {
      if (spec.FindOperand(name) == nullptr) continue;
      return Invalid(absl::StrCat("operand ", name), "present",
                     "none, unless scaling is tensor or row");
    }
    INGOT_ASSIGN_OR_RETURN(*operand, CheckOperand(spec, name, {"f32"}));
    INGOT_RETURN_IF_ERROR(CheckVector(**operand));
    INGOT_RETURN_IF_ERROR(CheckAlignment(**operand));
  }
  return absl::OkStatus();
}

// What gemm has and this has not.
absl::Status RefuseTheRest(const Spec& spec) {
  for (const char* name : {"c", "residual"}) {
    if (spec.FindOperand(name) != nullptr) {
      return Unimplemented(absl::StrCat("operand ", name), "present",
                           "none with 8-bit elements");
    }
  }
  if (spec.FindDim("b") != nullptr) {
    return Unimplemented("dim b", "present", "none with 8-bit elements");
  }
  if (spec.FindAttr("pairing") != nullptr) {
    return Unimplemented("attribute pairing", "present",
                         "none with 8-bit elements");
  }
  INGOT_RETURN_IF_ERROR(CheckChoice(spec, "act", "none", {"none"}).status());
  return CheckChoice(spec, "layout", "nt", {"nt"}).status();
}

absl::StatusOr<Request> ReadRequest(const Spec& spec) {
  Request request;
  ScaledGemmRequest& r = request.matrices;
  INGOT_RETURN_IF_ERROR(RefuseTheRest(spec));
  INGOT_RETURN_IF_ERROR(ReadScales(spec, &request));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledM], CheckDim(spec, "m", kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledN], CheckDim(spec, "n", kScaledMaxRow));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledK], CheckDim(spec, "k", kScaledMaxRow));
  r.operands.fill(nullptr);
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledA],
                         CheckOperand(spec, "a", {"e4m3fn", "e5m2"}));
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledB],
                         CheckOperand(spec, "b", {"e4m3fn", "e5m2"}));
  INGOT_ASSIGN_OR_RETURN(r.operands[kScaledD],
                         CheckOperand(spec, "d", {"bf16", "f16", "f32"}));
  for (const int operand : {kScaledA, kScaledB, kScaledD}) {
    INGOT_RETURN_IF_ERROR(CheckMatrix(r, operand));
    INGOT_RETURN_IF_ERROR(CheckAlignment(*r.operands[operand]));
  }
  if (spec.FindOperand("bias") == nullptr) return request;
  INGOT_ASSIGN_OR_RETURN(
      r.bias, CheckOperand(spec, "bias",
                           {absl::string_view(r.dtype(kScaledD)), "f32"}));
  INGOT_RETURN_IF_ERROR(CheckVector(*r.bias));
  INGOT_RETURN_IF_ERROR(CheckAlignment(*r.bias));
  return request;
}

PlanOperand DescribeMatrix(const Operand& x, int rows, int inner) {
  PlanOperand out;
  out.name = x.name;
  out.dtype = x.dtype;
  out.axes = 2;
  out.stride_mode = x.stride_mode;
  out.extents = {Expr::DimAt(rows), Expr::DimAt(inner)};
  if (x.stride_mode == StrideMode::kDense) {
    out.strides = {Expr::DimAt(inner), Expr::Const(1)};
  } else if (x.stride_mode == StrideMode::kStatic) {
    out.strides = {Expr::Const(x.strides[0]), Expr::Const(1)};
  }
  return out;
}

PlanOperand DescribeVector(const Operand& x, const Expr& extent) {
  PlanOperand out;
  out.name = x.name;
  out.dtype = x.dtype;
  out.axes = 1;
  out.strides = {Expr::Const(1)};
  out.extents = {extent};
  return out;
}

void Describe(const Request& request, Plan* plan) {
  const ScaledGemmRequest& r = request.matrices;
  plan->resolved.attrs = {
      {"act", "none"}, {"layout", "nt"}, {"scaling", request.scaling}};
  plan->dims.assign(r.dims.begin(), r.dims.end());
  plan->operands = {DescribeMatrix(*r.operands[kScaledA], kScaledM, kScaledK),
                    DescribeMatrix(*r.operands[kScaledB], kScaledN, kScaledK),
                    DescribeMatrix(*r.operands[kScaledD], kScaledM, kScaledN)};
  plan->operands[kD].output = true;
  if (request.scaled()) {
    const bool rows = request.scaling == "row";
    const Expr one = Expr::Const(1);
    plan->operands.push_back(
        DescribeVector(*request.scale_a, rows ? Expr::DimAt(kScaledM) : one));
    plan->operands.push_back(
        DescribeVector(*request.scale_b, rows ? Expr::DimAt(kScaledN) : one));
  }
  if (r.bias != nullptr) {
    plan->operands.push_back(DescribeVector(*r.bias, Expr::DimAt(kScaledN)));
  }
  plan->scalars = {{"alpha", "f32", 1.0}};
}

// Widths of a and b in bytes, of d and bias in elements.
struct Family {
  GemmSchedule schedule = GemmSchedule::kStaged;
  int64_t width_a = 1;
  int64_t width_b = 1;
  int64_t width_d = 1;
  std::vector<Guard> guards;

  bool dma() const { return schedule == GemmSchedule::kDma; }
};

Family BestFamily(const Request& request, bool any_stride) {
  const ScaledGemmRequest& r = request.matrices;
  Family family;
  family.width_a = RowAlignment(r, kScaledA, 16, any_stride);
  family.width_b = RowAlignment(r, kScaledB, 16, any_stride);
  family.width_d = ScaledOutputWidth(r, any_stride);
  if (family.width_a == 16 && family.width_b == 16) {
    family.schedule = GemmSchedule::kDma;
  }
  RequireRows(r, kScaledA, 0, family.width_a, &family.guards);
  RequireRows(r, kScaledB, 1, family.width_b, &family.guards);
  RequireRows(r, kScaledD, kD, family.width_d * DtypeBytes(r.dtype(kScaledD)),
              &family.guards);
  if (request.scaled()) {
    for (const int index : {kScaleA, kScaleB}) {
      family.guards.push_back({Guard::kOperandAlignment, index, 0, 0, 4});
    }
  }
  if (r.bias != nullptr) {
    family.guards.push_back({Guard::kOperandAlignment, request.bias_index(), 0,
                             0,
                             ScaledBiasWidth(r) * DtypeBytes(r.bias->dtype)});
  }
  return family;
}

std::vector<KernelArg> Arguments(const Request& request) {
  const ScaledGemmRequest& r = request.matrices;
  std::vector<KernelArg> args;
  const auto pointer = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kOperand, index, 8, Expr::Const(0)});
  };
  const auto integer = [&](const char* name, Expr value) {
    args.push_back({name, KernelArg::kInteger, 0, 4, std::move(value)});
  };
  pointer("a", 0);
  pointer("b", 1);
  pointer("d", kD);
  if (request.scaled()) pointer("scale_a", kScaleA);
  if (request.scaled()) pointer("scale_b", kScaleB);
  if (r.bias != nullptr) pointer("bias", request.bias_index());
  integer("m", Expr::DimAt(kScaledM));
  integer("n", Expr::DimAt(kScaledN));
  integer("k", Expr::DimAt(kScaledK));
  integer("lda", Expr::StrideAt(0, 0));
  integer("ldb", Expr::StrideAt(1, 0));
  integer("ldd", Expr::StrideAt(kD, 0));
  args.push_back({"alpha", KernelArg::kScalar, 0, 4, Expr::Const(0)});
  return args;
}

KernelSpec Kernel(const Request& request, const Family& family,
                  const GemmTile& tile) {
  const ScaledGemmRequest& r = request.matrices;
  KernelSpec kernel;
  kernel.symbol =
      absl::StrCat("ingot_gemm_", r.dtype(kScaledA), "_", r.dtype(kScaledB),
                   "_", r.dtype(kScaledD), "_", GemmTileName(tile),
                   family.dma() ? "" : "_staged");
  kernel.params = {{"bias", r.bias == nullptr ? "none" : r.bias->dtype},
                   {"dtype_a", r.dtype(kScaledA)},
                   {"dtype_b", r.dtype(kScaledB)},
                   {"dtype_d", r.dtype(kScaledD)},
                   {"scaling", request.scaling},
                   {"schedule", family.dma() ? "dma" : "staged"},
                   {"width_a", family.width_a},
                   {"width_b", family.width_b},
                   {"width_bias", ScaledBiasWidth(r)},
                   {"width_d", family.width_d}};
  for (Param& param : GemmTileParams(tile)) kernel.params.push_back(param);
  kernel.codegen = GemmCodegenOptions(family.schedule, tile);
  kernel.workgroup = {static_cast<uint32_t>(tile.waves() * 64), 1, 1};
  kernel.grid = {CeilDiv(Expr::DimAt(kScaledM), Expr::Const(tile.m)) *
                     CeilDiv(Expr::DimAt(kScaledN), Expr::Const(tile.n)),
                 Expr::Const(1), Expr::Const(1)};
  kernel.lds_bytes = static_cast<uint32_t>(ScaledLdsBytes(kFp8Formats, tile));
  kernel.args = Arguments(request);
  return kernel;
}

// A dim whose size is not known counts as a typical one to the model.
double ModelExtent(const PlanDim& dim) {
  return dim.min == dim.max ? static_cast<double>(dim.min) : 4096.0;
}

void AddFamily(const Request& request, const Family& family,
               absl::Span<const GemmTile> tiles, Plan* plan) {
  const ScaledGemmRequest& r = request.matrices;
  const PlanDim& m = r.dims[kScaledM];
  const double n = ModelExtent(r.dims[kScaledN]);
  const double k = ModelExtent(r.dims[kScaledK]);
  const std::vector<GemmBucket> buckets = TileBuckets(
      tiles, m.min, m.max, 1, [&](const GemmTile& tile, double rows) {
        return ScaledMicroseconds(kFp8Formats, tile, rows, n, k);
      });
  for (const GemmBucket& bucket : buckets) {
    Variant variant;
    variant.name = absl::StrCat(family.dma() ? "dma" : "staged",
                                family.width_d > 1 ? "" : "_narrow", "_",
                                GemmTileName(bucket.tile));
    variant.guards = family.guards;
    variant.guards.push_back(
        {Guard::kDim, kScaledM, bucket.min, bucket.max, 0});
    LaunchStep launch;
    launch.kernel = static_cast<int>(plan->kernels.size());
    plan->kernels.push_back({Kernel(request, family, bucket.tile)});
    launch.grid = plan->kernels.back().spec.grid;
    variant.recipe.steps.push_back(launch);
    plan->variants.push_back(std::move(variant));
  }
}

Spec Sample(const char* a, const char* b, const char* d, const char* scaling) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", 4096}, {"k", 4096}};
  spec.operands = {{"a", a}, {"b", b}, {"d", d}};
  spec.attrs = {{"scaling", scaling}};
  if (std::string(scaling) == "none") return spec;
  spec.operands.push_back({"scale_a", "f32"});
  spec.operands.push_back({"scale_b", "f32"});
  return spec;
}

}  // namespace

bool IsFp8Gemm(const Spec& spec) {
  const Operand* a = spec.FindOperand("a");
  return a != nullptr && (a->dtype == "e4m3fn" || a->dtype == "e5m2");
}

absl::StatusOr<Plan> PlanFp8Gemm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Request request, ReadRequest(spec));
  Plan plan;
  plan.resolved = spec;
  Describe(request, &plan);
  std::vector<Family> families;
  if (HasDynamicStrides(request.matrices)) {
    families.push_back(BestFamily(request, true));
  }
  families.push_back(BestFamily(request, false));
  std::vector<GemmTile> allowed;
  for (const Family& family : families) {
    const std::vector<GemmTile> all = ScaledTiles(family.schedule, kFp8Formats);
    allowed.insert(allowed.end(), all.begin(), all.end());
    const std::vector<GemmTile> tiles = PinnedTiles(spec, all);
    if (!tiles.empty()) AddFamily(request, family, tiles, &plan);
  }
  if (plan.variants.empty()) return RefusePins(spec, allowed);
  ResolveGemmTuning(&plan);
  return plan;
}

absl::Status RefuseFp8Names(const Spec& spec) {
  for (const char* name : {"scale_a", "scale_b"}) {
    if (spec.FindOperand(name) != nullptr) {
      return Invalid(absl::StrCat("operand ", name), "present",
                     "none unless a is e4m3fn or e5m2");
    }
  }
  return CheckChoice(spec, "scaling", "none", {"none"}).status();
}

std::vector<Spec> Fp8GemmSamples() {
  std::vector<Spec> samples = {Sample("e4m3fn", "e4m3fn", "bf16", "row"),
                               Sample("e5m2", "e4m3fn", "f16", "tensor"),
                               Sample("e4m3fn", "e5m2", "f32", "none")};
  Spec odd = Sample("e4m3fn", "e4m3fn", "bf16", "row");
  odd.dims = {{"m"}, {"n", 97}, {"k", 101}};
  odd.operands.push_back({"bias", "f32"});
  samples.push_back(odd);
  return samples;
}

std::vector<Spec> Fp8GemmBadSamples() {
  std::vector<Spec> bad;
  const auto with = [&](const std::function<void(Spec&)>& change) {
    Spec spec = Sample("e4m3fn", "e4m3fn", "bf16", "row");
    change(spec);
    bad.push_back(spec);
  };
  with([](Spec& s) { s.operands[1].dtype = "bf16"; });
  with([](Spec& s) { s.operands.pop_back(); });
  with([](Spec& s) { s.attrs.clear(); });
  with([](Spec& s) { s.attrs.push_back({"layout", "nn"}); });
  with([](Spec& s) { s.attrs.push_back({"act", "relu"}); });
  with([](Spec& s) { s.operands.push_back({"c", "bf16"}); });
  with([](Spec& s) { s.attrs[0].value = "block"; });
  return bad;
}

}  // namespace ingot
