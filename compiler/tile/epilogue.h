// What happens to the sums of a matrix product before they are stored:
//
//   d = act(alpha * row_scale[row] * column_scale[column] * sum
//           + beta * c + bias[column]) + residual
//
// in f32, in this order, rounded once at the end. With a pairing the product
// has two columns for each of d: d = act(gate) * up + residual, where gate and
// up are act's argument in the two columns. Then c, bias and the column's scale
// are as wide as the product, d and residual half as wide.
//
// Sums come as the accumulators of matmul.h; a kernel that adds up partial
// sums loads them into the same places.
#ifndef INGOT_COMPILER_TILE_EPILOGUE_H_
#define INGOT_COMPILER_TILE_EPILOGUE_H_

#include <optional>

#include "compiler/tile/activation.h"
#include "compiler/tile/builder.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/output.h"

namespace ingot::tile {

enum class Pairing {
  kNone,
  // Gate in column j, up in column n + j of the product. The accumulators must
  // hold them as ColumnMap::kHalves says.
  kHalves,
  kInterleaved,  // gate in column 2 j, up in column 2 j + 1
};

// Terms that are not there are not computed.
struct EpilogueTerms {
  Value alpha;  // f32; invalid: 1
  std::optional<VectorPlace> row_scale;
  std::optional<VectorPlace> column_scale;
  std::optional<MatrixPlace> c;
  Value beta;  // f32, with c
  std::optional<VectorPlace> bias;
  Activation activation = Activation::kNone;
  Pairing pairing = Pairing::kNone;
  std::optional<MatrixPlace> residual;
  MatrixPlace d;
};

class Epilogue {
 public:
  // `place` is the tile in the product.
  Epilogue(Builder& builder, const MatmulShape& shape, const TilePlace& place,
           const EpilogueTerms& terms);

  // Stores what becomes of row i of the wave's blocks: shape.fragments_n()
  // sums of 4 x f32. Rows must come in order.
  void Finish(int i, absl::Span<const Value> sums);
  // Store instructions so far.
  int stores() const { return d_.stores(); }

 private:
  // What memory adds to a row of blocks.
  struct Added {
    TileView::Row c;
    TileView::Row residual;
  };
  Added Load(int i);
  Value Argument(int i, int j, Value sum, const Added& added);

  Builder& b_;
  EpilogueTerms terms_;
  int rows_;
  int columns_;  // blocks of the product in a row
  bool ahead_;   // whether a row is loaded while the one before is computed
  Added next_;
  TileView d_;
  std::optional<TileView> c_;
  std::optional<TileView> residual_;
  std::optional<ColumnVector> bias_;
  std::optional<ColumnVector> column_scale_;
  std::optional<RowVector> row_scale_;
};

// All rows of a wave's accumulators, taken out of their registers row by row,
// so that few are out at once. Then waits for loads that were left.
void FinishTile(Builder& builder, const MatmulShape& shape,
                const TilePlace& place, const EpilogueTerms& terms,
                const Values& sums);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_EPILOGUE_H_
