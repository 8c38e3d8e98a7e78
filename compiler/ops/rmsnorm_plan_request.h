// What a spec of rmsnorm asks for, checked.
#ifndef INGOT_COMPILER_OPS_RMSNORM_PLAN_REQUEST_H_
#define INGOT_COMPILER_OPS_RMSNORM_PLAN_REQUEST_H_

#include <cstdint>
#include <vector>

#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

inline constexpr int64_t kRmsNormVectorBytes = 16;
inline constexpr int64_t kRmsNormMaxStride = (int64_t{1} << 30) - 1;

// An operand and where it stands in the plan's list.
struct RmsNormOperand {
  const Operand* operand = nullptr;
  int index = -1;

  explicit operator bool() const { return operand != nullptr; }
  const Operand* operator->() const { return operand; }
};

struct RmsNormRequest {
  PlanDim rows, n;
  RmsNormOperand x, y;
  RmsNormOperand weight, rstd, residual, residual_out;  // optional
  int64_t bytes = 0;                                    // of an element of x
  int threads = 0;  // a row; 0: ours to choose

  // Those that are rows of n elements, in the order of the plan.
  std::vector<const RmsNormOperand*> matrices() const;
};

// INVALID_ARGUMENT and UNIMPLEMENTED as compiler/plan.h says. Points into
// `spec`.
absl::StatusOr<RmsNormRequest> ReadRmsNormRequest(const Spec& spec);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_RMSNORM_PLAN_REQUEST_H_
