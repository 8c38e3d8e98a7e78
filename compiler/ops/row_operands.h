// Operands that are rows of elements, for ops that walk rows: what a spec may
// say of them, which launches give them aligned rows, and how a plan lists
// them.
#ifndef INGOT_COMPILER_OPS_ROW_OPERANDS_H_
#define INGOT_COMPILER_OPS_ROW_OPERANDS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

inline constexpr int64_t kMaxRows = int64_t{1} << 30;
inline constexpr int64_t kMaxRowStride = (int64_t{1} << 30) - 1;
inline constexpr int64_t kRowVectorBytes = 16;

// Workgroups in the x direction of the grid: x times 1024 work-items stays
// below the 2^32 that a dispatch can count.
inline constexpr int64_t kRowGroupsX = int64_t{1} << 20;

struct RowOperand {
  const Operand* operand = nullptr;
  int index = -1;  // in the plan's list
  int64_t n = 0;   // elements a row
  bool output = false;
  // What a kernel moves at once in aligned rows, and at least in others.
  int64_t vector_bytes = kRowVectorBytes;
  int64_t unit_bytes = 0;
  // Where in a row else a kernel starts to move vectors: at this byte.
  int64_t skip_bytes = 0;

  explicit operator bool() const { return operand != nullptr; }
  const Operand* operator->() const { return operand; }
};

// INVALID_ARGUMENT for strides or an alignment that no kernel takes: rows that
// overlap, or that start inside a unit.
absl::Status CheckRows(const RowOperand& rows);

// What aligned rows, or rows that start at any unit, ask of a launch.
struct RowFamily {
  const char* name = "";
  bool aligned = false;
  std::vector<Guard> guards;
};

// Those that launches of the spec need, the one that always matches last:
// `aligned`, `unaligned`, or first the one and then the other.
std::vector<RowFamily> RowFamilies(absl::Span<const RowOperand> rows);

PlanOperand DescribeRows(const RowOperand& rows, const Expr& count);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_ROW_OPERANDS_H_
