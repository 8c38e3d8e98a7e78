// What a spec of gemm asks for, checked, and the families of kernels that can
// serve it. Part of the planning half, beside gemm_plan.cc.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// Places in Plan::dims.
inline constexpr int kGemmM = 0;
inline constexpr int kGemmN = 1;
inline constexpr int kGemmK = 2;

// A matrix as the spec gives it: [rows, inner], inner contiguous.
struct GemmMatrix {
  const Operand* operand = nullptr;  // into the spec
  int index = 0;                     // into Plan::operands
  int rows = 0;                      // dims
  int inner = 0;
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

// Widths of accesses, in elements, and what must hold at launch for them.
struct GemmFamily {
  GemmSchedule schedule = GemmSchedule::kStaged;
  int width_a = 1;
  int width_b = 1;
  int width_d = 1;
  std::vector<Guard> guards;
  // Whether a launch that the spec allows may fail the guards on dims and
  // strides.
  bool conditional = false;
};

// Fastest first; the last one is not conditional.
std::vector<GemmFamily> GemmFamilies(const GemmRequest& request);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_REQUEST_H_
