#include "compiler/expr.h"

#include <algorithm>

namespace ingot {
namespace {

constexpr size_t kStackLimit = 32;

Expr Binary(Expr a, const Expr& b, ExprNode::Op op) {
  a.nodes.insert(a.nodes.end(), b.nodes.begin(), b.nodes.end());
  a.nodes.push_back({op, 0});
  return a;
}

absl::Status Malformed(size_t node, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("expression node ", node, ": ", what));
}

// Rounds towards minus infinity; the caller has excluded b == 0 and overflow.
int64_t Floor(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

int64_t Ceil(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) == (b < 0)) ? quotient + 1 : quotient;
}

// False for overflow and division by zero.
bool Apply(ExprNode::Op op, int64_t a, int64_t b, int64_t* out) {
  switch (op) {
    case ExprNode::kAdd:
      return !__builtin_add_overflow(a, b, out);
    case ExprNode::kSub:
      return !__builtin_sub_overflow(a, b, out);
    case ExprNode::kMul:
      return !__builtin_mul_overflow(a, b, out);
    case ExprNode::kFloorDiv:
    case ExprNode::kCeilDiv:
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      *out = op == ExprNode::kFloorDiv ? Floor(a, b) : Ceil(a, b);
      return true;
    case ExprNode::kMin:
      *out = std::min(a, b);
      return true;
    case ExprNode::kMax:
      *out = std::max(a, b);
      return true;
    case ExprNode::kEq:
      *out = a == b;
      return true;
    case ExprNode::kLt:
      *out = a < b;
      return true;
    case ExprNode::kLe:
      *out = a <= b;
      return true;
    default:
      return false;
  }
}

// The value of a node that takes nothing from the stack.
bool Leaf(const ExprNode& node, const LaunchValues& values, int64_t* out) {
  const auto at = [&](absl::Span<const int64_t> list) {
    if (node.value < 0 || node.value >= static_cast<int64_t>(list.size())) {
      return false;
    }
    *out = list[node.value];
    return true;
  };
  switch (node.op) {
    case ExprNode::kConst:
      *out = node.value;
      return true;
    case ExprNode::kDim:
      return at(values.dims);
    case ExprNode::kStride:
      return at(values.strides);
    case ExprNode::kCuCount:
      *out = values.cu_count;
      return true;
    default:
      return false;
  }
}

}  // namespace

Expr Expr::Const(int64_t value) { return {{{ExprNode::kConst, value}}}; }
Expr Expr::DimAt(int index) { return {{{ExprNode::kDim, index}}}; }
Expr Expr::StrideAt(int operand, int axis) {
  return {{{ExprNode::kStride, operand * 8 + axis}}};
}
Expr Expr::CuCount() { return {{{ExprNode::kCuCount, 0}}}; }

Expr operator+(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kAdd);
}
Expr operator-(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kSub);
}
Expr operator*(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kMul);
}
Expr FloorDiv(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kFloorDiv);
}
Expr CeilDiv(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kCeilDiv);
}
Expr Min(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kMin);
}
Expr Max(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kMax);
}
Expr Eq(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kEq);
}
Expr Lt(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kLt);
}
Expr Le(Expr a, const Expr& b) {
  return Binary(std::move(a), b, ExprNode::kLe);
}

Expr Select(Expr condition, const Expr& then, const Expr& otherwise) {
  condition.nodes.insert(condition.nodes.end(), then.nodes.begin(),
                         then.nodes.end());
  return Binary(std::move(condition), otherwise, ExprNode::kSelect);
}

absl::StatusOr<int64_t> Evaluate(const Expr& expr, const LaunchValues& values) {
  int64_t stack[kStackLimit];
  size_t depth = 0;
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& node = expr.nodes[i];
    if (node.op <= ExprNode::kCuCount) {
      if (depth == kStackLimit) return Malformed(i, "stack deeper than 32");
      if (!Leaf(node, values, &stack[depth])) {
        return Malformed(i, "index out of range");
      }
      ++depth;
    } else if (node.op == ExprNode::kSelect) {
      if (depth < 3) return Malformed(i, "too few values");
      depth -= 2;
      stack[depth - 1] =
          stack[depth - 1] != 0 ? stack[depth] : stack[depth + 1];
    } else {
      if (depth < 2) return Malformed(i, "too few values");
      --depth;
      if (!Apply(node.op, stack[depth - 1], stack[depth], &stack[depth - 1])) {
        return Malformed(i, "overflow, division by zero or unknown operation");
      }
    }
  }
  if (depth != 1) return Malformed(expr.nodes.size(), "leaves no single value");
  return stack[0];
}

}  // namespace ingot
