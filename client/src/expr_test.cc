#include "client/src/expr.h"

#include "client/testing/plans.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::client {
namespace {

using ::testing::HasSubstr;
using E = v1::ExprNode;

// Compiles `wire` with 2 dims and 1 operand in scope.
Status CompileWire(const v1::Expr& wire, Expr* expr) {
  const std::string bytes = wire.SerializeAsString();
  Ingot__V1__Expr* message = ingot__v1__expr__unpack(
      nullptr, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
  const Status status = CompileExpr(message, {2, 1}, expr);
  ingot__v1__expr__free_unpacked(message, nullptr);
  return status;
}

// The value with dims 7 and -3, stride 100 and 256 compute units.
bool Value(const v1::Expr& wire, int64_t* value) {
  Expr expr;
  const Status status = CompileWire(wire, &expr);
  EXPECT_TRUE(status.ok()) << status.message;
  const int64_t dims[2] = {7, -3};
  int64_t strides[kMaxAxes] = {100};
  return Evaluate(expr, {dims, strides, 256}, value);
}

int64_t Binary(E::Op op, int64_t a, int64_t b) {
  int64_t value = 0;
  // Through a dim, so that nothing is folded.
  EXPECT_TRUE(Value(
      Op(op, {Op(E::OP_ADD, {Op(E::OP_SUB, {DimAt(0), DimAt(0)}), Const(a)}),
              Const(b)}),
      &value));
  return value;
}

TEST(ExprTest, LeavesAreWhatTheyName) {
  int64_t value = 0;
  ASSERT_TRUE(Value(DimAt(1), &value));
  EXPECT_EQ(value, -3);
  ASSERT_TRUE(Value(StrideAt(0, 0), &value));
  EXPECT_EQ(value, 100);
  ASSERT_TRUE(Value(Op(E::OP_CU_COUNT, {}), &value));
  EXPECT_EQ(value, 256);
}

TEST(ExprTest, DivisionsRoundAsTheySay) {
  EXPECT_EQ(Binary(E::OP_FLOORDIV, 7, 2), 3);
  EXPECT_EQ(Binary(E::OP_FLOORDIV, -7, 2), -4);
  EXPECT_EQ(Binary(E::OP_FLOORDIV, 7, -2), -4);
  EXPECT_EQ(Binary(E::OP_FLOORDIV, -7, -2), 3);
  EXPECT_EQ(Binary(E::OP_CEILDIV, 7, 2), 4);
  EXPECT_EQ(Binary(E::OP_CEILDIV, -7, 2), -3);
  EXPECT_EQ(Binary(E::OP_CEILDIV, -7, -2), 4);
  EXPECT_EQ(Binary(E::OP_CEILDIV, 8, 2), 4);
  EXPECT_EQ(Binary(E::OP_CEILDIV, INT64_MAX, 1), INT64_MAX);
}

TEST(ExprTest, ComparisonsAndChoices) {
  EXPECT_EQ(Binary(E::OP_EQ, 2, 2), 1);
  EXPECT_EQ(Binary(E::OP_LT, 2, 2), 0);
  EXPECT_EQ(Binary(E::OP_LE, 2, 2), 1);
  EXPECT_EQ(Binary(E::OP_MIN, -2, 3), -2);
  EXPECT_EQ(Binary(E::OP_MAX, -2, 3), 3);
  int64_t value = 0;
  ASSERT_TRUE(Value(Op(E::OP_SELECT, {Op(E::OP_LT, {DimAt(1), Const(0)}),
                                      Const(10), Const(20)}),
                    &value));
  EXPECT_EQ(value, 10);
}

TEST(ExprTest, ArithmeticNeverWraps) {
  int64_t value = 42;
  EXPECT_FALSE(Value(Op(E::OP_ADD, {DimAt(0), Const(INT64_MAX)}), &value));
  EXPECT_FALSE(Value(Op(E::OP_SUB, {DimAt(1), Const(INT64_MAX)}), &value));
  EXPECT_FALSE(Value(Op(E::OP_MUL, {DimAt(0), Const(INT64_MAX / 2)}), &value));
  EXPECT_FALSE(Value(Op(E::OP_FLOORDIV, {DimAt(0), Const(0)}), &value));
  EXPECT_FALSE(Value(Op(E::OP_CEILDIV, {DimAt(0), Const(0)}), &value));
  EXPECT_FALSE(
      Value(Op(E::OP_FLOORDIV,
               {Op(E::OP_SUB, {Const(INT64_MIN + 7), DimAt(0)}), Const(-1)}),
            &value));
  EXPECT_EQ(value, 42);
}

TEST(ExprTest, MalformedProgramsAreRefused) {
  Expr expr;
  EXPECT_EQ(CompileExpr(nullptr, {}, &expr).code, INGOT_INTERNAL);
  v1::Expr two = Const(1);
  two.MergeFrom(Const(2));
  const v1::Expr cases[] = {v1::Expr(),
                            two,
                            Op(E::OP_ADD, {Const(1)}),
                            Op(E::OP_SELECT, {Const(1), Const(2)}),
                            DimAt(2),
                            DimAt(-1),
                            StrideAt(1, 0),
                            Op(E::OP_FLOORDIV, {Const(1), Const(0)})};
  for (const v1::Expr& wire : cases) {
    EXPECT_EQ(CompileWire(wire, &expr).code, INGOT_INTERNAL)
        << wire.ShortDebugString();
  }
  v1::Expr deep;
  for (int i = 0; i < 33; ++i) deep.MergeFrom(DimAt(0));
  for (int i = 0; i < 32; ++i) deep.add_nodes()->set_op(E::OP_ADD);
  EXPECT_EQ(CompileWire(deep, &expr).code, INGOT_INTERNAL);
  v1::Expr newer = Const(1);
  newer.mutable_nodes(0)->set_op(static_cast<E::Op>(99));
  const Status status = CompileWire(newer, &expr);
  EXPECT_EQ(status.code, INGOT_UNIMPLEMENTED);
  EXPECT_THAT(status.message, HasSubstr("99"));
}

TEST(ExprTest, ConstantsAreFolded) {
  Expr expr;
  ASSERT_TRUE(CompileWire(Op(E::OP_MUL, {Const(6), Const(7)}), &expr).ok());
  ASSERT_EQ(expr.size(), 1u);
  EXPECT_EQ(expr[0].value, 42);
}

}  // namespace
}  // namespace ingot::client
