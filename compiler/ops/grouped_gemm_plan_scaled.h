// grouped_gemm of block-scaled operands (OCP MX): a and b of e4m3fn, e5m2,
// e2m3, e3m2 or e2m1, any two of them, with scale_a [total_m, k / 32] and
// scale_b [g, n, k / 32] of e8m0. Formats, packing and scales are those of
// scaled_gemm: extents of a and b count bytes, k is a multiple of 32, a scale
// of 255 is NaN.
//
// b is [g,n,k] (`b_layout` "gnk", which must be said), scales linear: row by
// row, whatever group a row is of. Strides of a, b, d and the scales are any
// that the spec gives or leaves to launches, groups from 0 (the same matrix for
// all) to 2^40 apart. `pairing` halves is not there. All else is as in
// grouped_gemm_plan_request.h.
#ifndef INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_SCALED_H_
#define INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_SCALED_H_

#include "compiler/candidates.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// Whether the spec has scales or elements that need some.
bool IsScaledGroupedGemm(const Spec& spec);

absl::StatusOr<Plan> PlanScaledGroupedGemm(const Spec& spec);

// OpDef::candidates of such a spec.
std::vector<Candidate> ScaledGroupedGemmCandidates(const Spec& spec);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_SCALED_H_
