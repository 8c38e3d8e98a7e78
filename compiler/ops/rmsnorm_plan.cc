// rmsnorm: y[r,i] = s[r,i] * rstd[r] * weight[i],
//          rstd[r] = 1 / sqrt(sum_i s[r,i]^2 / n + eps)
// where s is x or, with a residual, x + residual rounded to their dtype, which
// residual_out gets: the fused add of a transformer's layers, whose next layer
// sees what this one normalised.
//
// x, y, residual (optional), residual_out (optional output; needs residual):
// bf16, f16 or f32, all the same; weight (optional): dtype of x or f32; rstd
// (optional output): f32 [rows]. Sums in f32, s and y rounded once each. NaN
// and infinities go where these formulas send them.
//
// In place: y and residual_out may each be x or residual, with the same start
// and row stride; any other overlap of an output is undefined.
//
// n is baked: a thread's share of the row is then known and the code has no
// loops. 1 to 131072, any value; rows, eps and row strides come with the
// launch. Limits: rows up to 2^30, row strides below 2^30 elements (offsets
// inside a row are 32-bit, those of rows 64-bit, so tensors may be of any
// size).
//
// A row is worked on by one wave while that leaves it at most four vectors of
// 16 bytes a lane, else by one workgroup, and stays in registers between the
// two passes; only rows above 256 KiB are read twice.
//
// Variants: `aligned` where every row starts at a multiple of 16 bytes, else
// `unaligned`, which also takes rows that start between words.
//
// `quant` asks for a narrow y and its scales, of y in f32 (not rounded to x's
// dtype before); to nearest, ties to even:
//   fp8_row  y e4m3fn; scale f32 [rows] = the row's largest magnitude / 448.
//            The scale of a row of zeros is small, not zero; that of a row with
//            a NaN or an infinity is not finite.
//   mxfp8    y e4m3fn, mxfp4: y e2m1 [rows, n / 2 bytes], the low four bits
//            first; n a multiple of 32. scale e8m0 [rows, n / 32], linear:
//            2^(floor(log2 of the largest magnitude of 32) - 8, or 2), at
//            least 2^-127, also of zeros. What is then too large becomes the
//            largest number. A block with a NaN or an infinity has scale 255,
//            which is NaN.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recipe_steps.h"
#include "compiler/ops/rmsnorm_plan_request.h"
#include "compiler/ops/rmsnorm_plan_samples.h"

namespace ingot {
namespace {

constexpr int kDimRows = 0;

// How the threads of a workgroup share rows.
struct Shape {
  int threads = 0;  // a row
  int rows = 0;     // a workgroup
  uint32_t workgroup() const { return static_cast<uint32_t>(threads * rows); }
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many whole waves as leave each thread `vectors` vectors of the row.
int64_t ThreadsFor(int64_t row_vectors, int64_t vectors) {
  return std::max<int64_t>(64, CeilDiv(CeilDiv(row_vectors, vectors), 64) * 64);
}

// Four vectors a thread keep 64 bytes in flight, enough to cover memory with
// the waves that fit; up to eight are taken where that leaves fewer threads
// idle.
Shape ShapeFor(const RmsNormRequest& r) {
  constexpr int64_t kMaxThreads = 1024;
  const int64_t vectors = r.n.min / (kRowVectorBytes / r.bytes);
  int64_t threads = r.threads;
  if (threads == 0) {
    threads = ThreadsFor(vectors, 4);
    int64_t least_idle = CeilDiv(vectors, threads) * threads - vectors;
    for (int64_t share = 5; share <= 8; ++share) {
      const int64_t fewer = ThreadsFor(vectors, share);
      const int64_t idle = CeilDiv(vectors, fewer) * fewer - vectors;
      if (idle < least_idle) {
        threads = fewer;
        least_idle = idle;
      }
    }
    threads = std::min(threads, kMaxThreads);
  }
  return {static_cast<int>(threads), threads == 64 ? 4 : 1};
}

int64_t WeightAlign(const RmsNormRequest& r) {
  if (AlignmentOf(*r.weight.operand) >= kRowVectorBytes) return kRowVectorBytes;
  return DtypeBytes(r.weight->dtype);
}

std::vector<KernelArg> Arguments(const RmsNormRequest& r) {
  std::vector<KernelArg> args;
  const auto pointer = [&](const char* name, const auto& operand) {
    if (!operand) return;
    args.push_back(
        {name, KernelArg::kOperand, operand.index, 8, Expr::Const(0)});
  };
  pointer("x", r.x);
  pointer("y", r.y);
  pointer("weight", r.weight);
  pointer("rstd", r.rstd);
  pointer("residual", r.residual);
  pointer("residual_out", r.residual_out);
  pointer("scale", r.row_scales);
  pointer("scale", r.block_scales);
  // Strides also where they are dense or static: the kernel is the same.
  const auto stride = [&](const char* name, const RowOperand& operand) {
    if (!operand) return;
    args.push_back(
        {name, KernelArg::kInteger, 0, 8, Expr::StrideAt(operand.index, 0)});
  };
  stride("ldx", r.x);
  stride("ldy", r.y);
  stride("ldr", r.residual);
  stride("ldro", r.residual_out);
  stride("ld_scale", r.block_scales);
  args.push_back({"rows", KernelArg::kInteger, 0, 4, Expr::DimAt(kDimRows)});
  args.push_back({"eps", KernelArg::kScalar, 0, 4, Expr::Const(0)});
  return args;
}

std::string Symbol(const RmsNormRequest& r, const RowFamily& family) {
  std::string symbol =
      absl::StrCat("ingot_rmsnorm_", r.x->dtype, "_n", r.n.min);
  if (r.weight) absl::StrAppend(&symbol, "_w", r.weight->dtype);
  if (r.rstd) absl::StrAppend(&symbol, "_rstd");
  if (r.residual) absl::StrAppend(&symbol, "_residual");
  if (r.residual_out) absl::StrAppend(&symbol, "_out");
  if (r.quant != "none") absl::StrAppend(&symbol, "_", r.quant);
  return absl::StrCat(symbol, "_", family.name);
}

// A word a wave for the sum over the workgroup; and again for the largest, both
// then at multiples of 16 bytes.
uint32_t LdsBytes(const RmsNormRequest& r, const Shape& shape) {
  const uint32_t bytes = shape.workgroup() / 64 * 4;
  if (r.quantised != RmsNormQuantised::kRow) return bytes;
  return 2 * ((bytes + 15) / 16 * 16);
}

KernelSpec Kernel(const RmsNormRequest& r, const RowFamily& family,
                  const Shape& shape) {
  KernelSpec kernel;
  kernel.symbol = Symbol(r, family);
  kernel.params = {
      {"align", family.aligned ? kRowVectorBytes : r.bytes},
      {"align_weight", r.weight ? WeightAlign(r) : int64_t{0}},
      {"align_y", family.aligned ? r.y.vector_bytes : r.y.unit_bytes},
      {"dtype", r.x->dtype},
      {"dtype_weight", r.weight ? r.weight->dtype : "none"},
      {"groups_x", kRowGroupsX},
      {"has_residual", int64_t{bool(r.residual)}},
      {"has_residual_out", int64_t{bool(r.residual_out)}},
      {"has_rstd", int64_t{bool(r.rstd)}},
      {"n", r.n.min},
      {"quant", r.quant},
      {"rows_per_workgroup", int64_t{shape.rows}},
      {"threads", int64_t{shape.threads}}};
  // Half of the registers would be AccVGPRs, which only matrix kernels use.
  kernel.codegen = {{"agpr_alloc", int64_t{0}}, {"opt", "light"}};
  kernel.workgroup = {shape.workgroup(), 1, 1};
  const Expr groups = CeilDiv(Expr::DimAt(kDimRows), Expr::Const(shape.rows));
  kernel.grid = {Min(groups, Expr::Const(kRowGroupsX)),
                 CeilDiv(groups, Expr::Const(kRowGroupsX)), Expr::Const(1)};
  if (shape.rows == 1) kernel.lds_bytes = LdsBytes(r, shape);
  kernel.args = Arguments(r);
  return kernel;
}

PlanOperand DescribeVector(const Operand& operand, const Expr& extent,
                           bool output) {
  PlanOperand out;
  out.name = operand.name;
  out.dtype = operand.dtype;
  out.axes = 1;
  out.strides = {Expr::Const(1)};
  out.extents = {extent};
  out.output = output;
  return out;
}

// In the order of their indices.
std::vector<PlanOperand> DescribeOperands(const RmsNormRequest& r) {
  const Expr rows = Expr::DimAt(kDimRows);
  std::vector<PlanOperand> list = {DescribeRows(r.x, rows),
                                   DescribeRows(r.y, rows)};
  if (r.weight) {
    list.push_back(
        DescribeVector(*r.weight.operand, Expr::Const(r.n.min), false));
  }
  if (r.rstd) list.push_back(DescribeVector(*r.rstd.operand, rows, true));
  for (const RowOperand& operand : {r.residual, r.residual_out}) {
    if (operand) list.push_back(DescribeRows(operand, rows));
  }
  if (r.row_scales) {
    list.push_back(DescribeVector(*r.row_scales.operand, rows, true));
  }
  if (r.block_scales) list.push_back(DescribeRows(r.block_scales, rows));
  return list;
}

absl::StatusOr<Plan> PlanRmsNorm(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const RmsNormRequest r, ReadRmsNormRequest(spec));
  const Shape shape = ShapeFor(r);
  Plan plan;
  plan.resolved = spec;
  plan.resolved.tuning = {{"threads", shape.threads}};
  plan.dims = {r.rows, r.n};
  plan.operands = DescribeOperands(r);
  plan.scalars = {{"eps", "f32", 1e-6}};
  for (const RowFamily& family : RowFamilies(r.matrices())) {
    Variant variant;
    variant.name = family.name;
    variant.guards = family.guards;
    AddLaunch(Kernel(r, family, shape), &plan, &variant.recipe);
    plan.variants.push_back(std::move(variant));
  }
  return plan;
}

std::vector<Candidate> RmsNormCandidates(const Spec&) {
  std::vector<Candidate> all;
  for (int64_t threads = 64; threads <= 1024; threads *= 2) {
    all.push_back({.tuning = {{"threads", threads}}});
  }
  return all;
}

constexpr const char* kDims[] = {"rows", "n"};
constexpr const char* kOperands[] = {
    "x", "y", "weight", "rstd", "residual", "residual_out", "scale"};
constexpr const char* kAttrs[] = {"quant"};
constexpr const char* kTuning[] = {"threads"};

}  // namespace

extern constinit const OpDef k_op_rmsnorm = {
    .name = "rmsnorm",
    .summary =
        "y[r,i] = s[r,i] / sqrt(sum_i s[r,i]^2 / n + eps) * weight[i], "
        "s = x or x + residual",
    .dims = kDims,
    .operands = kOperands,
    .attrs = kAttrs,
    .tuning = kTuning,
    .plan = PlanRmsNorm,
    .samples = RmsNormSamples,
    .bad_samples = RmsNormBadSamples,
    .candidates = RmsNormCandidates,
};

}  // namespace ingot
