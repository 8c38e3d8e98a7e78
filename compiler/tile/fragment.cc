// Lane l holds row l % 16 and k = 8 * (l / 16) + 0..7 (CDNA4 ISA, MFMA operand
// layout; A and B alike). ds_read_b64_tr_b16 transposes 4 x 16 blocks among 16
// lanes: lane 4 r + c addresses four elements of k row r, lane i receives
// column i, so two of them, four k apart, make a fragment.
#include "compiler/tile/fragment.h"

#include <algorithm>

namespace ingot::tile {

FragmentReader::FragmentReader(Builder& builder, const PanelShape& shape,
                               int rows, Value first_row)
    : b_(builder), shape_(shape), rows_(rows) {
  const Value lane = b_.LaneId();
  const Value group = lane / 16;
  const Value in_group = lane % 16;
  for (int i = 0; i < base_count(); ++i) {
    if (shape.k_contiguous) {
      // Sets alternate between the chunks 0..3 and 4..7 of a row. Fragments are
      // 16 rows apart, a multiple of the XOR's period.
      const Value chunk = (group + 4 * i) ^ (in_group / 2);
      lane_.push_back((first_row + in_group) * 128 + chunk * 16);
      continue;
    }
    const Value k = group * 8 + in_group / 4;
    const int bits = ColumnSwizzleBits(shape);
    Value swizzle = b_.I32(0);
    // ColumnSwizzle(k), as lane values.
    for (int bit = 0; bit < 4; ++bit) {
      const int moved = ColumnSwizzle(shape, 1 << bit);
      if (bits > 0 && moved != 0) swizzle = swizzle | ((k >> bit & 1) * moved);
    }
    const Value column = (first_row * 2) ^ ((swizzle ^ i) * 32);
    lane_.push_back(k * (shape.mn * 2) + column + in_group % 4 * 8);
  }
}

int FragmentReader::base_count() const {
  if (shape_.k_contiguous) return 2;
  return std::min(fragments(), 1 << ColumnSwizzleBits(shape_));
}

Values FragmentReader::Bases(Value lds, int offset) {
  Values bases;
  for (const Value& lane : lane_) {
    bases.push_back(
        Offset(lds, b_.Opaque(lane + offset, RegisterClass::kVgpr)));
  }
  return bases;
}

Values FragmentReader::Bases(Value lds, Value offset) {
  Values bases;
  for (const Value& lane : lane_) bases.push_back(Offset(lds, lane + offset));
  return bases;
}

Value FragmentReader::Read(const Values& bases, int fragment, int set, int part,
                           const Access& access) {
  if (shape_.k_contiguous) {
    const int block = set / 2;
    const int offset = block * shape_.mn * 128 + fragment * 16 * 128;
    return b_.Load(Vec(kI32, 4), Offset(bases[set % 2], offset), access);
  }
  const int count = base_count();
  const int base = fragment % count;
  const int row = set * kFragmentK + part * 4;
  const int offset = row * shape_.mn * 2 + (fragment - base) * 32;
  return b_.ReadTransposed(Vec(kI16, 4), Offset(bases[base], offset), access);
}

Value FragmentReader::Join(absl::Span<const Value> parts, Type elem) {
  const Value whole = parts.size() == 1 ? parts[0] : Concat(parts[0], parts[1]);
  return Bitcast(whole, Vec(elem, 8));
}

}  // namespace ingot::tile
