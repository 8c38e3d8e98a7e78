// Lane l holds row l % 16 (CDNA4 ISA, MFMA operand layout; A and B alike) and,
// with g = l / 16,
//   16 bits  k = 8 g + 0..7
//    8 bits  k = 16 g + 0..15 and 64 + 16 g + 0..15
//    6, 4    k = 32 g + 0..31
// Of 4 and 16 bits that is chunk g of the set's four chunks, of 8 bits chunks g
// and 4 + g of eight, of 6 bits one and a half of six. ds_read_b64_tr_b16
// transposes 4 x 16 blocks among 16 lanes: lane 4 r + c addresses four elements
// of k row r, lane i receives column i, so two of them, four k apart, make a
// fragment. ds_read_b64_tr_b8 does so with 8 x 16 blocks, lane 2 r + c: four of
// them make one.
#include "compiler/tile/fragment.h"

#include <algorithm>

namespace ingot::tile {

int FragmentReader::PartsOf(const PanelShape& shape) {
  if (!shape.k_contiguous) return shape.element.narrow() ? 4 : 2;
  switch (shape.element.bits()) {
    case 8:
      return 2;
    case 6:
      return 3;
    default:
      return 1;
  }
}

FragmentReader::FragmentReader(Builder& builder, const PanelShape& shape,
                               int rows, Value first_row)
    : b_(builder), shape_(shape), rows_(rows) {
  const Value lane = b_.LaneId();
  group_ = lane / 16;
  in_group_ = lane % 16;
  for (int i = 0; i < base_count(); ++i) {
    lane_.push_back(!shape.k_contiguous ? ColumnLane(i, first_row)
                    : shape.shuffled    ? ShuffledLane(i, first_row)
                                        : RowLane(i, first_row));
  }
}

int FragmentReader::base_count() const {
  if (!shape_.k_contiguous) {
    return std::min(fragments(), 1 << ColumnSwizzleBits(shape_));
  }
  if (shape_.element.bits() == 6) return parts();
  if (shape_.shuffled) return 1;
  // Four chunks each.
  return shape_.row_bytes() / 64;
}

Value FragmentReader::RowLane(int i, Value first_row) {
  const int row_bytes = shape_.row_bytes();
  // Fragments are 16 rows apart, a multiple of the XOR's period.
  if (shape_.element.bits() == 6) {
    const Value byte = group_ * 24 + 8 * i;
    const Value chunk = (byte / 16) ^ (in_group_ / 8);
    return (first_row + in_group_) * row_bytes + chunk * 16 + byte % 16;
  }
  const Value swizzle = row_bytes == 64 ? in_group_ / 2 % 4 : in_group_ / 2;
  const Value chunk = (group_ + 4 * i) ^ swizzle;
  return (first_row + in_group_) * row_bytes + chunk * 16;
}

Value FragmentReader::ShuffledLane(int i, Value first_row) {
  const Value rows = first_row * shape_.step_row_bytes();
  const Value row = in_group_ * 16;
  if (shape_.element.bits() != 6) return rows + group_ * 256 + row;
  const Value byte = group_ * 24 + 8 * i;
  return rows + byte / 16 * 256 + row + byte % 16;
}

Value FragmentReader::ColumnLane(int i, Value first_row) {
  const int unit = shape_.element.unit_bytes();
  // Lanes of a row, eight bytes each.
  const int lanes = 2 * unit;
  const Value k = group_ * (16 / unit) + in_group_ / lanes;
  const int bits = ColumnSwizzleBits(shape_);
  Value swizzle = b_.I32(0);
  // ColumnSwizzle(k), as lane values.
  for (int bit = 0; bit < 5; ++bit) {
    const int moved = ColumnSwizzle(shape_, 1 << bit);
    if (bits > 0 && moved != 0) swizzle = swizzle | ((k >> bit & 1) * moved);
  }
  const Value column =
      ((first_row / kFragmentRows + i) ^ swizzle) * (kFragmentRows * unit);
  return ColumnPlace(shape_, k) * (shape_.mn * unit) + column +
         in_group_ % lanes * 8;
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

Value FragmentReader::Read(const Values& bases, int panel, int fragment,
                           int set, int part, const Access& access) {
  if (!shape_.k_contiguous) {
    const int count = base_count();
    const int base = fragment % count;
    const int unit = shape_.element.unit_bytes();
    const bool eight = shape_.element.narrow();
    // Of 8 bits a fragment has k 0..15 and 64..79 of each group of lanes.
    const int k = eight ? part / 2 * 64 + part % 2 * 8 : part * 4;
    const int row = ColumnPlace(shape_, set * shape_.element.mfma_k() + k);
    const int offset = panel + row * shape_.mn * unit +
                       (fragment - base) * kFragmentRows * unit;
    return b_.ReadTransposed(eight ? Vec(kI32, 2) : Vec(kI16, 4),
                             Offset(bases[base], offset), access);
  }
  const bool six = shape_.element.bits() == 6;
  const Type type = Vec(kI32, six ? 2 : 4);
  // The set's chunks begin at `start`; a part is four of them further on.
  const int set_bytes = shape_.element.mfma_k() * shape_.element.bits() / 8;
  const int start = set * set_bytes + (six ? 0 : part * 64);
  if (shape_.shuffled) {
    const int offset =
        panel + fragment * kFragmentRows * shape_.step_row_bytes() + start * 16;
    return b_.Load(type, Offset(bases[six ? part : 0], offset), access);
  }
  const int row_bytes = shape_.row_bytes();
  const int block = start / row_bytes;
  const int base = six ? part : start % row_bytes / 64;
  const int offset = panel + block * shape_.mn * row_bytes +
                     fragment * kFragmentRows * row_bytes;
  return b_.Load(type, Offset(bases[base], offset), access);
}

Value FragmentReader::Join(absl::Span<const Value> parts,
                           const Element& element) {
  if (parts.size() == 4) {
    return Concat(Concat(parts[0], parts[1]), Concat(parts[2], parts[3]));
  }
  if (parts.size() == 3) {
    const Value last = Concat(parts[2], parts[2]);
    const int all[] = {0, 1, 2, 3, 4, 5};
    return Shuffle(Concat(parts[0], parts[1]), last, all);
  }
  const Value whole = parts.size() == 1 ? parts[0] : Concat(parts[0], parts[1]);
  return element.narrow() ? whole : Bitcast(whole, Vec(element.type, 8));
}

}  // namespace ingot::tile
