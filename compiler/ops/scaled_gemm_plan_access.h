// How wide the operands of a product of narrow elements can be accessed, and
// what must hold for it at launch.
#ifndef INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_ACCESS_H_
#define INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_ACCESS_H_

#include <cstdint>
#include <vector>

#include "compiler/ops/scaled_gemm_plan_request.h"
#include "compiler/plan.h"

namespace ingot {

// Whether launches may differ in strides; operands that are not there do not
// count.
bool HasDynamicStrides(const ScaledGemmRequest& request);

// What is known of a row of an operand: the largest power of two up to `most`
// that divides its length, its stride and its start, in bytes. `any_stride`:
// whatever dynamic strides say.
int64_t RowAlignment(const ScaledGemmRequest& request, int operand,
                     int64_t most, bool any_stride);

// Elements of d in one access, and of bias; 0 without bias.
int64_t ScaledOutputWidth(const ScaledGemmRequest& request, bool any_stride);
int64_t ScaledBiasWidth(const ScaledGemmRequest& request);

// Guards for accesses of `bytes` to an operand that is the plan's `index`-th.
void RequireRows(const ScaledGemmRequest& request, int operand, int index,
                 int64_t bytes, std::vector<Guard>* guards);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_ACCESS_H_
