#include "compiler/ops/grouped_gemm_plan_scaled.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/gemm_plan_request.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/ops/grouped_gemm_plan_request.h"
#include "compiler/ops/grouped_gemm_plan_walk.h"
#include "compiler/ops/recipe_steps.h"
#include "compiler/ops/scaled_gemm_plan_access.h"
#include "compiler/ops/scaled_gemm_plan_request.h"
#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr absl::string_view kFormats[] = {"e4m3fn", "e5m2", "e2m3", "e3m2",
                                          "e2m1"};
constexpr int64_t kBlock = 32;

// Places in Plan::operands.
enum { kA, kB, kD, kOffs, kScaleA, kScaleB, kBias };

struct Request {
  ScaledGemmRequest scaled;  // of one group with all rows
  GemmRequest epilogue;      // act and pairing
  PlanDim groups;
  const Operand* offs = nullptr;  // into the spec

  int factor() const { return epilogue.columns_factor(); }
  Expr columns() const { return Expr::DimAt(kScaledN) * Expr::Const(factor()); }
};

absl::Status CheckPlain(const Operand& x) {
  if (x.stride_mode != StrideMode::kDense) {
    return Invalid(absl::StrCat("strides of operand ", x.name), "given strides",
                   "dense");
  }
  return CheckGemmAlignment(x);
}

absl::Status ReadOperands(const Spec& spec, Request* request) {
  ScaledGemmRequest& r = request->scaled;
  struct Wanted {
    int place;
    const char* name;
    std::vector<absl::string_view> dtypes;
  };
  const std::vector<absl::string_view> formats(std::begin(kFormats),
                                               std::end(kFormats));
  const Wanted all[] = {{kScaledA, "a", formats},
                        {kScaledB, "b", formats},
                        {kScaledScaleA, "scale_a", {"e8m0"}},
                        {kScaledScaleB, "scale_b", {"e8m0"}},
                        {kScaledD, "d", {"bf16", "f16", "f32"}}};
  for (const Wanted& wanted : all) {
    INGOT_ASSIGN_OR_RETURN(r.operands[wanted.place],
                           CheckOperand(spec, wanted.name, wanted.dtypes));
  }
  for (const Wanted& wanted : all) {
    INGOT_RETURN_IF_ERROR(CheckScaledStrides(wanted.place, &r));
    INGOT_RETURN_IF_ERROR(CheckGemmAlignment(*r.operands[wanted.place]));
  }
  INGOT_ASSIGN_OR_RETURN(request->offs, CheckOperand(spec, "offs", {"i32"}));
  INGOT_RETURN_IF_ERROR(CheckPlain(*request->offs));
  if (spec.FindOperand("bias") == nullptr) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(
      r.bias, CheckOperand(spec, "bias",
                           {absl::string_view(r.dtype(kScaledD)), "f32"}));
  return CheckPlain(*r.bias);
}

absl::StatusOr<Request> ReadRequest(const Spec& spec) {
  Request request;
  ScaledGemmRequest& r = request.scaled;
  r.grouped = true;
  // No default: the one of other dtypes does not exist here.
  INGOT_RETURN_IF_ERROR(CheckChoice(spec, "b_layout", "", {"gnk"}).status());
  if (spec.FindAttr("b_layout") == nullptr) {
    return Invalid("attribute b_layout", "none", "gnk, with scales");
  }
  INGOT_RETURN_IF_ERROR(ReadGemmActivation(spec, &request.epilogue));
  if (request.epilogue.pairing == "halves") {
    return Unimplemented("attribute pairing", "'halves'",
                         "interleaved, with scales");
  }
  INGOT_ASSIGN_OR_RETURN(request.groups,
                         CheckDim(spec, "g", kGroupedMaxGroups));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledN],
                         CheckDim(spec, "n", kScaledMaxRow / request.factor()));
  INGOT_ASSIGN_OR_RETURN(r.dims[kScaledK], CheckDim(spec, "k", kScaledMaxRow));
  PlanDim& k = r.dims[kScaledK];
  if (!AlwaysMultiple(k, kBlock)) {
    return Invalid("dim k", absl::StrCat(k.min, " to ", k.max),
                   "multiples of 32, the block of a scale");
  }
  k.min = (k.min + kBlock - 1) / kBlock * kBlock;
  INGOT_RETURN_IF_ERROR(ReadOperands(spec, &request));
  INGOT_ASSIGN_OR_RETURN(
      r.dims[kScaledM],
      CheckGroupedRows(spec, r.dims[kScaledN].max * request.factor(),
                       request.groups.max));
  return request;
}

void Describe(const Request& request, Plan* plan) {
  const ScaledGemmRequest& r = request.scaled;
  plan->resolved.attrs = {{"act", request.epilogue.act}, {"b_layout", "gnk"}};
  if (request.factor() == 2) {
    plan->resolved.attrs.push_back({"pairing", request.epilogue.pairing});
  }
  plan->dims.assign(r.dims.begin(), r.dims.end());
  plan->dims.push_back(request.groups);
  const Expr rows = Expr::DimAt(kScaledM);
  const Expr groups = Expr::DimAt(kGroupedGroups);
  const Expr k = Expr::DimAt(kScaledK);
  const Expr blocks = FloorDiv(k, Expr::Const(kBlock));
  const auto bytes = [&](int operand) {
    return FloorDiv(k * Expr::Const(r.bits(operand)), Expr::Const(8));
  };
  const auto add = [&](const Operand* x, std::vector<Expr> extents) {
    plan->operands.push_back(DescribeScaledOperand(*x, std::move(extents)));
  };
  add(r.operands[kScaledA], {rows, bytes(kScaledA)});
  add(r.operands[kScaledB], {groups, request.columns(), bytes(kScaledB)});
  add(r.operands[kScaledD], {rows, Expr::DimAt(kScaledN)});
  add(request.offs, {groups});
  add(r.operands[kScaledScaleA], {rows, blocks});
  add(r.operands[kScaledScaleB], {groups, request.columns(), blocks});
  if (r.bias != nullptr) add(r.bias, {groups, request.columns()});
}

std::vector<KernelArg> Arguments(const Request& request,
                                 const Expr& workgroups) {
  std::vector<KernelArg> args;
  constexpr const char* kNames[] = {"a",       "b",       "d",   "offs",
                                    "scale_a", "scale_b", "bias"};
  const int pointers = request.scaled.bias == nullptr ? kBias : kBias + 1;
  for (int i = 0; i < pointers; ++i) {
    args.push_back({kNames[i], KernelArg::kOperand, i, 8, Expr::Const(0)});
  }
  const auto integer = [&](const char* name, Expr value, uint32_t size = 4) {
    args.push_back({name, KernelArg::kInteger, 0, size, std::move(value)});
  };
  integer("group_stride_b", Expr::StrideAt(kB, 0), 8);
  integer("group_stride_scale_b", Expr::StrideAt(kScaleB, 0), 8);
  integer("total_m", Expr::DimAt(kScaledM));
  integer("columns", request.columns());
  integer("k", Expr::DimAt(kScaledK));
  integer("groups", Expr::DimAt(kGroupedGroups));
  integer("lda", Expr::StrideAt(kA, 0));
  integer("ldb", Expr::StrideAt(kB, 1));
  integer("ldd", Expr::StrideAt(kD, 0));
  integer("ld_scale_a", Expr::StrideAt(kScaleA, 0));
  integer("ld_scale_b", Expr::StrideAt(kScaleB, 1));
  integer("workgroups", workgroups);
  return args;
}

// Widths of accesses: of a and b in bytes, of d and bias in elements.
struct Widths {
  GemmSchedule schedule = GemmSchedule::kStaged;
  ScaledFormats formats;
  int64_t a = 1;
  int64_t b = 1;
  int64_t d = 1;
  int64_t bias = 0;
  std::vector<Guard> guards;
};

// The best that every launch allows; with `any_stride`, whose dynamic strides
// are what the guards ask for.
Widths BestWidths(const ScaledGemmRequest& r, bool any_stride) {
  Widths w;
  w.formats = {r.bits(kScaledA), r.bits(kScaledB)};
  w.a = RowAlignment(r, kScaledA, 16, any_stride);
  w.b = RowAlignment(r, kScaledB, 16, any_stride);
  w.d = ScaledOutputWidth(r, any_stride);
  w.bias = ScaledBiasWidth(r);
  const bool dma = w.a == 16 && w.b == 16;
  w.schedule = dma ? GemmSchedule::kDma : GemmSchedule::kStaged;
  w.formats.scale_words = dma &&
                          RowAlignment(r, kScaledScaleA, 4, any_stride) == 4 &&
                          RowAlignment(r, kScaledScaleB, 4, any_stride) == 4;
  const auto require = [&](int operand, int index, int64_t bytes) {
    RequireRows(r, operand, index, bytes, &w.guards);
  };
  const auto aligned = [&](int index, int64_t bytes) {
    w.guards.push_back({Guard::kOperandAlignment, index, 0, 0, bytes});
  };
  require(kScaledA, kA, w.a);
  require(kScaledB, kB, w.b);
  require(kScaledD, kD, w.d * DtypeBytes(r.dtype(kScaledD)));
  aligned(kOffs, 4);
  require(kScaledScaleA, kScaleA, w.formats.scale_words ? 4 : 1);
  require(kScaledScaleB, kScaleB, w.formats.scale_words ? 4 : 1);
  if (r.bias != nullptr) aligned(kBias, w.bias * DtypeBytes(r.bias->dtype));
  return w;
}

// The fastest accesses that some launch may allow, then those that every one
// does.
std::vector<Widths> AllWidths(const ScaledGemmRequest& r) {
  std::vector<Widths> all;
  if (HasDynamicStrides(r)) all.push_back(BestWidths(r, true));
  all.push_back(BestWidths(r, false));
  return all;
}

KernelSpec Kernel(const Request& request, const Widths& w,
                  const GemmTile& tile) {
  const ScaledGemmRequest& r = request.scaled;
  KernelSpec kernel;
  const bool dma = w.schedule == GemmSchedule::kDma;
  kernel.symbol = absl::StrCat("ingot_grouped_gemm_", r.dtype(kScaledA), "_",
                               r.dtype(kScaledB), "_", r.dtype(kScaledD), "_",
                               GemmTileName(tile), dma ? "" : "_staged");
  const std::string scales =
      ScalePiecesName(PiecesOf(w.formats, tile, tile.m / tile.waves_m));
  kernel.params = {{"act", request.epilogue.act},
                   {"b_layout", "gnk"},
                   {"bias", r.bias == nullptr ? "none" : r.bias->dtype},
                   {"capacity", GroupedCapacity(request.groups.max)},
                   {"dtype_a", r.dtype(kScaledA)},
                   {"dtype_b", r.dtype(kScaledB)},
                   {"dtype_d", r.dtype(kScaledD)},
                   {"pairing", request.epilogue.pairing},
                   {"scales_a", scales},
                   {"scales_b", scales},
                   {"schedule", dma ? "dma" : "staged"},
                   {"width_a", w.a},
                   {"width_b", w.b},
                   {"width_bias", w.bias},
                   {"width_d", w.d}};
  for (Param& param : GemmTileParams(tile)) kernel.params.push_back(param);
  kernel.codegen = GemmCodegenOptions(w.schedule, tile);
  kernel.workgroup = {static_cast<uint32_t>(tile.waves() * 64), 1, 1};
  const int64_t lds_bytes = ScaledLdsBytes(w.formats, tile);
  const Expr workgroups = GroupedWorkgroups(tile, lds_bytes, request.columns());
  kernel.grid = {workgroups, Expr::Const(1), Expr::Const(1)};
  kernel.lds_bytes = static_cast<uint32_t>(lds_bytes);
  kernel.args = Arguments(request, workgroups);
  return kernel;
}

// Those of scaled_gemm, as far as the walk over groups leaves registers for
// them.
std::vector<GemmTile> Tiles(GemmSchedule schedule, const ScaledFormats& formats,
                            int64_t groups) {
  const bool six_a = formats.bits_a == 6, six_b = formats.bits_b == 6;
  // Masks of rows that come byte by byte, of both.
  if (schedule == GemmSchedule::kStaged && six_a && six_b) {
    return {{32, 64, 128, 2, 2, 2}};
  }
  std::vector<GemmTile> tiles = ScaledTiles(schedule, formats);
  if (schedule != GemmSchedule::kDma) return tiles;
  // Places of scales that come byte by byte; addresses of rows of 6 bits,
  // beside the ends of so many groups.
  if (!formats.scale_words ||
      ((six_a || six_b) && GroupedCapacity(groups) > 256)) {
    tiles.erase(tiles.begin());
  }
  return tiles;
}

void AddVariants(const Request& request, const GroupedModelProblem& problem,
                 const Widths& w, absl::Span<const GemmTile> tiles,
                 Plan* plan) {
  const ScaledGemmRequest& r = request.scaled;
  const PlanDim& rows = r.dims[kScaledM];
  const auto microseconds = [&](const GemmTile& tile, double m) {
    return GroupedMicroseconds(tile, ScaledElements(w.formats, tile), m,
                               problem);
  };
  for (const GemmBucket& bucket :
       TileBuckets(tiles, rows.min, rows.max,
                   GroupedBucketScale(problem.groups), microseconds)) {
    Variant variant;
    variant.name = GemmVariantName(w.schedule, w.d, bucket.tile);
    variant.guards = w.guards;
    variant.guards.push_back(
        {Guard::kDim, kScaledM, bucket.min, bucket.max, 0});
    AddLaunch(Kernel(request, w, bucket.tile), plan, &variant.recipe);
    plan->variants.push_back(std::move(variant));
  }
}

}  // namespace

bool IsScaledGroupedGemm(const Spec& spec) {
  const Operand* a = spec.FindOperand("a");
  return spec.FindOperand("scale_a") != nullptr ||
         spec.FindOperand("scale_b") != nullptr ||
         (a != nullptr && std::find(std::begin(kFormats), std::end(kFormats),
                                    a->dtype) != std::end(kFormats));
}

absl::StatusOr<Plan> PlanScaledGroupedGemm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Request request, ReadRequest(spec));
  Plan plan;
  plan.resolved = spec;
  Describe(request, &plan);
  std::vector<GemmTile> allowed;
  for (const Widths& widths : AllWidths(request.scaled)) {
    const std::vector<GemmTile> all =
        Tiles(widths.schedule, widths.formats, request.groups.max);
    allowed.insert(allowed.end(), all.begin(), all.end());
    // A pinned tile that a fall-back does not have leaves the fall-back out: a
    // launch that needs it matches no variant and is refused.
    const std::vector<GemmTile> tiles = PinnedTiles(spec, all);
    if (tiles.empty()) continue;
    AddVariants(request, GroupedModelProblemOf(spec), widths, tiles, &plan);
  }
  if (plan.variants.empty()) return RefusePins(spec, allowed);
  ResolveGemmTuning(&plan);
  return plan;
}

std::vector<Candidate> ScaledGroupedGemmCandidates(const Spec& spec) {
  const absl::StatusOr<Request> request = ReadRequest(spec);
  if (!request.ok()) return {};
  const ScaledFormats formats = BestWidths(request->scaled, true).formats;
  const GroupedModelProblem problem = GroupedModelProblemOf(spec);
  const int64_t groups = request->groups.max;
  return TileCandidates(spec,
                        {Tiles(GemmSchedule::kDma, formats, groups),
                         Tiles(GemmSchedule::kStaged, formats, groups)},
                        [&](const GemmTile& tile) {
                          return GroupedMicroseconds(
                              tile, ScaledElements(formats, tile),
                              SpecExtent(spec, "total_m", 4096), problem);
                        });
}

}  // namespace ingot
