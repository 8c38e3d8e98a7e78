// Matrices and vectors that an epilogue reads and writes at the places of the
// accumulators (matmul.h): block (i, j) of a wave is 16x16, lane l has row
// 16 i + l % 16 and the four columns 16 j + 4 * (l / 16) + 0..3. What lies
// outside the matrix reads as zero and is not written.
#ifndef INGOT_COMPILER_TILE_OUTPUT_H_
#define INGOT_COMPILER_TILE_OUTPUT_H_

#include "compiler/tile/builder.h"
#include "compiler/tile/matmul.h"

namespace ingot::tile {

// Where a workgroup's tile lies in the result, and how large that is. Scalars.
struct TilePlace {
  Value row;  // of the tile's first element
  Value column;
  Value rows;  // of the result
  Value columns;
};

class TileView {
 public:
  // `width` neighbouring columns (4 or 1) move in one access: 4 needs columns,
  // stride and base to be multiples of four elements. `stride` is i32,
  // elements.
  TileView(Builder& builder, const MatmulShape& shape, const TilePlace& place,
           Value base, Value stride, Type elem, int width);

  // 4 x f32.
  Value Load(int i, int j);
  // Rounded to nearest even.
  void Store(int i, int j, Value values);

 private:
  Value ScalarOffset(int i);

  Builder& b_;
  Type elem_;
  int width_;
  Value buffer_;
  Value row_bytes_;
  Values lane_offset_;  // [j][4 / width]
};

// A vector along the columns: every row adds the same four elements.
class ColumnVector {
 public:
  ColumnVector(Builder& builder, const MatmulShape& shape,
               const TilePlace& place, Value base, Type elem);
  // 4 x f32, loaded once.
  Value At(int j) const { return values_[j]; }

 private:
  Values values_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_OUTPUT_H_
