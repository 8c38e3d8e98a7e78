#include "compiler/ops/row_operands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ops/checks.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

struct Requirement {
  bool possible = true;
  bool conditional = false;  // may fail for strides of a launch
  std::vector<Guard> guards;

  // Every row starts at a multiple of `align` bytes.
  void Add(const RowOperand& rows, int64_t align) {
    const Operand& operand = *rows.operand;
    const int64_t multiple =
        std::max<int64_t>(1, align / DtypeBytes(operand.dtype));
    if (AlignmentOf(operand) < align) possible = false;
    if (rows.skip_bytes % align != 0) possible = false;
    guards.push_back({Guard::kOperandAlignment, rows.index, 0, 0, align});
    switch (operand.stride_mode) {
      case StrideMode::kDense:
        if (rows.n % multiple != 0) possible = false;
        break;
      case StrideMode::kStatic:
        if (operand.strides[0] % multiple != 0) possible = false;
        break;
      case StrideMode::kDynamic:
        guards.push_back({Guard::kOperandStride, rows.index * 8, rows.n,
                          kMaxRowStride, multiple});
        guards.push_back({Guard::kOperandStride, rows.index * 8 + 1, 1, 1, 0});
        conditional |= multiple > 1;
        break;
    }
  }
};

}  // namespace

absl::Status CheckRows(const RowOperand& rows) {
  const Operand& operand = *rows.operand;
  if (AlignmentOf(operand) < rows.unit_bytes) {
    return Invalid(absl::StrCat("alignment of operand ", operand.name),
                   absl::StrCat(operand.alignment),
                   absl::StrCat(rows.unit_bytes, " or more"));
  }
  if (operand.stride_mode != StrideMode::kStatic) return absl::OkStatus();
  const std::string field = absl::StrCat("strides of operand ", operand.name);
  const std::string found = absl::StrJoin(operand.strides, ", ");
  if (operand.strides.size() != 2 || operand.strides[1] != 1) {
    return Invalid(field, found, "a row stride and 1");
  }
  const int64_t multiple = rows.unit_bytes / DtypeBytes(operand.dtype);
  if (operand.strides[0] >= rows.n && operand.strides[0] <= kMaxRowStride &&
      operand.strides[0] % multiple == 0) {
    return absl::OkStatus();
  }
  return Invalid(
      field, found,
      absl::StrCat(
          "row strides of ", rows.n, " to ", kMaxRowStride,
          multiple > 1 ? absl::StrCat(", multiples of ", multiple) : ""));
}

std::vector<RowFamily> RowFamilies(absl::Span<const RowOperand> rows) {
  Requirement aligned, unaligned;
  for (const RowOperand& one : rows) {
    aligned.Add(one, one.vector_bytes);
    unaligned.Add(one, one.unit_bytes);
  }
  std::vector<RowFamily> families;
  if (aligned.possible) {
    families.push_back({"aligned", true, std::move(aligned.guards)});
    if (!aligned.conditional) return families;
  }
  families.push_back({"unaligned", false, std::move(unaligned.guards)});
  return families;
}

PlanOperand DescribeRows(const RowOperand& rows, const Expr& count) {
  const Operand& operand = *rows.operand;
  PlanOperand out;
  out.name = operand.name;
  out.dtype = operand.dtype;
  out.axes = 2;
  out.stride_mode = operand.stride_mode;
  if (operand.stride_mode == StrideMode::kDense) {
    out.strides = {Expr::Const(rows.n), Expr::Const(1)};
  } else if (operand.stride_mode == StrideMode::kStatic) {
    out.strides = {Expr::Const(operand.strides[0]), Expr::Const(1)};
  }
  out.extents = {count, Expr::Const(rows.n)};
  out.output = rows.output;
  return out;
}

}  // namespace ingot
