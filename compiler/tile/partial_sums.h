// Sums of parts of k, f32, in a workspace until another launch adds them up:
// [part][batch][row of blocks][column of blocks][lane] of 16 bytes, blocks as
// in matmul.h, so that every access moves whole lines.
#ifndef INGOT_COMPILER_TILE_PARTIAL_SUMS_H_
#define INGOT_COMPILER_TILE_PARTIAL_SUMS_H_

#include "compiler/tile/builder.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/output.h"

namespace ingot::tile {

// Scalars.
struct PartialSumsPlace {
  Value base;        // kGlobal
  Value part_bytes;  // i64, of a part
  Value batch;       // i32, which product
};

class PartialSums {
 public:
  // `place` is the workgroup's tile in the product.
  PartialSums(Builder& builder, const MatmulShape& shape,
              const TilePlace& place, const PartialSumsPlace& where);

  // The wave's sums, accumulators by `shape`, of part `part`.
  void Store(Value part, const Values& sums);
  // Those of parts 0 .. parts - 1, added in this order.
  Values Sum(Value parts);

 private:
  Value BufferOf(Value part, int i, Value live);
  Value ScalarOffset(int j);

  Builder& b_;
  MatmulShape shape_;
  PartialSumsPlace where_;
  Value row_;  // of the wave's first block, in blocks
  Value column_;
  Value rows_;  // of the product, in blocks
  Value columns_;
  Value lane_offset_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_PARTIAL_SUMS_H_
