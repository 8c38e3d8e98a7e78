// grouped_gemm: d[r,n] = act(a[r,k] @ B[e][k,n] + bias[e,n])  for every row r
// that group e has
//
// a: bf16 or f16 (block-scaled formats: grouped_gemm_plan_scaled.h),
// [total_m,k]; b: the same, [g,k,n] or [g,n,k] by `b_layout`
// ("gkn" by default, or "gnk"); d: bf16, f16 or f32, [total_m,n]; bias
// (optional): dtype of d or f32, [g,n]. f32 accumulation, one rounding at the
// end. d may not overlap anything else. `act` and, with swiglu, `pairing` are
// those of gemm; with a pairing n counts pairs, and the product, so b and bias,
// has 2 n columns.
//
// offs: i32 [g], read on the device alone: where each group ends, so that group
// e has the rows from offs[e - 1] (0 for the first) to offs[e]. Groups may be
// empty and total_m 0. Whatever offs holds, nothing outside the operands is
// touched: an end that is negative or beyond total_m counts as the nearest that
// is not, one below an earlier end as that one. Rows of no group, behind the
// last end, are not written.
//
// Limits: columns, k and row strides below 2^21 elements, so that a panel of
// 256 rows stays inside a buffer descriptor (2 GiB; tensors may be larger);
// 1024 groups; (total_m / 16 + g) * (columns / 64) below 2^31, which numbers
// the tiles.
//
// Not here: groups along k (both operands two-dimensional, as for the gradient
// of weights); the spec has no name for it.
#ifndef INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_REQUEST_H_
#define INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ops/gemm_plan_request.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// Names that a spec may use.
inline constexpr const char* kGroupedGemmDims[] = {"g", "k", "n", "total_m"};
inline constexpr const char* kGroupedGemmOperands[] = {
    "a", "b", "d", "offs", "bias", "scale_a", "scale_b"};
inline constexpr const char* kGroupedGemmAttrs[] = {"act", "b_layout",
                                                    "pairing"};

inline constexpr int64_t kGroupedMaxGroups = 1024;

// Places in Plan::dims: those of gemm.
inline constexpr int kGroupedTotalM = kGemmM;
inline constexpr int kGroupedGroups = kGemmB;

struct GroupedGemmRequest {
  // m is total_m; the batch are the groups, which share a and d, while b and
  // bias have an axis for them.
  GemmRequest gemm;
  std::string b_layout;

  const PlanDim& groups() const { return *gemm.batch; }
};

// Every check of dims, dtypes, strides and attributes. `spec` must outlive the
// request.
absl::StatusOr<GroupedGemmRequest> ReadGroupedGemmRequest(const Spec& spec);

// The rows of a launch, which unlike other extents may be none, where a row of
// the product has `columns` at most and there are `groups`.
absl::StatusOr<PlanDim> CheckGroupedRows(const Spec& spec, int64_t columns,
                                         int64_t groups);

// Fills dims, operands and the resolved attributes.
void DescribeGroupedGemm(const GroupedGemmRequest& request, Plan* plan);

// Launch arguments; `workgroups` is the grid.
std::vector<KernelArg> GroupedGemmArguments(const GroupedGemmRequest& request,
                                            const Expr& workgroups);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_REQUEST_H_
