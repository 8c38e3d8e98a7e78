// gemm of 8-bit floats:
//
//   d[m,n] = alpha * scale_a * scale_b * A[m,k] @ B[n,k]^T + bias[n]
//
// a, b: e4m3fn or e5m2, any two of them; d: bf16, f16 or f32; bias (optional):
// dtype of d or f32. f32 accumulation at the rate of 8 bits, one rounding at
// the end, which does not saturate. `scaling`:
//   none    (default) no operands scale_a, scale_b
//   tensor  each is one f32
//   row     scale_a [m] and scale_b [n], f32
// Only layout nt: along k the 8-bit instructions read 16 elements a lane, which
// the other layouts do not have side by side. No c, activation, residual or
// batch.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_FP8_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_FP8_H_

#include "compiler/ops/scaled_gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// What its tiles are made of.
inline constexpr ScaledFormats kFp8Formats = {8, 8, /*block_scaled=*/false};

// Whether a spec of gemm asks for this.
bool IsFp8Gemm(const Spec& spec);

absl::StatusOr<Plan> PlanFp8Gemm(const Spec& spec);

// INVALID_ARGUMENT when a spec of other elements uses what only this has.
absl::Status RefuseFp8Names(const Spec& spec);

std::vector<Spec> Fp8GemmSamples();
std::vector<Spec> Fp8GemmBadSamples();

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_FP8_H_
