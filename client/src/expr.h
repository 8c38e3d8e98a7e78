// Integer expressions of a plan, evaluated at each launch (ingot/v1/plan.proto,
// Expr). Compile checks a program once; Evaluate then trusts its shape, never
// allocates, and fails on arithmetic alone.
#ifndef INGOT_CLIENT_SRC_EXPR_H_
#define INGOT_CLIENT_SRC_EXPR_H_

#include <cstdint>
#include <vector>

#include "client/src/status.h"
#include "ingot/v1/plan.pb-c.h"

namespace ingot::client {

inline constexpr int kMaxDims = 64;
inline constexpr int kMaxOperands = 32;
inline constexpr int kMaxAxes = 8;

struct ExprNode {
  // The numbers of plan.proto.
  enum Op : int32_t {
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
  Op op;
  int64_t value;
};

using Expr = std::vector<ExprNode>;  // postfix; never empty once compiled

struct LaunchValues {
  const int64_t* dims = nullptr;     // in the plan's order
  const int64_t* strides = nullptr;  // operand * kMaxAxes + axis
  int64_t cu_count = 0;
};

// What an expression may refer to.
struct ExprScope {
  uint32_t dims = 0;
  uint32_t operands = 0;
};

// Checks `wire` and copies it, folding what is constant. INTERNAL for a program
// that leaves not exactly one value, is deeper than 32, refers outside `scope`
// or fails on constants; UNIMPLEMENTED for an operation we do not know.
Status CompileExpr(const Ingot__V1__Expr* wire, const ExprScope& scope,
                   Expr* expr);

// False on overflow or division by zero; then *value is not written.
bool Evaluate(const Expr& expr, const LaunchValues& values, int64_t* value);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_EXPR_H_
