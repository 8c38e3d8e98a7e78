// Matrices and vectors that an epilogue reads and writes at the places of the
// accumulators (matmul.h): block (i, j) of a wave is 16x16, lane l has row
// 16 i + l % 16 and the four columns 16 j + 4 * (l / 16) + 0..3. What lies
// outside the matrix reads as zero and is not written.
#ifndef INGOT_COMPILER_TILE_OUTPUT_H_
#define INGOT_COMPILER_TILE_OUTPUT_H_

#include <vector>

#include "compiler/tile/builder.h"
#include "compiler/tile/matmul.h"

namespace ingot::tile {

// Where a workgroup's tile lies in the product, and how large that is. Scalars.
struct TilePlace {
  Value row;  // of the tile's first element
  Value column;
  Value rows;  // of the product
  Value columns;
};

// Which columns of a matrix belong to the product's, where those come in pairs:
// n of them, 2 n columns of the product. Tiles begin at multiples of 16
// columns.
enum class ColumnMap {
  kAll,  // the same ones
  // Each block holds 8 columns of the left half, then the 8 of the right half
  // that pair with them: columns j and n + j.
  kHalves,
  // The matrix has a column a pair: n of them. It is half as wide as the
  // product, and so are the wave's blocks of it.
  kPairs,
};

// Blocks of a matrix with this map that a wave has, beside each other.
int BlocksOf(const MatmulShape& shape, ColumnMap map);

struct MatrixPlace {
  Value base;    // kGlobal, element (0, 0)
  Value stride;  // i32, elements
  Type elem;
  // Neighbouring columns that move in one access: 1, 4, or 8 with 16 bits. From
  // 4 on columns (of either half), stride and base must be multiples of it.
  int width = 1;
};

// Blocks of a row must be taken, and stored, in order of j: at 8 columns an
// access two of them move together, exchanged among lanes.
class TileView {
 public:
  TileView(Builder& builder, const MatmulShape& shape, const TilePlace& place,
           const MatrixPlace& matrix, ColumnMap map = ColumnMap::kAll);

  int blocks() const { return blocks_; }
  // Row i of blocks, as it comes from memory.
  using Row = std::vector<Values>;
  Row Load(int i);
  // 4 x f32: block j of a loaded row. Until then nothing waits for memory.
  Value Take(const Row& row, int j);
  // Rounded to nearest even.
  void Store(int i, int j, Value values);
  // Store instructions so far.
  int stores() const { return stores_; }

 private:
  bool Joined(int j) const;
  Value ScalarOffset(int i);

  Builder& b_;
  Type elem_;
  int width_;
  int blocks_;
  Value buffer_;
  Value row_bytes_;
  std::vector<Values> lane_offset_;  // of block j, an access each
  Value held_;                       // half of a joined pair
  int stores_ = 0;
};

// A vector along the columns: every row has the same four elements.
struct VectorPlace {
  Value base;  // kGlobal
  Type elem;
  // 1, or 4: base and columns (of either half) are multiples of four elements.
  int width = 1;
};
class ColumnVector {
 public:
  ColumnVector(Builder& builder, const MatmulShape& shape,
               const TilePlace& place, const VectorPlace& vector,
               ColumnMap map = ColumnMap::kAll);
  // 4 x f32, loaded once.
  Value At(int j) const { return values_[j]; }

 private:
  Values values_;
};

// A vector along the rows: every column has the same element.
class RowVector {
 public:
  RowVector(Builder& builder, const MatmulShape& shape, const TilePlace& place,
            const VectorPlace& vector);
  // f32, loaded once: that of the lane's row of block row i.
  Value At(int i) const { return values_[i]; }

 private:
  Values values_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_OUTPUT_H_
