#include "compiler/expr.h"

#include <random>

#include "gtest/gtest.h"

namespace ingot {
namespace {

constexpr int64_t kDims[] = {17, -5};
constexpr int64_t kStrides[] = {0, 1, 2, 3, 4, 5, 6, 7, 80, 81};
constexpr LaunchValues kValues{kDims, kStrides, 256};

int64_t Eval(const Expr& expr) {
  const absl::StatusOr<int64_t> value = Evaluate(expr, kValues);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.value_or(-999);
}

Expr C(int64_t value) { return Expr::Const(value); }

TEST(Expr, Leaves) {
  EXPECT_EQ(Eval(C(-7)), -7);
  EXPECT_EQ(Eval(Expr::DimAt(1)), -5);
  EXPECT_EQ(Eval(Expr::StrideAt(1, 1)), 81);
  EXPECT_EQ(Eval(Expr::CuCount()), 256);
}

TEST(Expr, DivisionsRoundToMinusAndPlusInfinity) {
  for (int64_t a = -13; a <= 13; ++a) {
    for (int64_t b : {-7, -3, -1, 1, 2, 5}) {
      const double exact = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(Eval(FloorDiv(C(a), C(b))), std::floor(exact)) << a << "/" << b;
      EXPECT_EQ(Eval(CeilDiv(C(a), C(b))), std::ceil(exact)) << a << "/" << b;
    }
  }
}

TEST(Expr, Operators) {
  const Expr m = Expr::DimAt(0);
  EXPECT_EQ(Eval(CeilDiv(m, C(16)) * C(3) + C(1) - C(2)), 5);
  EXPECT_EQ(Eval(Min(m, C(4))), 4);
  EXPECT_EQ(Eval(Max(m, C(4))), 17);
  EXPECT_EQ(Eval(Eq(m, C(17))), 1);
  EXPECT_EQ(Eval(Lt(m, C(17))), 0);
  EXPECT_EQ(Eval(Le(m, C(17))), 1);
  EXPECT_EQ(Eval(Select(Lt(m, C(20)), C(1), C(2))), 1);
  EXPECT_EQ(Eval(Select(Lt(m, C(2)), C(1), C(2))), 2);
}

TEST(Expr, ErrorsAreErrors) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t most = std::numeric_limits<int64_t>::max();
  const Expr bad[] = {
      Expr{},
      C(most) + C(1),
      C(least) - C(1),
      C(most) * C(2),
      FloorDiv(C(1), C(0)),
      CeilDiv(C(1), C(0)),
      FloorDiv(C(least), C(-1)),
      Expr::DimAt(2),
      Expr::DimAt(-1),
      Expr::StrideAt(1, 2),
      Expr{{{ExprNode::kAdd, 0}}},
      Expr{{{ExprNode::kConst, 1}, {ExprNode::kConst, 2}}},
      Expr{{{ExprNode::kConst, 1}, {static_cast<ExprNode::Op>(99), 0}}},
      Expr{std::vector<ExprNode>(33, {ExprNode::kConst, 1})},
  };
  for (const Expr& expr : bad) {
    EXPECT_EQ(Evaluate(expr, kValues).status().code(),
              absl::StatusCode::kInvalidArgument)
        << expr.nodes.size();
  }
}

TEST(Expr, RandomProgramsEvaluateOrFail) {
  std::mt19937 random(7);
  int succeeded = 0;
  for (int i = 0; i < 20000; ++i) {
    Expr expr;
    for (uint32_t j = random() % 12; j > 0; --j) {
      expr.nodes.push_back({static_cast<ExprNode::Op>(random() % 17),
                            static_cast<int64_t>(random() % 12) - 2});
    }
    succeeded += Evaluate(expr, kValues).ok();
  }
  EXPECT_GT(succeeded, 100);
  EXPECT_LT(succeeded, 20000);
}

}  // namespace
}  // namespace ingot
