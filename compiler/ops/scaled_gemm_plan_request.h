// scaled_gemm: d[m,n] = A[m,k] @ B[n,k]^T + bias[n], where both are block
// scaled (OCP MX): element k of a row counts 2^(scale[k / 32] - 127) times what
// its bits say. f32 accumulation, one rounding at the end.
//
// a, b: e4m3fn, e5m2, e2m3, e3m2 or e2m1, any two of them; scale_a, scale_b:
// e8m0; d: bf16, f16 or f32; bias (optional): dtype of d or f32. A scale of 255
// is NaN, and makes every element of d NaN that its block goes into.
//
// Elements of 6 and 4 bits are packed along k, the first one in the lowest
// bits: e2m1 has the even k in the low nibble, and 32 k of e2m3 or e3m2 are 24
// bytes, little-endian. Extents, strides and alignments of such an operand, as
// of all 8-bit ones, count bytes: a of e2m1 is [m, k / 2]. k is a multiple of
// 32.
//
// `scale_layout`, of both scales:
//   linear        scale_a [m, k / 32], scale_b [n, k / 32]
//   shuffled_16x4  [rows / 32][k / 256][k / 32 % 4][row % 16][k / 128 % 2]
//                 [row / 16 % 2] with rows padded to 256 and k to 256: the
//                 operand is [rows padded, k padded / 32], dense. Padding is
//                 ignored.
// `weight_layout`, of b:
//   linear    [n, bytes of k]
//   shuffled  [n / 16][bytes of k / 16][n % 16][16 bytes], n padded to 16: the
//             operand is [n padded, bytes of k], dense. Rows of whole 16 bytes
//             only. Padding is ignored.
// mx_shuffle makes both from linear ones. Neither is ever guessed: linear
// unless stated. `layout` may say nt and `scale_block` 32, the only ones there
// are.
//
// Limits: n, k and row strides below 2^21, m up to 2^30.
#ifndef INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_REQUEST_H_
#define INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_REQUEST_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernel_spec.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// n, k and row strides; from group to group; places in Plan::dims; places in
// Plan::operands.
inline constexpr int64_t kScaledMaxRow = (int64_t{1} << 21) - 1;
inline constexpr int64_t kScaledMaxGroupStride = int64_t{1} << 40;
inline constexpr int kScaledM = 0;
inline constexpr int kScaledN = 1;
inline constexpr int kScaledK = 2;
inline constexpr int kScaledA = 0;
inline constexpr int kScaledB = 1;
inline constexpr int kScaledScaleA = 2;
inline constexpr int kScaledScaleB = 3;
inline constexpr int kScaledD = 4;
inline constexpr int kScaledBias = 5;  // only when there is one

// Names that a spec may use.
inline constexpr const char* kScaledGemmDims[] = {"m", "n", "k"};
inline constexpr const char* kScaledGemmOperands[] = {"a",       "b", "scale_a",
                                                      "scale_b", "d", "bias"};
inline constexpr const char* kScaledGemmAttrs[] = {
    "layout", "scale_block", "scale_layout", "weight_layout"};

struct ScaledGemmRequest {
  std::array<PlanDim, 3> dims;
  std::array<const Operand*, 5> operands;  // into the spec
  const Operand* bias = nullptr;
  bool scales_shuffled = false;
  bool weights_shuffled = false;
  bool grouped = false;  // b and scale_b have a leading axis of groups

  const std::string& dtype(int operand) const {
    return operands[operand]->dtype;
  }
  // Of an element of a or b.
  int bits(int operand) const;
  // Axis of an operand that counts its rows; the next one is the last.
  int row_axis(int operand) const {
    const bool leads = operand == kScaledB || operand == kScaledScaleB;
    return grouped && leads ? 1 : 0;
  }
};

// Elements of a row of a, b or a scale, as the operand counts them, for a k.
int64_t ScaledRowLength(const ScaledGemmRequest& request, int operand,
                        int64_t k);
// The shortest row that a launch can have, in elements of the operand.
int64_t LeastRow(const ScaledGemmRequest& request, int operand);

// Checks an operand's strides, which may limit dims of the request.
absl::Status CheckScaledStrides(int operand, ScaledGemmRequest* request);

// Every check of dims, dtypes, strides and attributes. `spec` must outlive the
// request.
absl::StatusOr<ScaledGemmRequest> ReadScaledGemmRequest(const Spec& spec);

// An operand with these extents and strides as the spec gives them.
PlanOperand DescribeScaledOperand(const Operand& x, std::vector<Expr> extents);

// Fills dims, operands and the resolved attributes.
void DescribeScaledGemm(const ScaledGemmRequest& request, Plan* plan);

// Launch arguments of a kernel.
std::vector<KernelArg> ScaledGemmArguments(const ScaledGemmRequest& request);

// What is baked whatever the schedule is.
std::vector<Param> ScaledGemmContractParams(const ScaledGemmRequest& request);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_REQUEST_H_
