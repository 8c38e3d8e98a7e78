// mx_shuffle: y = x in one of the shuffled layouts of scaled_gemm
// (scaled_gemm_plan_request.h), so that weights and scales are prepared once.
//
// `what` (always stated):
//   scales   x e8m0 [rows, n], n = k / 32; y [rows padded to 256, n padded to
//            8]: scale_layout shuffled_16x4. Padding becomes 0.
//   weights  x e4m3fn, e5m2, e2m3, e3m2 or e2m1 [rows, n], n = bytes of k, a
//            multiple of 16; y [rows padded to 16, n]: weight_layout shuffled.
//            Padding becomes 0.
// y has the dtype of x and is dense; x may have any row stride from n on.
//
// A workgroup makes the rows that lie together in y: 32 of scales, 16 of
// weights.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recipe_steps.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 30;
constexpr int64_t kMaxRow = (int64_t{1} << 21) - 1;
constexpr int kRows = 0;
constexpr int kN = 1;
constexpr uint32_t kThreads = 256;

struct Request {
  PlanDim rows;
  PlanDim n;
  bool weights = false;
  const Operand* x = nullptr;
  const Operand* y = nullptr;

  int64_t row_padding() const { return weights ? 16 : 256; }
  int64_t column_padding() const { return weights ? 16 : 8; }
};

absl::Status CheckStrides(const Request& r) {
  if (r.y->stride_mode != StrideMode::kDense) {
    return Invalid("strides of operand y", "strides", "dense");
  }
  if (r.x->stride_mode != StrideMode::kStatic) return absl::OkStatus();
  const std::vector<int64_t>& strides = r.x->strides;
  if (strides.size() != 2 || strides[1] != 1 || strides[0] < r.n.min ||
      strides[0] > kMaxRow) {
    return Invalid(
        "strides of operand x", absl::StrJoin(strides, ", "),
        absl::StrCat("a row stride of ", r.n.min, " to ", kMaxRow, " and 1"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Request> ReadRequest(const Spec& spec) {
  Request r;
  if (spec.FindAttr("what") == nullptr) {
    return Invalid("attribute what", "none", "scales, weights");
  }
  INGOT_ASSIGN_OR_RETURN(
      const std::string what,
      CheckChoice(spec, "what", "scales", {"scales", "weights"}));
  r.weights = what == "weights";
  INGOT_ASSIGN_OR_RETURN(r.rows, CheckDim(spec, "rows", kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.n, CheckDim(spec, "n", kMaxRow));
  if (r.weights && !AlwaysMultiple(r.n, 16)) {
    return Invalid("dim n", absl::StrCat(r.n.min, " to ", r.n.max),
                   "multiples of 16: the layout moves 16 bytes of a row");
  }
  std::vector<absl::string_view> dtypes = {"e8m0"};
  if (r.weights) dtypes = {"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1"};
  INGOT_ASSIGN_OR_RETURN(r.x, CheckOperand(spec, "x", dtypes));
  INGOT_ASSIGN_OR_RETURN(
      r.y, CheckOperand(spec, "y", {absl::string_view(r.x->dtype)}));
  if (AlignmentOf(*r.y) < 16) {
    return Invalid("alignment of operand y", absl::StrCat(r.y->alignment),
                   "16 or more");
  }
  INGOT_RETURN_IF_ERROR(CheckStrides(r));
  return r;
}

Expr PaddedRows(const Request& r) {
  const Expr padding = Expr::Const(r.row_padding());
  return CeilDiv(Expr::DimAt(kRows), padding) * padding;
}

Expr PaddedRow(const Request& r) {
  const Expr padding = Expr::Const(r.column_padding());
  return CeilDiv(Expr::DimAt(kN), padding) * padding;
}

PlanOperand Describe(const Operand& operand, bool output, const Expr& rows,
                     const Expr& n) {
  PlanOperand out;
  out.name = operand.name;
  out.dtype = operand.dtype;
  out.axes = 2;
  out.stride_mode = operand.stride_mode;
  out.extents = {rows, n};
  out.output = output;
  if (out.stride_mode == StrideMode::kDense) {
    out.strides = {n, Expr::Const(1)};
  } else if (out.stride_mode == StrideMode::kStatic) {
    out.strides = {Expr::Const(operand.strides[0]), Expr::Const(1)};
  }
  return out;
}

// Bytes that one load of x may have.
int64_t LoadWidth(const Request& r) {
  const bool wide =
      r.weights && AlignmentOf(*r.x) >= 16 &&
      (r.x->stride_mode == StrideMode::kDense ||
       (r.x->stride_mode == StrideMode::kStatic && r.x->strides[0] % 16 == 0));
  return wide ? 16 : 1;
}

KernelSpec Kernel(const Request& r) {
  KernelSpec kernel;
  const char* what = r.weights ? "weights" : "scales";
  kernel.symbol = absl::StrCat("ingot_mx_shuffle_", what);
  kernel.params = {{"what", what}, {"width_x", LoadWidth(r)}};
  kernel.codegen = {{"agpr_alloc", int64_t{0}}, {"opt", "light"}};
  kernel.workgroup = {kThreads, 1, 1};
  const int64_t group = r.weights ? 16 : 32;
  kernel.grid = {FloorDiv(PaddedRows(r), Expr::Const(group)), Expr::Const(1),
                 Expr::Const(1)};
  kernel.args = {{"x", KernelArg::kOperand, 0, 8, Expr::Const(0)},
                 {"y", KernelArg::kOperand, 1, 8, Expr::Const(0)},
                 {"rows", KernelArg::kInteger, 0, 4, Expr::DimAt(kRows)},
                 {"n", KernelArg::kInteger, 0, 4, Expr::DimAt(kN)},
                 {"ldx", KernelArg::kInteger, 0, 4, Expr::StrideAt(0, 0)}};
  return kernel;
}

absl::StatusOr<Plan> PlanMxShuffle(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Request r, ReadRequest(spec));
  Plan plan;
  plan.resolved = spec;
  plan.dims = {r.rows, r.n};
  plan.operands = {Describe(*r.x, false, Expr::DimAt(kRows), Expr::DimAt(kN)),
                   Describe(*r.y, true, PaddedRows(r), PaddedRow(r))};
  Variant variant;
  variant.name = r.weights ? "weights" : "scales";
  variant.guards = {{Guard::kOperandAlignment, 0, 0, 0, LoadWidth(r)},
                    {Guard::kOperandAlignment, 1, 0, 0, 16}};
  if (r.x->stride_mode == StrideMode::kDynamic) {
    variant.guards.push_back({Guard::kOperandStride, 0, r.n.min, kMaxRow, 0});
    variant.guards.push_back({Guard::kOperandStride, 1, 1, 1, 0});
  }
  AddLaunch(Kernel(r), &plan, &variant.recipe);
  plan.variants.push_back(std::move(variant));
  return plan;
}

Spec Sample(const char* what, const char* dtype, int64_t n) {
  Spec spec{"mx_shuffle"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"x", dtype}, {"y", dtype}};
  spec.attrs = {{"what", what}};
  return spec;
}

std::vector<Spec> Samples() {
  std::vector<Spec> samples = {Sample("scales", "e8m0", 128),
                               Sample("weights", "e2m1", 2048)};
  Spec strided = Sample("weights", "e4m3fn", 96);
  strided.operands[0].stride_mode = StrideMode::kDynamic;
  samples.push_back(strided);
  return samples;
}

std::vector<Spec> BadSamples() {
  std::vector<Spec> bad = {
      Sample("scales", "e4m3fn", 128), Sample("weights", "e8m0", 128),
      Sample("weights", "e2m1", 24), Sample("rows", "e8m0", 128)};
  Spec silent = Sample("scales", "e8m0", 128);
  silent.attrs.clear();
  bad.push_back(silent);
  Spec strided = Sample("scales", "e8m0", 128);
  strided.operands[1].stride_mode = StrideMode::kDynamic;
  bad.push_back(strided);
  return bad;
}

constexpr const char* kDims[] = {"rows", "n"};
constexpr const char* kOperands[] = {"x", "y"};
constexpr const char* kAttrs[] = {"what"};

}  // namespace

extern constinit const OpDef k_op_mx_shuffle = {
    .name = "mx_shuffle",
    .summary = "y = x in scaled_gemm's shuffled layout of scales or weights",
    .dims = kDims,
    .operands = kOperands,
    .attrs = kAttrs,
    .tuning = {},
    .plan = PlanMxShuffle,
    .samples = Samples,
    .bad_samples = BadSamples,
};

}  // namespace ingot
