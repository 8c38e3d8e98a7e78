// What a spec of rmsnorm asks for, checked.
#ifndef INGOT_COMPILER_OPS_RMSNORM_PLAN_REQUEST_H_
#define INGOT_COMPILER_OPS_RMSNORM_PLAN_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ops/row_operands.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// An operand of one value for each element of a row, or for each row.
struct RmsNormVector {
  const Operand* operand = nullptr;
  int index = -1;  // in the plan's list

  explicit operator bool() const { return operand != nullptr; }
  const Operand* operator->() const { return operand; }
};

// How y and its scales look.
enum class RmsNormQuantised {
  kNone,
  kRow,     // a scale for each row
  kBlocks,  // a scale for each 32 elements of a row
};

struct RmsNormRequest {
  PlanDim rows, n;
  std::string quant;
  RmsNormQuantised quantised = RmsNormQuantised::kNone;
  RowOperand x, y;
  RowOperand residual, residual_out;  // optional
  RowOperand block_scales;            // quantised in blocks
  RmsNormVector weight, rstd;         // optional
  RmsNormVector row_scales;           // quantised by rows
  int64_t bytes = 0;                  // of an element of x
  int threads = 0;                    // a row; 0: ours to choose

  // Those that are rows.
  std::vector<RowOperand> matrices() const;
};

// INVALID_ARGUMENT and UNIMPLEMENTED as compiler/plan.h says. Points into
// `spec`.
absl::StatusOr<RmsNormRequest> ReadRmsNormRequest(const Spec& spec);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_RMSNORM_PLAN_REQUEST_H_
