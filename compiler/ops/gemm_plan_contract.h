// gemm: d[m,n] = alpha * op(A)[m,k] @ op(B)[k,n] + beta * c[m,n] + bias[n]
//
// a, b: bf16 or f16, the same; d: bf16, f16 or f32; c (optional): dtype of d;
// bias (optional): dtype of d or f32. f32 accumulation, one rounding at the
// end. `layout` (default "nt"): first letter A, n = stored [m,k], t = stored
// [k,m]; second letter B, n = stored [k,n], t = stored [n,k]. With c its
// elements are read whatever beta is. d may be c, and may not overlap a or b.
//
// Limits: n, k and row strides below 2^21 elements, so that a panel of 256 rows
// stays inside a buffer descriptor (2 GiB; tensors may be larger); m up to 2^30
// where it is not a row's length.
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
inline constexpr const char* kGemmDims[] = {"m", "n", "k"};
inline constexpr const char* kGemmOperands[] = {"a", "b", "d", "c", "bias"};
inline constexpr const char* kGemmAttrs[] = {"layout", "act"};

// Fills dims, operands, scalars and the resolved attributes.
void DescribeGemm(const GemmRequest& request, Plan* plan);

// Launch arguments of a kernel that computes d.
std::vector<KernelArg> GemmArguments(const GemmRequest& request);

// Baked parameters that gemm_body*.cc read whatever the schedule is.
std::vector<Param> GemmContractParams(const GemmRequest& request);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_CONTRACT_H_
