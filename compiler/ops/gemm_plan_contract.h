// gemm: d[b,m,n] = act(alpha * op(A)[b,m,k] @ op(B)[b,k,n] + beta * c[b,m,n]
//                      + bias[n]) + residual[b,m,n]
//
// a, b: bf16 or f16, the same, or any two of e4m3fn and e5m2, multiplied at the
// rate of 8 bits; d: bf16, f16 or f32; c, residual (optional): dtype of d; bias
// (optional): dtype of d or f32. f32 accumulation, one rounding at the end,
// which does not saturate. `layout` (default "nt"): first
// letter A, n = stored [m,k], t = stored [k,m]; second letter B, n = stored
// [k,n], t = stored [n,k]. With c its elements are read whatever beta is. d may
// be c or residual (the same elements at the same places), and may not overlap
// anything else.
//
// `act`: none, relu, gelu_tanh, gelu_erf, silu, swiglu. With swiglu, n counts
// pairs of columns of the product, c and bias, which are 2 n wide:
//   d = silu(gate) * up + residual
// and `pairing` says where they are: `halves` (gate in column j, up in n + j)
// or `interleaved` (2 j and 2 j + 1).
//
// `scaling`, of 8-bit elements, which alpha is multiplied by:
//   none    (default) no operands scale_a, scale_b
//   tensor  each is one f32
//   row     scale_a [m] and scale_b [n] (2 n with swiglu), f32, the same for
//   all
//           of a batch
//
// Batch: only where the spec has a dim b; then matrices have three axes. Static
// and dynamic batch strides are any number of elements from 0 (the same matrix
// for all; not for d) to 2^40. bias stays [n] when it is dense; with strides of
// two axes it is [b,n].
//
// `halves` with 8-bit elements needs b stored [n,k].
//
// Limits: n (2 n with swiglu), k and row strides below 2^21 elements, so that a
// panel of 256 rows stays inside a buffer descriptor (2 GiB; tensors may be
// larger); m up to 2^30 where it is not a row's length; b up to 65535. A launch
// with m or b of 0 does nothing.
//
// Here: operands, scalars, launch arguments, and what of the request is baked.
// The same for every schedule.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_CONTRACT_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_CONTRACT_H_

#include <vector>

#include "absl/types/span.h"
#include "compiler/kernel_spec.h"
#include "compiler/ops/gemm_plan_request.h"
#include "compiler/plan.h"

namespace ingot {

// Names that a spec may use.
inline constexpr const char* kGemmDims[] = {"m", "n", "k", "b"};
inline constexpr const char* kGemmOperands[] = {
    "a", "b", "d", "c", "bias", "residual", "scale_a", "scale_b"};
inline constexpr const char* kGemmAttrs[] = {"layout", "act", "pairing",
                                             "scaling"};

// Fills dims, operands, scalars and the resolved attributes.
void DescribeGemm(const GemmRequest& request, Plan* plan);

// A matrix of a request as its plan describes it.
PlanOperand DescribeGemmMatrix(const GemmMatrix& x, bool output);

// Columns of the product, and workgroups of the grid's z: one for each matrix
// of the batch.
Expr GemmColumns(const GemmRequest& request);
Expr GemmGridZ(const GemmRequest& request);

// Launch arguments of a kernel that computes d.
std::vector<KernelArg> GemmArguments(const GemmRequest& request);

// Baked parameters that gemm_body*.cc read whatever the schedule is.
std::vector<Param> GemmContractParams(const GemmRequest& request);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_CONTRACT_H_
