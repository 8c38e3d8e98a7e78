// Which tile of a matrix a workgroup computes. Neighbouring tiles share panels,
// so each XCD, which has an L2 of its own and gets every eighth workgroup,
// takes a contiguous run of tiles, and a run walks groups of rows.
#ifndef INGOT_COMPILER_TILE_TILE_ORDER_H_
#define INGOT_COMPILER_TILE_TILE_ORDER_H_

#include "compiler/tile/builder.h"

namespace ingot::tile {

struct TileIndex {
  Value m;  // scalars
  Value n;
};

// The calling workgroup's number when those of a one-dimensional grid of
// `workgroups` are numbered from 0 XCD by XCD.
Value NumberByXcd(Builder& builder, Value workgroups);
// Of workgroup `workgroup` in the order in which they start.
Value NumberByXcd(Value workgroup, Value workgroups);

// Tile `tile` of tiles_m * tiles_n, in an order in which any run of tiles reads
// few panels.
TileIndex PlaceOfTile(Builder& builder, Value tile, Value tiles_m,
                      Value tiles_n);

// For a one-dimensional grid of tiles_m * tiles_n workgroups: every tile is
// computed by exactly one of them.
TileIndex OrderTiles(Builder& builder, Value tiles_m, Value tiles_n);

// For a grid of tiles_m * tiles_n by `parts` workgroups, which share each
// tile's k: part by part, so that an XCD reads few parts of what all of its
// tiles read.
struct TilePart {
  TileIndex tile;
  Value part;  // scalar
};
TilePart OrderTileParts(Builder& builder, Value tiles_m, Value tiles_n,
                        Value parts);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_TILE_ORDER_H_
