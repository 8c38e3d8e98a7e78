// What a spec of gemm asks for, checked.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// n, k and row strides, elements.
inline constexpr int64_t kGemmMaxRow = (int64_t{1} << 21) - 1;

// Places in Plan::dims.
inline constexpr int kGemmM = 0;
inline constexpr int kGemmN = 1;
inline constexpr int kGemmK = 2;

// A matrix as the spec gives it: [rows, inner], inner contiguous, or many of
// them under leading axes.
struct GemmMatrix {
  const Operand* operand = nullptr;  // into the spec
  int index = 0;                     // into Plan::operands
  int rows = 0;                      // dims
  int inner = 0;
  int row_axis = 0;  // of the operand; the last one is inner
};

struct GemmRequest {
  std::array<PlanDim, 3> dims;
  std::string layout;
  std::string dtype;    // of a and b
  std::string dtype_d;  // of d and c
  GemmMatrix a, b, d, c;
  const Operand* bias = nullptr;

  bool a_transposed() const { return layout[0] == 't'; }
  bool b_transposed() const { return layout[1] == 't'; }
  bool has_c() const { return c.operand != nullptr; }
};

// Every check of dims, dtypes, strides and attributes. `spec` must outlive the
// request.
absl::StatusOr<GemmRequest> ReadGemmRequest(const Spec& spec);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_
