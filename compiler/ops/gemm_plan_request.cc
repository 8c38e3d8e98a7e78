#include "compiler/ops/gemm_plan_request.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 30;
constexpr int64_t kMaxBatch = 65535;  // workgroups of a grid's z

std::string StridesField(const Operand& operand) {
  return absl::StrCat("strides of operand ", operand.name);
}

// The shortest row that a launch can have.
int64_t ShortestRow(const GemmRequest& r, const GemmMatrix& x) {
  const PlanDim& inner = r.dims[x.inner];
  return (inner.min + inner.multiple_of - 1) / inner.multiple_of *
         inner.multiple_of * x.inner_factor;
}

absl::Status CheckStrides(const GemmRequest& r, const GemmMatrix& x) {
  const Operand& operand = *x.operand;
  if (operand.stride_mode != StrideMode::kStatic) return absl::OkStatus();
  const std::string field = StridesField(operand);
  const size_t axes = x.row_axis + 2;
  if (operand.strides.size() != axes || operand.strides.back() != 1) {
    return Invalid(field, absl::StrJoin(operand.strides, ", "),
                   axes == 2 ? "a row stride and 1"
                             : "a batch stride, a row stride and 1");
  }
  const int64_t least = ShortestRow(r, x);
  const int64_t row = operand.strides[x.row_axis];
  if (row < least || row > kGemmMaxRow) {
    return Invalid(field, absl::StrCat(row),
                   absl::StrCat("row strides of ", least, " to ", kGemmMaxRow));
  }
  const int64_t least_batch = &x == &r.d ? 1 : 0;
  if (axes == 3 && (operand.strides[0] < least_batch ||
                    operand.strides[0] > kGemmMaxBatchStride)) {
    return Invalid(field, absl::StrCat(operand.strides[0]),
                   absl::StrCat("batch strides of ", least_batch, " to ",
                                kGemmMaxBatchStride));
  }
  return absl::OkStatus();
}

// A bias is [n] for all of a batch unless the spec speaks of its batch stride.
absl::Status CheckBiasStrides(GemmRequest* r) {
  const Operand& bias = *r->bias;
  if (bias.stride_mode == StrideMode::kDense) return absl::OkStatus();
  if (bias.stride_mode == StrideMode::kDynamic && r->batch) {
    r->bias_batched = true;
    return absl::OkStatus();
  }
  const std::vector<int64_t>& strides = bias.strides;
  if (strides == std::vector<int64_t>{1}) return absl::OkStatus();
  if (r->batch && strides.size() == 2 && strides[1] == 1 && strides[0] >= 0 &&
      strides[0] <= kGemmMaxBatchStride) {
    r->bias_batched = true;
    return absl::OkStatus();
  }
  return Invalid(StridesField(bias), absl::StrJoin(strides, ", "),
                 r->batch ? "dense, static 1, static batch stride and 1, or "
                            "dynamic ones of both"
                          : "dense, or static 1");
}

absl::Status ReadBias(const Spec& spec, int index, GemmRequest* r) {
  if (spec.FindOperand("bias") == nullptr) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(
      r->bias,
      CheckOperand(spec, "bias", {absl::string_view(r->dtype_d), "f32"}));
  r->bias_index = index;
  INGOT_RETURN_IF_ERROR(CheckBiasStrides(r));
  return CheckGemmAlignment(*r->bias);
}

absl::Status CheckVector(const Operand& x) {
  if (x.stride_mode == StrideMode::kDynamic ||
      (x.stride_mode == StrideMode::kStatic &&
       x.strides != std::vector<int64_t>{1})) {
    return Invalid(StridesField(x), absl::StrJoin(x.strides, ", "),
                   "dense, or static 1");
  }
  return CheckGemmAlignment(x);
}

absl::Status ReadScales(const Spec& spec, int index, GemmRequest* r) {
  if (r->fp8()) {
    INGOT_ASSIGN_OR_RETURN(r->scaling, CheckChoice(spec, "scaling", "none",
                                                   {"none", "tensor", "row"}));
  } else {
    INGOT_RETURN_IF_ERROR(
        CheckChoice(spec, "scaling", "none", {"none"}).status());
  }
  r->scale_index = index;
  for (const auto& [name, operand] :
       {std::pair("scale_a", &r->scale_a), {"scale_b", &r->scale_b}}) {
    if (!r->scaled()) {
      if (spec.FindOperand(name) == nullptr) continue;
      return Invalid(absl::StrCat("operand ", name), "present",
                     "none, unless a is e4m3fn or e5m2 and scaling is tensor "
                     "or row");
    }
    INGOT_ASSIGN_OR_RETURN(*operand, CheckOperand(spec, name, {"f32"}));
    INGOT_RETURN_IF_ERROR(CheckVector(**operand));
  }
  return absl::OkStatus();
}

absl::Status FindMatrices(const Spec& spec, GemmRequest* r) {
  INGOT_ASSIGN_OR_RETURN(
      r->a.operand, CheckOperand(spec, "a", {"bf16", "f16", "e4m3fn", "e5m2"}));
  r->dtype = r->a.operand->dtype;
  if (r->fp8()) {
    INGOT_ASSIGN_OR_RETURN(r->b.operand,
                           CheckOperand(spec, "b", {"e4m3fn", "e5m2"}));
  } else {
    INGOT_ASSIGN_OR_RETURN(
        r->b.operand, CheckOperand(spec, "b", {absl::string_view(r->dtype)}));
  }
  r->dtype_b = r->b.operand->dtype;
  INGOT_ASSIGN_OR_RETURN(r->d.operand,
                         CheckOperand(spec, "d", {"bf16", "f16", "f32"}));
  r->dtype_d = r->d.operand->dtype;
  for (const auto& [name, x] :
       {std::pair{"c", &r->c}, std::pair{"residual", &r->residual}}) {
    if (spec.FindOperand(name) == nullptr) continue;
    INGOT_ASSIGN_OR_RETURN(
        x->operand, CheckOperand(spec, name, {absl::string_view(r->dtype_d)}));
  }
  return absl::OkStatus();
}

absl::Status ReadMatrices(const Spec& spec, GemmRequest* r) {
  INGOT_RETURN_IF_ERROR(FindMatrices(spec, r));
  ShapeGemmMatrices(r);
  int index = 0;
  for (GemmMatrix* x : {&r->a, &r->b, &r->d, &r->c}) {
    if (x->operand != nullptr) x->index = index++;
  }
  INGOT_RETURN_IF_ERROR(ReadScales(spec, index, r));
  if (r->scaled()) index += 2;
  INGOT_RETURN_IF_ERROR(ReadBias(spec, index, r));
  r->residual.index = index + (r->bias == nullptr ? 0 : 1);
  for (GemmMatrix* x : {&r->a, &r->b, &r->d, &r->c, &r->residual}) {
    if (x->operand != nullptr) INGOT_RETURN_IF_ERROR(CheckGemmMatrix(*x, r));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadGemmActivation(const Spec& spec, GemmRequest* r) {
  INGOT_ASSIGN_OR_RETURN(r->act, CheckChoice(spec, "act", "none",
                                             {"none", "relu", "gelu_tanh",
                                              "gelu_erf", "silu", "swiglu"}));
  const bool paired = r->act == "swiglu";
  if (paired != (spec.FindAttr("pairing") != nullptr)) {
    return Invalid("attribute pairing", paired ? "none" : "one",
                   paired ? "halves, interleaved" : "one with swiglu only");
  }
  INGOT_ASSIGN_OR_RETURN(r->pairing, CheckChoice(spec, "pairing", "none",
                                                 {"halves", "interleaved"}));
  return absl::OkStatus();
}

void ShapeGemmMatrices(GemmRequest* r) {
  r->a.rows = r->a_transposed() ? kGemmK : kGemmM;
  r->a.inner = r->a_transposed() ? kGemmM : kGemmK;
  r->b.rows = r->b_transposed() ? kGemmN : kGemmK;
  r->b.inner = r->b_transposed() ? kGemmK : kGemmN;
  const int factor = r->columns_factor();
  (r->b_transposed() ? r->b.rows_factor : r->b.inner_factor) = factor;
  r->c.inner_factor = factor;
  for (GemmMatrix* x : {&r->d, &r->c, &r->residual}) {
    x->rows = kGemmM;
    x->inner = kGemmN;
  }
  for (GemmMatrix* x : {&r->a, &r->b, &r->d, &r->c, &r->residual}) {
    x->row_axis = r->batch ? 1 : 0;
  }
}

absl::Status CheckGemmMatrix(const GemmMatrix& x, GemmRequest* r) {
  INGOT_RETURN_IF_ERROR(CheckStrides(*r, x));
  INGOT_RETURN_IF_ERROR(CheckGemmAlignment(*x.operand));
  if (x.operand->stride_mode == StrideMode::kStatic) {
    // A row holds what its stride has room for.
    PlanDim& inner = r->dims[x.inner];
    inner.max =
        std::min(inner.max, x.operand->strides[x.row_axis] / x.inner_factor);
  }
  return absl::OkStatus();
}

absl::Status CheckGemmAlignment(const Operand& operand) {
  const int64_t least = DtypeBytes(operand.dtype);
  if (AlignmentOf(operand) >= least) return absl::OkStatus();
  return Invalid(absl::StrCat("alignment of operand ", operand.name),
                 absl::StrCat(operand.alignment),
                 absl::StrCat(least, " or more"));
}

absl::StatusOr<GemmRequest> ReadGemmRequest(const Spec& spec) {
  GemmRequest r;
  INGOT_ASSIGN_OR_RETURN(
      r.layout, CheckChoice(spec, "layout", "nt", {"nn", "nt", "tn", "tt"}));
  INGOT_RETURN_IF_ERROR(ReadGemmActivation(spec, &r));
  INGOT_ASSIGN_OR_RETURN(
      r.dims[kGemmM],
      CheckDim(spec, "m", r.a_transposed() ? kGemmMaxRow : kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.dims[kGemmN],
                         CheckDim(spec, "n", kGemmMaxRow / r.columns_factor()));
  INGOT_ASSIGN_OR_RETURN(r.dims[kGemmK], CheckDim(spec, "k", kGemmMaxRow));
  if (spec.FindDim("b") != nullptr) {
    INGOT_ASSIGN_OR_RETURN(r.batch, CheckDim(spec, "b", kMaxBatch));
  }
  INGOT_RETURN_IF_ERROR(ReadMatrices(spec, &r));
  if (r.fp8() && r.pairing == "halves" && !r.b_transposed()) {
    return Unimplemented("attribute pairing with 8-bit elements", "'halves'",
                         "interleaved, or a layout whose b is t");
  }
  // A launch of no rows is no launch.
  if (r.dims[kGemmM].min == 1) r.dims[kGemmM].min = 0;
  if (r.batch && r.batch->min == 1) r.batch->min = 0;
  return r;
}

}  // namespace ingot
