#include "compiler/tile/output.h"

#include <limits>

namespace ingot::tile {
namespace {

constexpr int kLaneColumns = 4;
// Offset 2^31, which no buffer of at most 256 rows of 2^21 elements reaches and
// which does not wrap with the row's offset added.
constexpr int64_t kOutside = std::numeric_limits<int32_t>::min();

// The lane's first column of block j, within the tile.
Value LaneColumn(Builder& b, const MatmulShape& shape, int j) {
  return PlaceOfWave(b, shape).n + b.LaneId() / 16 * kLaneColumns + 16 * j;
}

}  // namespace

TileView::TileView(Builder& builder, const MatmulShape& shape,
                   const TilePlace& place, Value base, Value stride, Type elem,
                   int width)
    : b_(builder), elem_(elem), width_(width) {
  const int bytes = elem.Bytes();
  row_bytes_ = stride * bytes;
  const Value start =
      Offset(base, Convert(place.row, kI64) * Convert(row_bytes_, kI64) +
                       Convert(place.column * bytes, kI64));
  const Value rows = Min(place.rows - place.row, b_.I32(shape.m));
  const Value columns = place.columns - place.column;
  buffer_ = b_.Buffer(start, Convert((rows - 1) * row_bytes_ +
                                         Min(columns, b_.I32(shape.n)) * bytes,
                                     kI64));
  const Value lane_row = PlaceOfWave(b_, shape).m + b_.LaneId() % 16;
  for (int j = 0; j < shape.fragments_n(); ++j) {
    for (int e = 0; e < kLaneColumns; e += width) {
      const Value column = LaneColumn(b_, shape, j) + e;
      lane_offset_.push_back(lane_row * row_bytes_ + Select(column < columns,
                                                            column * bytes,
                                                            b_.I32(kOutside)));
    }
  }
}

Value TileView::ScalarOffset(int i) { return row_bytes_ * (16 * i); }

Value TileView::Load(int i, int j) {
  const int count = kLaneColumns / width_;
  Values parts;
  for (int e = 0; e < count; ++e) {
    parts.push_back(b_.BufferLoad(Vec(elem_, width_), buffer_,
                                  lane_offset_[j * count + e],
                                  ScalarOffset(i)));
  }
  const Value all = width_ == kLaneColumns ? parts[0] : Pack(parts);
  return Convert(all, kF32);
}

void TileView::Store(int i, int j, Value values) {
  const Value rounded = Convert(values, elem_);
  const int count = kLaneColumns / width_;
  for (int e = 0; e < count; ++e) {
    const Value part = width_ == kLaneColumns ? rounded : Extract(rounded, e);
    b_.BufferStore(part, buffer_, lane_offset_[j * count + e], ScalarOffset(i));
  }
}

ColumnVector::ColumnVector(Builder& builder, const MatmulShape& shape,
                           const TilePlace& place, Value base, Type elem) {
  Builder& b = builder;
  const Value buffer =
      b.Buffer(base, Convert(place.columns * elem.Bytes(), kI64));
  for (int j = 0; j < shape.fragments_n(); ++j) {
    Values parts;
    for (int e = 0; e < kLaneColumns; ++e) {
      const Value column = place.column + LaneColumn(b, shape, j) + e;
      parts.push_back(
          b.BufferLoad(elem, buffer, column * elem.Bytes(), b.I32(0)));
    }
    values_.push_back(Convert(Pack(parts), kF32));
  }
}

}  // namespace ingot::tile
