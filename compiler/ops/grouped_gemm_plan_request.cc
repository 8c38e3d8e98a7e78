#include "compiler/ops/grouped_gemm_plan_request.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/ops/gemm_plan_contract.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 30;
// Of the smallest tile.
constexpr int64_t kLeastRows = 16;
constexpr int64_t kLeastColumns = 64;

// Places in Plan::operands.
enum { kA, kB, kD, kOffs, kBias };

absl::Status CheckDense(const Operand& operand) {
  if (operand.stride_mode == StrideMode::kDense) return absl::OkStatus();
  return Invalid(absl::StrCat("strides of operand ", operand.name),
                 "given strides", "dense");
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
  ShapeGemmMatrices(r);
  r->a.row_axis = r->d.row_axis = 0;
  r->a.index = kA, r->b.index = kB, r->d.index = kD;
  for (GemmMatrix* x : {&r->a, &r->b, &r->d}) {
    INGOT_RETURN_IF_ERROR(CheckGemmMatrix(*x, r));
  }
  return absl::OkStatus();
}

absl::Status ReadVectors(const Spec& spec, GemmRequest* r) {
  INGOT_ASSIGN_OR_RETURN(const Operand* offs,
                         CheckOperand(spec, "offs", {"i32"}));
  INGOT_RETURN_IF_ERROR(CheckDense(*offs));
  INGOT_RETURN_IF_ERROR(CheckGemmAlignment(*offs));
  if (spec.FindOperand("bias") == nullptr) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(
      r->bias,
      CheckOperand(spec, "bias", {absl::string_view(r->dtype_d), "f32"}));
  r->bias_index = kBias;
  r->bias_batched = true;
  INGOT_RETURN_IF_ERROR(CheckDense(*r->bias));
  return CheckGemmAlignment(*r->bias);
}

}  // namespace

absl::StatusOr<PlanDim> CheckGroupedRows(const Spec& spec, int64_t columns,
                                         int64_t groups) {
  // A round beyond the last one must still be numbered.
  constexpr int64_t kMaxTiles = (int64_t{1} << 31) - 65536;
  const int64_t tiles_n = (columns + kLeastColumns - 1) / kLeastColumns;
  const int64_t most =
      std::min(kMaxRows, (kMaxTiles / tiles_n - groups) * kLeastRows);
  INGOT_ASSIGN_OR_RETURN(PlanDim rows, CheckDim(spec, "total_m", most));
  if (spec.FindDim("total_m")->min == 0) rows.min = 0;
  return rows;
}

absl::StatusOr<GroupedGemmRequest> ReadGroupedGemmRequest(const Spec& spec) {
  GroupedGemmRequest request;
  GemmRequest& r = request.gemm;
  INGOT_RETURN_IF_ERROR(ReadGemmActivation(spec, &r));
  INGOT_ASSIGN_OR_RETURN(request.b_layout,
                         CheckChoice(spec, "b_layout", "gkn", {"gkn", "gnk"}));
  r.layout = request.b_layout == "gnk" ? "nt" : "nn";
  INGOT_ASSIGN_OR_RETURN(r.batch, CheckDim(spec, "g", kGroupedMaxGroups));
  INGOT_ASSIGN_OR_RETURN(r.dims[kGemmN],
                         CheckDim(spec, "n", kGemmMaxRow / r.columns_factor()));
  INGOT_ASSIGN_OR_RETURN(r.dims[kGemmK], CheckDim(spec, "k", kGemmMaxRow));
  INGOT_RETURN_IF_ERROR(ReadMatrices(spec, &r));
  INGOT_RETURN_IF_ERROR(ReadVectors(spec, &r));
  INGOT_ASSIGN_OR_RETURN(
      r.dims[kGemmM],
      CheckGroupedRows(spec, r.dims[kGemmN].max * r.columns_factor(),
                       r.batch->max));
  return request;
}

void DescribeGroupedGemm(const GroupedGemmRequest& request, Plan* plan) {
  const GemmRequest& r = request.gemm;
  plan->resolved.attrs = {{"act", r.act}, {"b_layout", request.b_layout}};
  if (r.pairing != "none") {
    plan->resolved.attrs.push_back({"pairing", r.pairing});
  }
  plan->dims.assign(r.dims.begin(), r.dims.end());
  plan->dims.push_back(request.groups());
  const auto dense = [&](const char* name, const std::string& dtype) {
    PlanOperand vector;
    vector.name = name;
    vector.dtype = dtype;
    vector.axes = 1;
    vector.strides = {Expr::Const(1)};
    vector.extents = {Expr::DimAt(kGroupedGroups)};
    return vector;
  };
  plan->operands = {DescribeGemmMatrix(r.a, false),
                    DescribeGemmMatrix(r.b, false),
                    DescribeGemmMatrix(r.d, true), dense("offs", "i32")};
  if (r.bias == nullptr) return;
  PlanOperand bias = dense("bias", r.bias->dtype);
  bias.axes = 2;
  bias.strides.insert(bias.strides.begin(), GemmColumns(r));
  bias.extents.push_back(GemmColumns(r));
  plan->operands.push_back(bias);
}

std::vector<KernelArg> GroupedGemmArguments(const GroupedGemmRequest& request,
                                            const Expr& workgroups) {
  std::vector<KernelArg> args;
  const auto pointer = [&](const char* name, int index) {
    args.push_back({name, KernelArg::kOperand, index, 8, Expr::Const(0)});
  };
  const auto integer = [&](const char* name, Expr value, uint32_t size = 4) {
    args.push_back({name, KernelArg::kInteger, 0, size, std::move(value)});
  };
  const GemmRequest& r = request.gemm;
  pointer("a", kA);
  pointer("b", kB);
  pointer("d", kD);
  pointer("offs", kOffs);
  if (r.bias != nullptr) pointer("bias", kBias);
  integer("group_stride_b", Expr::StrideAt(kB, 0), 8);
  integer("total_m", Expr::DimAt(kGroupedTotalM));
  integer("columns", GemmColumns(r));
  integer("k", Expr::DimAt(kGemmK));
  integer("groups", Expr::DimAt(kGroupedGroups));
  integer("lda", Expr::StrideAt(kA, 0));
  integer("ldb", Expr::StrideAt(kB, 1));
  integer("ldd", Expr::StrideAt(kD, 0));
  integer("workgroups", workgroups);
  return args;
}

}  // namespace ingot
