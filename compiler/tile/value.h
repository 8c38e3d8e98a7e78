// Types and values of a kernel under construction. A Value is a handle to an
// SSA value of the builder that made it: copy it freely, use it while the
// builder lives. Arithmetic on values emits operations; constants fold at once.
//
// Integers stand for sizes, indices and offsets: `/`, `%` and `>>` are
// unsigned, comparisons are signed (ULt is not). Floats follow IEEE with no
// fast-math; comparisons are ordered. Vectors work lane by lane. Both sides
// have one type; a C++ number on one side takes the type of the other.
//
// Misuse (different types, a lane out of range) is a bug in a kernel body: it
// is recorded in the builder, whose status() the compile pipeline checks, and
// the result is an invalid Value, which further operations accept and ignore.
#ifndef INGOT_COMPILER_TILE_VALUE_H_
#define INGOT_COMPILER_TILE_VALUE_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/status.h"

namespace ingot::tile {

class Builder;

enum class Elem : uint8_t {
  kI1,
  kI8,
  kI16,
  kI32,
  kI64,
  kBF16,
  kF16,
  kF32,
  kF64,
  kGlobal,  // pointer to device memory, 64 bits
  kLds,     // pointer into the workgroup's LDS, 32 bits
  kBuffer,  // buffer resource, 128 bits
};

struct Type {
  Elem elem = Elem::kI32;
  int lanes = 1;

  bool IsFloat() const { return elem >= Elem::kBF16 && elem <= Elem::kF64; }
  bool IsInteger() const { return elem <= Elem::kI64; }
  bool IsPointer() const { return elem >= Elem::kGlobal; }
  int ElemBits() const;
  int Bits() const { return ElemBits() * lanes; }
  int Bytes() const { return Bits() / 8; }
  Type Scalar() const { return {elem, 1}; }
  Type WithLanes(int n) const { return {elem, n}; }
  Type WithElem(Type other) const { return {other.elem, lanes}; }
  bool operator==(const Type&) const = default;
};

inline constexpr Type kI1{Elem::kI1};
inline constexpr Type kI8{Elem::kI8};
inline constexpr Type kI16{Elem::kI16};
inline constexpr Type kI32{Elem::kI32};
inline constexpr Type kI64{Elem::kI64};
inline constexpr Type kBF16{Elem::kBF16};
inline constexpr Type kF16{Elem::kF16};
inline constexpr Type kF32{Elem::kF32};
inline constexpr Type kF64{Elem::kF64};
inline constexpr Type kGlobal{Elem::kGlobal};
inline constexpr Type kLds{Elem::kLds};
inline constexpr Type kBuffer{Elem::kBuffer};

constexpr Type Vec(Type scalar, int lanes) { return {scalar.elem, lanes}; }

// "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64"; 8-bit float formats
// are kI8, since registers hold them as bytes. INTERNAL for anything else: the
// plan has checked the dtype.
absl::StatusOr<Type> TypeOf(absl::string_view dtype);

class Value {
 public:
  Value() = default;

  bool valid() const { return ir_ != nullptr; }
  Type type() const { return type_; }
  // The builder that made it; not null when valid.
  Builder* builder() const { return builder_; }
  // The value when it is an integer constant (a scalar, or a splat).
  std::optional<int64_t> AsConstant() const;
  // A constant of this value's type, in every lane.
  Value Like(double number) const;
  Value Like(int64_t number) const;

 private:
  friend class Builder;
  friend struct ValueAccess;
  Value(Builder* builder, void* ir, Type type)
      : builder_(builder), ir_(ir), type_(type) {}

  Builder* builder_ = nullptr;
  void* ir_ = nullptr;  // an mlir::Value as opaque pointer
  Type type_;
};

using Values = std::vector<Value>;

Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator%(Value a, Value b);
Value operator&(Value a, Value b);
Value operator|(Value a, Value b);
Value operator^(Value a, Value b);
Value operator<<(Value a, Value b);
Value operator>>(Value a, Value b);
Value operator<(Value a, Value b);
Value operator<=(Value a, Value b);
Value operator>(Value a, Value b);
Value operator>=(Value a, Value b);
Value operator==(Value a, Value b);
Value operator!=(Value a, Value b);
Value operator-(Value a);
Value ULt(Value a, Value b);

template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

template <Number T>
Value LikeOf(Value a, T number) {
  if constexpr (std::integral<T>) {
    return a.Like(static_cast<int64_t>(number));
  } else {
    return a.Like(static_cast<double>(number));
  }
}

#define INGOT_TILE_MIXED_OPERATOR(op) \
  template <Number T>                 \
  Value operator op(Value a, T b) {   \
    return a op LikeOf(a, b);         \
  }                                   \
  template <Number T>                 \
  Value operator op(T a, Value b) {   \
    return LikeOf(b, a) op b;         \
  }
INGOT_TILE_MIXED_OPERATOR(+)
INGOT_TILE_MIXED_OPERATOR(-)
INGOT_TILE_MIXED_OPERATOR(*)
INGOT_TILE_MIXED_OPERATOR(/)
INGOT_TILE_MIXED_OPERATOR(%)
INGOT_TILE_MIXED_OPERATOR(&)
INGOT_TILE_MIXED_OPERATOR(|)
INGOT_TILE_MIXED_OPERATOR(^)
INGOT_TILE_MIXED_OPERATOR(<<)
INGOT_TILE_MIXED_OPERATOR(>>)
INGOT_TILE_MIXED_OPERATOR(<)
INGOT_TILE_MIXED_OPERATOR(<=)
INGOT_TILE_MIXED_OPERATOR(>)
INGOT_TILE_MIXED_OPERATOR(>=)
INGOT_TILE_MIXED_OPERATOR(==)
INGOT_TILE_MIXED_OPERATOR(!=)
#undef INGOT_TILE_MIXED_OPERATOR

// Signed for integers. A NaN operand of a float gives the other operand.
Value Min(Value a, Value b);
Value Max(Value a, Value b);
// Floats: NaN where either side is NaN, and +0 above -0.
Value Maximum(Value a, Value b);
Value Select(Value condition, Value then, Value otherwise);
Value Fma(Value a, Value b, Value c);  // a * b + c, rounded once
Value Abs(Value a);                    // floats
// One instruction each, f32: 1 ulp, denormals as the mode says.
Value Rcp(Value a);
Value Rsq(Value a);
Value Sqrt(Value a);
Value Exp2(Value a);
Value Log2(Value a);

// Integer to integer (zero-extending; SignExtend otherwise), float to float (to
// nearest even; vectors become packed instructions), integer to float (signed).
// Lane counts stay.
Value Convert(Value a, Type elem);
Value SignExtend(Value a, Type elem);
// Same bits, another type.
Value Bitcast(Value a, Type type);

Value Extract(Value vector, int lane);
Value Insert(Value vector, Value scalar, int lane);
// Lanes picked by index out of `a` followed by `b` (same type).
Value Shuffle(Value a, Value b, absl::Span<const int> lanes);
Value Slice(Value vector, int first, int lanes);
Value Concat(Value a, Value b);
Value Splat(Value scalar, int lanes);
Value Pack(absl::Span<const Value> scalars);

// `pointer` moved by `bytes`. Any integer that is not i64 is zero-extended, so
// that it becomes the 32-bit offset of the instruction where one exists; LDS
// pointers are moved by i32.
Value Offset(Value pointer, Value bytes);
Value Offset(Value pointer, int64_t bytes);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_VALUE_H_
