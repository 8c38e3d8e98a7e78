#include "compiler/tile/output.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace ingot::tile {
namespace {

constexpr int kLaneColumns = 4;
constexpr int kBlockColumns = 16;
// Offset 2^31, which no buffer of at most 256 rows of 2^21 elements reaches and
// which does not wrap with the row's offset added.
constexpr int64_t kOutside = std::numeric_limits<int32_t>::min();

// Columns of a matrix as the wave's lanes see them.
class LaneColumns {
 public:
  LaneColumns(Builder& builder, const MatmulShape& shape,
              const TilePlace& place, ColumnMap map);

  Value first() const { return first_; }  // of the tile, scalar
  Value count() const { return count_; }  // of the matrix, scalar
  // Of the lane's four columns of a block, or of its eight of two neighbouring
  // ones once lanes have exchanged them (Exchange): the first one, counted from
  // first(); outside, something that Inside refuses.
  Value Of(int j) const { return At(b_.I32(16 * j), group_); }
  Value OfJoined(int j) const {
    return At(group_ % 2 * 16 + 16 * j, group_ / 2 * 2);
  }
  Value Inside(Value column) const;

 private:
  Value At(Value block_column, Value group) const;

  Builder& b_;
  ColumnMap map_;
  Value wave_;  // the wave's first column in the tile
  Value first_;
  Value count_;
  Value group_;   // the lane's, of 16
  int most_ = 0;  // columns of a wave, with kPairs
};

LaneColumns::LaneColumns(Builder& builder, const MatmulShape& shape,
                         const TilePlace& place, ColumnMap map)
    : b_(builder),
      map_(map),
      wave_(PlaceOfWave(builder, shape).n),
      first_(place.column),
      count_(place.columns),
      group_(builder.LaneId() / 16),
      most_(shape.wave_n() / 2) {
  if (map == ColumnMap::kAll) return;
  wave_ = wave_ / 2;
  first_ = first_ / 2;
  if (map == ColumnMap::kPairs) count_ = count_ / 2;
}

Value LaneColumns::At(Value block_column, Value group) const {
  if (map_ != ColumnMap::kHalves) {
    return wave_ + block_column + group * kLaneColumns;
  }
  const Value pair = wave_ + block_column / 2 + group % 2 * kLaneColumns;
  const Value half = count_ / 2;
  // Beyond the left half lies the right one: no place for a column there.
  return Select(pair < half - first_, pair + group / 2 * half, count_);
}

Value LaneColumns::Inside(Value column) const {
  const Value inside = column < count_ - first_;
  if (map_ != ColumnMap::kPairs || most_ % kBlockColumns == 0) return inside;
  return inside & (column < wave_ + most_);
}

// Lanes of two blocks of 16-bit columns, packed: afterwards a lane has eight
// neighbouring columns of one of them, in order. Its own inverse.
std::pair<Value, Value> Exchange(Builder& b, Value left, Value right) {
  Values out[2];
  for (int word = 0; word < 2; ++word) {
    const auto [first, second] =
        b.Permlane16Swap(Extract(left, word), Extract(right, word));
    out[0].push_back(first);
    out[1].push_back(second);
  }
  return {Pack(out[0]), Pack(out[1])};
}

}  // namespace

int BlocksOf(const MatmulShape& shape, ColumnMap map) {
  const int blocks = shape.fragments_n();
  return map == ColumnMap::kPairs ? (blocks + 1) / 2 : blocks;
}

TileView::TileView(Builder& builder, const MatmulShape& shape,
                   const TilePlace& place, const MatrixPlace& matrix,
                   ColumnMap map)
    : b_(builder),
      elem_(matrix.elem),
      width_(matrix.width),
      blocks_(BlocksOf(shape, map)) {
  const int bytes = elem_.Bytes();
  row_bytes_ = matrix.stride * bytes;
  const LaneColumns columns(b_, shape, place, map);
  const Value start =
      Offset(matrix.base, Convert(place.row, kI64) * Convert(row_bytes_, kI64) +
                              Convert(columns.first() * bytes, kI64));
  const Value rows = Min(place.rows - place.row, b_.I32(shape.m));
  buffer_ =
      b_.Buffer(start, Convert((rows - 1) * row_bytes_ +
                                   (columns.count() - columns.first()) * bytes,
                               kI64));
  const Value lane_row =
      (PlaceOfWave(b_, shape).m + b_.LaneId() % 16) * row_bytes_;
  for (int j = 0; j < blocks_; ++j) {
    const Value column = Joined(j) ? columns.OfJoined(j) : columns.Of(j);
    Values offsets;
    for (int e = 0; e < kLaneColumns; e += width_) {
      const Value at = column + e;
      offsets.push_back(
          lane_row + Select(columns.Inside(at), at * bytes, b_.I32(kOutside)));
    }
    lane_offset_.push_back(offsets);
    if (Joined(j)) lane_offset_.push_back({}), ++j;
  }
}

// Whether block j, or the one before it, moves together with its neighbour.
bool TileView::Joined(int j) const {
  return width_ == 2 * kLaneColumns && (j | 1) < blocks_;
}

Value TileView::ScalarOffset(int i) { return row_bytes_ * (16 * i); }

TileView::Row TileView::Load(int i) {
  Row row(blocks_);
  for (int j = 0; j < blocks_; ++j) {
    const Type type =
        Joined(j) ? Vec(kI32, 4) : Vec(elem_, std::min(width_, kLaneColumns));
    for (const Value& offset : lane_offset_[j]) {
      row[j].push_back(b_.BufferLoad(type, buffer_, offset, ScalarOffset(i)));
    }
  }
  return row;
}

Value TileView::Take(const Row& row, int j) {
  if (!Joined(j)) {
    return Convert(row[j].size() == 1 ? row[j][0] : Pack(row[j]), kF32);
  }
  Value packed = held_;
  if (j % 2 == 0) {
    const Value eight = row[j][0];
    std::tie(packed, held_) =
        Exchange(b_, Slice(eight, 0, 2), Slice(eight, 2, 2));
  }
  return Convert(Bitcast(packed, Vec(elem_, 4)), kF32);
}

void TileView::Store(int i, int j, Value values) {
  const Value rounded = Convert(values, elem_);
  if (Joined(j)) {
    const Value packed = Bitcast(rounded, Vec(kI32, 2));
    if (j % 2 == 0) {
      held_ = packed;
      return;
    }
    const auto [left, right] = Exchange(b_, held_, packed);
    b_.BufferStore(Concat(left, right), buffer_, lane_offset_[j - 1][0],
                   ScalarOffset(i));
    ++stores_;
    return;
  }
  const Values& offsets = lane_offset_[j];
  for (size_t e = 0; e < offsets.size(); ++e) {
    const Value part =
        offsets.size() == 1 ? rounded : Extract(rounded, static_cast<int>(e));
    b_.BufferStore(part, buffer_, offsets[e], ScalarOffset(i));
    ++stores_;
  }
}

ColumnVector::ColumnVector(Builder& builder, const MatmulShape& shape,
                           const TilePlace& place, const VectorPlace& vector,
                           ColumnMap map) {
  Builder& b = builder;
  const int bytes = vector.elem.Bytes();
  const LaneColumns columns(b, shape, place, map);
  const Value buffer =
      b.Buffer(vector.base, Convert(columns.count() * bytes, kI64));
  for (int j = 0; j < BlocksOf(shape, map); ++j) {
    const Value first = columns.first() + columns.Of(j);
    Values parts;
    for (int e = 0; e < kLaneColumns; e += vector.width) {
      parts.push_back(b.BufferLoad(Vec(vector.elem, vector.width), buffer,
                                   (first + e) * bytes, b.I32(0)));
    }
    values_.push_back(
        Convert(parts.size() == 1 ? parts[0] : Pack(parts), kF32));
  }
}

RowVector::RowVector(Builder& builder, const MatmulShape& shape,
                     const TilePlace& place, const VectorPlace& vector) {
  Builder& b = builder;
  const int bytes = vector.elem.Bytes();
  const Value start =
      Offset(vector.base, Convert(place.row, kI64) * int64_t{bytes});
  const Value rows = Min(place.rows - place.row, b.I32(shape.m));
  const Value buffer = b.Buffer(start, Convert(rows * bytes, kI64));
  const Value row = PlaceOfWave(b, shape).m + b.LaneId() % kBlockColumns;
  for (int i = 0; i < shape.fragments_m(); ++i) {
    values_.push_back(Convert(
        b.BufferLoad(vector.elem, buffer, (row + 16 * i) * bytes, b.I32(0)),
        kF32));
  }
}

}  // namespace ingot::tile
