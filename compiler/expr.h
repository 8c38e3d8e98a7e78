// Integer expressions that a client evaluates at launch: grids, offsets,
// workspace sizes. Written like arithmetic, stored in postfix order (ingot/v1/
// plan.proto, Expr: same numbers, same meaning).
#ifndef INGOT_COMPILER_EXPR_H_
#define INGOT_COMPILER_EXPR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/status.h"

namespace ingot {

struct ExprNode {
  // Stored: never renumber. The numbers are those of plan.proto.
  enum Op : int {
    kConst = 0,
    kDim = 1,
    kStride = 2,
    kCuCount = 3,
    kAdd = 4,
    kSub = 5,
    kMul = 6,
    kFloorDiv = 7,
    kCeilDiv = 8,
    kMin = 9,
    kMax = 10,
    kEq = 11,
    kLt = 12,
    kLe = 13,
    kSelect = 14,
  };
  Op op = kConst;
  int64_t value = 0;
  bool operator==(const ExprNode&) const = default;
};

// A value type; an empty expression is not valid anywhere.
struct Expr {
  std::vector<ExprNode> nodes;

  static Expr Const(int64_t value);
  static Expr DimAt(int index);                 // into Plan::dims
  static Expr StrideAt(int operand, int axis);  // into Plan::operands
  static Expr CuCount();
  bool operator==(const Expr&) const = default;
};

Expr operator+(Expr a, const Expr& b);
Expr operator-(Expr a, const Expr& b);
Expr operator*(Expr a, const Expr& b);
Expr FloorDiv(Expr a, const Expr& b);
Expr CeilDiv(Expr a, const Expr& b);
Expr Min(Expr a, const Expr& b);
Expr Max(Expr a, const Expr& b);
Expr Eq(Expr a, const Expr& b);
Expr Lt(Expr a, const Expr& b);
Expr Le(Expr a, const Expr& b);
Expr Select(Expr condition, const Expr& then, const Expr& otherwise);

struct LaunchValues {
  absl::Span<const int64_t> dims;
  absl::Span<const int64_t> strides;  // operand * 8 + axis
  int64_t cu_count = 0;
};

// INVALID_ARGUMENT for overflow, division by zero, an index out of range, a
// malformed program. The daemon uses this to check a plan and tests as the
// reference; clients have their own.
absl::StatusOr<int64_t> Evaluate(const Expr& expr, const LaunchValues& values);

}  // namespace ingot

#endif  // INGOT_COMPILER_EXPR_H_
