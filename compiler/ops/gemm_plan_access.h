// The families of kernels that can serve a request of gemm: how wide they
// access each matrix, and what must hold for it at launch.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_ACCESS_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_ACCESS_H_

#include <vector>

#include "compiler/ops/gemm_plan_request.h"
#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/plan.h"

namespace ingot {

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

// Elements of bias in one access, for all families; 0 without bias.
int GemmBiasWidth(const GemmRequest& request);

// Fastest first; the last one is not conditional.
std::vector<GemmFamily> GemmFamilies(const GemmRequest& request);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_ACCESS_H_
