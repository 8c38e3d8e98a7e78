// gemm of 8-bit floats, the code half; what it computes stands in
// gemm_plan_fp8.h.
#ifndef INGOT_COMPILER_OPS_GEMM_BODY_FP8_H_
#define INGOT_COMPILER_OPS_GEMM_BODY_FP8_H_

#include "compiler/kernel_spec.h"
#include "compiler/tile/builder.h"
#include "proto/status.h"

namespace ingot {

// Whether a kernel of gemm is one of these.
bool IsFp8Gemm(const KernelSpec& spec);

absl::Status BuildFp8Gemm(tile::Builder& builder);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_BODY_FP8_H_
