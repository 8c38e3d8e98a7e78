#include "compiler/ops/gemm_plan_request.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 30;

int64_t RowStrideLimit(const GemmRequest& r, const GemmMatrix& x) {
  return x.operand->stride_mode == StrideMode::kStatic ? x.operand->strides[0]
                                                       : r.dims[x.inner].max;
}

absl::Status CheckStrides(const GemmRequest& r, const GemmMatrix& x) {
  const Operand& operand = *x.operand;
  const std::string field = absl::StrCat("strides of operand ", operand.name);
  if (operand.stride_mode != StrideMode::kStatic) return absl::OkStatus();
  if (operand.strides.size() != 2 || operand.strides[1] != 1) {
    return Invalid(field, absl::StrJoin(operand.strides, ", "),
                   "a row stride and 1");
  }
  // The shortest row that a launch can have.
  const PlanDim& inner = r.dims[x.inner];
  const int64_t least = (inner.min + inner.multiple_of - 1) /
                        inner.multiple_of * inner.multiple_of;
  if (operand.strides[0] < least || operand.strides[0] > kGemmMaxRow) {
    return Invalid(field, absl::StrCat(operand.strides[0]),
                   absl::StrCat("row strides of ", least, " to ", kGemmMaxRow));
  }
  return absl::OkStatus();
}

absl::Status ReadBias(const Spec& spec, GemmRequest* r) {
  if (spec.FindOperand("bias") == nullptr) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(
      r->bias,
      CheckOperand(spec, "bias", {absl::string_view(r->dtype_d), "f32"}));
  const Operand& bias = *r->bias;
  if (bias.stride_mode == StrideMode::kDynamic ||
      (bias.stride_mode == StrideMode::kStatic &&
       (bias.strides.size() != 1 || bias.strides[0] != 1))) {
    return Invalid("strides of operand bias", absl::StrJoin(bias.strides, ", "),
                   "dense, or static 1");
  }
  if (AlignmentOf(bias) < DtypeBytes(bias.dtype)) {
    return Invalid("alignment of operand bias", absl::StrCat(bias.alignment),
                   absl::StrCat(DtypeBytes(bias.dtype), " or more"));
  }
  return absl::OkStatus();
}

absl::Status ReadMatrices(const Spec& spec, GemmRequest* r) {
  INGOT_ASSIGN_OR_RETURN(r->a.operand,
                         CheckOperand(spec, "a", {"bf16", "f16"}));
  r->dtype = r->a.operand->dtype;
  INGOT_ASSIGN_OR_RETURN(
      r->b.operand, CheckOperand(spec, "b", {absl::string_view(r->dtype)}));
  INGOT_ASSIGN_OR_RETURN(r->d.operand,
                         CheckOperand(spec, "d", {"bf16", "f16", "f32"}));
  r->dtype_d = r->d.operand->dtype;
  if (spec.FindOperand("c") != nullptr) {
    INGOT_ASSIGN_OR_RETURN(
        r->c.operand, CheckOperand(spec, "c", {absl::string_view(r->dtype_d)}));
  }
  r->a.rows = r->a_transposed() ? kGemmK : kGemmM;
  r->a.inner = r->a_transposed() ? kGemmM : kGemmK;
  r->b.rows = r->b_transposed() ? kGemmN : kGemmK;
  r->b.inner = r->b_transposed() ? kGemmK : kGemmN;
  r->d.rows = r->c.rows = kGemmM;
  r->d.inner = r->c.inner = kGemmN;
  r->b.index = 1;
  r->d.index = 2;
  r->c.index = 3;
  for (GemmMatrix* x : {&r->a, &r->b, &r->d, &r->c}) {
    if (x->operand == nullptr) continue;
    INGOT_RETURN_IF_ERROR(CheckStrides(*r, *x));
    if (AlignmentOf(*x->operand) < DtypeBytes(x->operand->dtype)) {
      return Invalid(absl::StrCat("alignment of operand ", x->operand->name),
                     absl::StrCat(x->operand->alignment),
                     absl::StrCat(DtypeBytes(x->operand->dtype), " or more"));
    }
    // A row holds what its stride has room for.
    PlanDim& inner = r->dims[x->inner];
    inner.max = std::min(inner.max, RowStrideLimit(*r, *x));
  }
  return ReadBias(spec, r);
}

}  // namespace

absl::StatusOr<GemmRequest> ReadGemmRequest(const Spec& spec) {
  GemmRequest r;
  INGOT_ASSIGN_OR_RETURN(
      r.layout, CheckChoice(spec, "layout", "nt", {"nn", "nt", "tn", "tt"}));
  INGOT_RETURN_IF_ERROR(CheckChoice(spec, "act", "none", {"none"}).status());
  INGOT_ASSIGN_OR_RETURN(
      r.dims[kGemmM],
      CheckDim(spec, "m", r.a_transposed() ? kGemmMaxRow : kMaxRows));
  INGOT_ASSIGN_OR_RETURN(r.dims[kGemmN], CheckDim(spec, "n", kGemmMaxRow));
  INGOT_ASSIGN_OR_RETURN(r.dims[kGemmK], CheckDim(spec, "k", kGemmMaxRow));
  INGOT_RETURN_IF_ERROR(ReadMatrices(spec, &r));
  return r;
}

}  // namespace ingot
