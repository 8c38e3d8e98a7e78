// Lanes of vectors: the part of tile/value.h that picks and joins them.
#include <numeric>

#include "compiler/tile/builder_ir.h"
#include "compiler/tile/value.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::tile {

Value Extract(Value vector, int lane) {
  if (!vector.valid()) return {};
  if (lane < 0 || lane >= vector.type().lanes) {
    return Misuse(*vector.builder(), "Extract", "lane out of range");
  }
  if (vector.type().lanes == 1) return vector;
  return Emit(*vector.builder(), "llvm.extractelement", vector.type().Scalar(),
              {vector, vector.builder()->I32(lane)});
}

Value Insert(Value vector, Value scalar, int lane) {
  if (!AllValid({vector, scalar})) return {};
  if (lane < 0 || lane >= vector.type().lanes ||
      scalar.type() != vector.type().Scalar()) {
    return Misuse(*vector.builder(), "Insert", "lane or type does not fit");
  }
  if (vector.type().lanes == 1) return scalar;
  return Emit(*vector.builder(), "llvm.insertelement", vector.type(),
              {vector, scalar, vector.builder()->I32(lane)});
}

Value Shuffle(Value a, Value b, absl::Span<const int> lanes) {
  if (!AllValid({a, b})) return {};
  if (a.type() != b.type() || lanes.empty()) {
    return Misuse(*a.builder(), "Shuffle", "operands of different types");
  }
  for (int lane : lanes) {
    if (lane < 0 || lane >= 2 * a.type().lanes) {
      return Misuse(*a.builder(), "Shuffle", "lane out of range");
    }
  }
  if (lanes.size() == 1) {
    const int n = a.type().lanes;
    return lanes[0] < n ? Extract(a, lanes[0]) : Extract(b, lanes[0] - n);
  }
  if (a.type().lanes == 1) {
    Values scalars;
    for (int lane : lanes) scalars.push_back(lane == 0 ? a : b);
    return Pack(scalars);
  }
  mlir::OpBuilder& ir = BuilderAccess::Of(*a.builder()).ir;
  return Emit(*a.builder(), "llvm.shufflevector",
              a.type().WithLanes(static_cast<int>(lanes.size())), {a, b},
              {Named(*a.builder(), "mask",
                     ir.getDenseI32ArrayAttr(
                         llvm::ArrayRef<int>(lanes.data(), lanes.size())))});
}

Value Slice(Value vector, int first, int lanes) {
  if (!vector.valid()) return {};
  if (first == 0 && lanes == vector.type().lanes) return vector;
  std::vector<int> picked(lanes);
  std::iota(picked.begin(), picked.end(), first);
  return Shuffle(vector, vector, picked);
}

Value Concat(Value a, Value b) {
  if (!AllValid({a, b})) return {};
  std::vector<int> picked(a.type().lanes + b.type().lanes);
  std::iota(picked.begin(), picked.end(), 0);
  return Shuffle(a, b, picked);
}

Value Splat(Value scalar, int lanes) {
  if (!scalar.valid() || lanes == 1) return scalar;
  return Pack(Values(lanes, scalar));
}

Value Pack(absl::Span<const Value> scalars) {
  if (scalars.empty() || !scalars[0].valid()) return {};
  if (scalars.size() == 1) return scalars[0];
  Builder& builder = *scalars[0].builder();
  const Type type =
      scalars[0].type().WithLanes(static_cast<int>(scalars.size()));
  Value vector = Emit(builder, "llvm.mlir.poison", type, {});
  for (size_t i = 0; i < scalars.size(); ++i) {
    vector = Insert(vector, scalars[i], static_cast<int>(i));
  }
  return vector;
}

}  // namespace ingot::tile
