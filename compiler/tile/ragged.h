// Rows that lie group behind group in one matrix, where the groups end being
// known on the device alone: which rows a tile has, and of which group.
#ifndef INGOT_COMPILER_TILE_RAGGED_H_
#define INGOT_COMPILER_TILE_RAGGED_H_

#include "compiler/tile/builder.h"

namespace ingot::tile {

struct RaggedShape {
  int tile_rows = 0;  // a power of two
  int capacity = 0;   // groups at most: 64, or 64 times a multiple of 4
};

// Groups are cut into tiles of `tile_rows` rows, the last of each ragged, and
// the tiles numbered through all groups.
//
// Group e has the rows from the end of group e - 1 (0 for the first) to
// ends[e]. An end that is negative or beyond all rows counts as the nearest
// that is not, one below an earlier end as that: then every row belongs to one
// group at most, and no tile reaches outside the rows.
//
// Each wave keeps what it must know in registers, 2 * capacity / 64 of them.
class RaggedRows {
 public:
  // Reads `ends`, i32 [groups], once. `groups` and `rows` are i32 scalars.
  RaggedRows(Builder& builder, const RaggedShape& shape, Value ends,
             Value groups, Value rows);

  // Of all groups; a scalar.
  Value tiles() const { return tiles_; }

  // The group that a tile is of. Scalars.
  struct Group {
    Value index;
    Value first_row;
    Value end_row;
    Value first_tile;
    Value tiles;
  };
  // `tile` < tiles(), a scalar.
  Group Find(Value tile);

 private:
  int per_lane() const { return shape_.capacity / 64; }
  void LoadEnds(Value ends, Value groups, Value rows);

  Builder& b_;
  RaggedShape shape_;
  // Lane values: of the lane's groups, which are neighbours.
  Values end_rows_;
  Values end_tiles_;  // tiles up to and with the group
  Value tiles_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_RAGGED_H_
