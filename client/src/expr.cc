#include "client/src/expr.h"

namespace ingot::client {
namespace {

constexpr int kMaxDepth = 32;

// Values an operation takes from the stack; -1 for one that is unknown.
int Operands(int32_t op) {
  switch (op) {
    case ExprNode::kConst:
    case ExprNode::kDim:
    case ExprNode::kStride:
    case ExprNode::kCuCount:
      return 0;
    case ExprNode::kSelect:
      return 3;
    default:
      return op > ExprNode::kCuCount && op < ExprNode::kSelect ? 2 : -1;
  }
}

bool Divide(int64_t a, int64_t b, bool up, int64_t* result) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *result = a / b;
  const bool exact = a % b == 0;
  const bool negative = (a < 0) != (b < 0);
  // C++ divides towards zero.
  if (!exact && negative != up) *result += up ? 1 : -1;
  return true;
}

bool Apply(ExprNode::Op op, int64_t a, int64_t b, int64_t* result) {
  switch (op) {
    case ExprNode::kAdd:
      return !__builtin_add_overflow(a, b, result);
    case ExprNode::kSub:
      return !__builtin_sub_overflow(a, b, result);
    case ExprNode::kMul:
      return !__builtin_mul_overflow(a, b, result);
    case ExprNode::kFloorDiv:
      return Divide(a, b, false, result);
    case ExprNode::kCeilDiv:
      return Divide(a, b, true, result);
    case ExprNode::kMin:
      *result = a < b ? a : b;
      return true;
    case ExprNode::kMax:
      *result = a > b ? a : b;
      return true;
    case ExprNode::kEq:
      *result = a == b;
      return true;
    case ExprNode::kLt:
      *result = a < b;
      return true;
    case ExprNode::kLe:
      *result = a <= b;
      return true;
    default:
      return false;
  }
}

Status CheckLeaf(const Ingot__V1__ExprNode& node, const ExprScope& scope) {
  const int64_t value = node.value;
  if (node.op == INGOT__V1__EXPR_NODE__OP__OP_DIM &&
      (value < 0 || value >= scope.dims)) {
    return Error(INGOT_INTERNAL, "plan: expression refers to dim %lld of %u",
                 static_cast<long long>(value), scope.dims);
  }
  if (node.op == INGOT__V1__EXPR_NODE__OP__OP_STRIDE &&
      (value < 0 || value >= int64_t{scope.operands} * kMaxAxes)) {
    return Error(INGOT_INTERNAL,
                 "plan: expression refers to stride %lld of %u operands",
                 static_cast<long long>(value), scope.operands);
  }
  return Status();
}

}  // namespace

Status CompileExpr(const Ingot__V1__Expr* wire, const ExprScope& scope,
                   Expr* expr) {
  expr->clear();
  if (wire == nullptr) return Error(INGOT_INTERNAL, "plan: expression missing");
  int depth = 0;
  bool constant = true;
  for (size_t i = 0; i < wire->n_nodes; ++i) {
    const Ingot__V1__ExprNode& node = *wire->nodes[i];
    const int taken = Operands(node.op);
    if (taken < 0) {
      return Error(INGOT_UNIMPLEMENTED,
                   "plan: expression operation %d is newer than this library",
                   static_cast<int>(node.op));
    }
    INGOT_CLIENT_RETURN_IF_ERROR(CheckLeaf(node, scope));
    depth += 1 - taken;
    if (depth < 1 || depth + taken - 1 > kMaxDepth || depth > kMaxDepth) {
      return Error(INGOT_INTERNAL, "plan: malformed expression");
    }
    constant &= taken > 0 || node.op == INGOT__V1__EXPR_NODE__OP__OP_CONST;
    expr->push_back({static_cast<ExprNode::Op>(node.op), node.value});
  }
  if (depth != 1) return Error(INGOT_INTERNAL, "plan: malformed expression");
  if (constant) {
    int64_t value = 0;
    if (!Evaluate(*expr, LaunchValues(), &value)) {
      return Error(INGOT_INTERNAL, "plan: a constant expression overflows");
    }
    *expr = {{ExprNode::kConst, value}};
  }
  return Status();
}

bool Evaluate(const Expr& expr, const LaunchValues& values, int64_t* value) {
  int64_t stack[kMaxDepth];
  int top = -1;  // CompileExpr has shown that it stays inside
  for (const ExprNode& node : expr) {
    switch (node.op) {
      case ExprNode::kConst:
        stack[++top] = node.value;
        break;
      case ExprNode::kDim:
        stack[++top] = values.dims[node.value];
        break;
      case ExprNode::kStride:
        stack[++top] = values.strides[node.value];
        break;
      case ExprNode::kCuCount:
        stack[++top] = values.cu_count;
        break;
      case ExprNode::kSelect:
        top -= 2;
        stack[top] = stack[top] != 0 ? stack[top + 1] : stack[top + 2];
        break;
      default:
        --top;
        if (!Apply(node.op, stack[top], stack[top + 1], &stack[top])) {
          return false;
        }
    }
  }
  *value = stack[top];
  return true;
}

}  // namespace ingot::client
