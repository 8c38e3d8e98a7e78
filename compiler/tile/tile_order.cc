#include "compiler/tile/tile_order.h"

namespace ingot::tile {
namespace {

constexpr int kXcds = 8;
// Rows of tiles in a group. 32 compute units of an XCD then read about 8 + 4
// panels at a time, close to the least there is.
constexpr int kGroup = 8;

}  // namespace

TileIndex OrderTiles(Builder& b, Value tiles_m, Value tiles_n) {
  const Value workgroup = b.BlockX();
  const Value tiles = tiles_m * tiles_n;
  // The first tiles % 8 XCDs get one tile more.
  const Value xcd = workgroup % kXcds;
  const Value tile =
      xcd * (tiles / kXcds) + Min(xcd, tiles % kXcds) + workgroup / kXcds;
  const Value group_tiles = tiles_n * kGroup;
  const Value group = tile / group_tiles;
  const Value first_row = group * kGroup;
  const Value rows = Min(tiles_m - first_row, b.I32(kGroup));
  const Value in_group = tile - group * group_tiles;
  const Value column = in_group / rows;
  const Value row = first_row + (in_group - column * rows);
  // Division is done on the vector unit; descriptors need scalars.
  return {b.ReadFirstLane(row), b.ReadFirstLane(column)};
}

}  // namespace ingot::tile
