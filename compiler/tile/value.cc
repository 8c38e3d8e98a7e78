#include "compiler/tile/value.h"

#include "compiler/tile/builder_ir.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"

namespace ingot::tile {
namespace {

mlir::NamedAttribute Predicate(Value a, int64_t predicate) {
  mlir::OpBuilder& ir = BuilderAccess::Of(*a.builder()).ir;
  return {ir.getStringAttr("predicate"), ir.getI64IntegerAttr(predicate)};
}

bool SameTypes(absl::string_view where, Value a, Value b) {
  if (!AllValid({a, b})) return false;
  if (a.type() == b.type()) return true;
  Misuse(*a.builder(), where, "operands of different types");
  return false;
}

Value Binary(Value a, Value b, absl::string_view integer_op,
             absl::string_view float_op) {
  if (!SameTypes(integer_op, a, b)) return {};
  const absl::string_view op = a.type().IsFloat() ? float_op : integer_op;
  if (op.empty() || a.type().IsPointer()) {
    return Misuse(*a.builder(), integer_op, "not defined for this type");
  }
  return Emit(*a.builder(), {op.data(), op.size()}, a.type(), {a, b});
}

// The predicates are those of arith.cmpi and arith.cmpf.
Value Compare(Value a, Value b, int integer_predicate, int float_predicate) {
  if (!SameTypes("compare", a, b)) return {};
  const bool is_float = a.type().IsFloat();
  if (a.type().IsPointer() || (is_float && float_predicate < 0)) {
    return Misuse(*a.builder(), "compare", "not defined for this type");
  }
  return Emit(*a.builder(), is_float ? "arith.cmpf" : "arith.cmpi",
              a.type().WithElem(kI1), {a, b},
              {Predicate(a, is_float ? float_predicate : integer_predicate)});
}

Value Unary(Value a, llvm::StringRef op) {
  if (!a.valid()) return {};
  if (!a.type().IsFloat()) {
    return Misuse(*a.builder(), {op.data(), op.size()}, "needs a float");
  }
  return Emit(*a.builder(), op, a.type(), {a});
}

llvm::StringRef ConversionOp(Type from, Type to, bool is_signed) {
  if (from.IsFloat() && to.IsFloat()) {
    return from.ElemBits() < to.ElemBits() ? "arith.extf" : "arith.truncf";
  }
  if (from.IsFloat()) return "arith.fptosi";
  if (to.IsFloat()) return "arith.sitofp";
  if (from.ElemBits() > to.ElemBits()) return "arith.trunci";
  return is_signed ? "arith.extsi" : "arith.extui";
}

Value ConvertTo(Value a, Type elem, bool is_signed) {
  if (!a.valid()) return {};
  const Type to = a.type().WithElem(elem);
  if (to == a.type()) return a;
  if (a.type().IsPointer() || to.IsPointer()) {
    return Misuse(*a.builder(), "Convert", "pointers do not convert");
  }
  if (a.type().IsFloat() && to.IsFloat() &&
      a.type().ElemBits() == to.ElemBits()) {
    return ConvertTo(ConvertTo(a, kF32, is_signed), elem, is_signed);
  }
  return Emit(*a.builder(), ConversionOp(a.type(), to, is_signed), to, {a});
}

}  // namespace

int Type::ElemBits() const {
  switch (elem) {
    case Elem::kI1:
      return 1;
    case Elem::kI8:
      return 8;
    case Elem::kI16:
    case Elem::kBF16:
    case Elem::kF16:
      return 16;
    case Elem::kI32:
    case Elem::kF32:
    case Elem::kLds:
      return 32;
    case Elem::kI64:
    case Elem::kF64:
    case Elem::kGlobal:
      return 64;
    case Elem::kBuffer:
      return 128;
  }
  return 0;
}

absl::StatusOr<Type> TypeOf(absl::string_view dtype) {
  struct Entry {
    absl::string_view name;
    Type type;
  };
  static constexpr Entry kTypes[] = {
      {"bf16", kBF16}, {"f16", kF16}, {"f32", kF32}, {"f64", kF64},
      {"i8", kI8},     {"i16", kI16}, {"i32", kI32}, {"i64", kI64},
      {"e4m3fn", kI8}, {"e5m2", kI8}, {"e8m0", kI8}, {"e2m1", kI8},
  };
  for (const Entry& entry : kTypes) {
    if (entry.name == dtype) return entry.type;
  }
  return absl::InternalError(
      absl::StrCat("no register type for dtype \"", dtype, "\""));
}

std::optional<int64_t> Value::AsConstant() const {
  if (!valid() || !type_.IsInteger()) return std::nullopt;
  mlir::Attribute attribute;
  if (!mlir::matchPattern(ValueAccess::Ir(*this),
                          mlir::m_Constant(&attribute))) {
    return std::nullopt;
  }
  if (auto splat = llvm::dyn_cast<mlir::SplatElementsAttr>(attribute)) {
    attribute = splat.getSplatValue<mlir::Attribute>();
  }
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
  if (!integer) return std::nullopt;
  return integer.getValue().getSExtValue();
}

Value Value::Like(double number) const {
  return valid() ? builder_->Const(type_, number) : Value();
}
Value Value::Like(int64_t number) const {
  return valid() ? builder_->Const(type_, number) : Value();
}

Value operator+(Value a, Value b) {
  return Binary(a, b, "arith.addi", "arith.addf");
}
Value operator-(Value a, Value b) {
  return Binary(a, b, "arith.subi", "arith.subf");
}
Value operator*(Value a, Value b) {
  return Binary(a, b, "arith.muli", "arith.mulf");
}
Value operator/(Value a, Value b) {
  return Binary(a, b, "arith.divui", "arith.divf");
}
Value operator%(Value a, Value b) { return Binary(a, b, "arith.remui", ""); }
Value operator&(Value a, Value b) { return Binary(a, b, "arith.andi", ""); }
Value operator|(Value a, Value b) { return Binary(a, b, "arith.ori", ""); }
Value operator^(Value a, Value b) { return Binary(a, b, "arith.xori", ""); }
Value operator<<(Value a, Value b) { return Binary(a, b, "arith.shli", ""); }
Value operator>>(Value a, Value b) { return Binary(a, b, "arith.shrui", ""); }
Value operator<(Value a, Value b) { return Compare(a, b, 2, 4); }
Value operator<=(Value a, Value b) { return Compare(a, b, 3, 5); }
Value operator>(Value a, Value b) { return Compare(a, b, 4, 2); }
Value operator>=(Value a, Value b) { return Compare(a, b, 5, 3); }
Value operator==(Value a, Value b) { return Compare(a, b, 0, 1); }
Value operator!=(Value a, Value b) { return Compare(a, b, 1, 13); }
Value ULt(Value a, Value b) { return Compare(a, b, 6, -1); }

Value operator-(Value a) {
  if (!a.valid()) return {};
  if (a.type().IsFloat()) return Unary(a, "arith.negf");
  return a.Like(int64_t{0}) - a;
}

Value Min(Value a, Value b) {
  return Binary(a, b, "arith.minsi", "arith.minnumf");
}
Value Max(Value a, Value b) {
  return Binary(a, b, "arith.maxsi", "arith.maxnumf");
}
Value Maximum(Value a, Value b) { return Binary(a, b, "", "arith.maximumf"); }

Value Select(Value condition, Value then, Value otherwise) {
  if (!condition.valid() || !SameTypes("Select", then, otherwise)) return {};
  if (condition.type().elem != Elem::kI1) {
    return Misuse(*condition.builder(), "Select", "the condition is no i1");
  }
  return Emit(*then.builder(), "arith.select", then.type(),
              {condition, then, otherwise});
}

Value Fma(Value a, Value b, Value c) {
  if (!SameTypes("Fma", a, b) || !SameTypes("Fma", a, c)) return {};
  return Emit(*a.builder(), "math.fma", a.type(), {a, b, c});
}

Value Abs(Value a) { return Unary(a, "math.absf"); }
Value Rcp(Value a) { return Unary(a, "rocdl.rcp"); }
Value Sqrt(Value a) { return Unary(a, "rocdl.sqrt"); }
Value Exp2(Value a) { return Unary(a, "rocdl.exp2"); }
Value Log2(Value a) { return Unary(a, "rocdl.log"); }
Value Rsq(Value a) {
  if (!a.valid()) return {};
  return a.builder()->Intrinsic("llvm.amdgcn.rsq.f32", {a}, kF32);
}

Value Convert(Value a, Type elem) { return ConvertTo(a, elem, false); }
Value SignExtend(Value a, Type elem) { return ConvertTo(a, elem, true); }

Value Bitcast(Value a, Type type) {
  if (!a.valid() || a.type() == type) return a;
  if (a.type().Bits() != type.Bits()) {
    return Misuse(*a.builder(), "Bitcast", "sizes differ");
  }
  return Emit(*a.builder(), "llvm.bitcast", type, {a});
}

}  // namespace ingot::tile
