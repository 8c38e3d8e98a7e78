#include "compiler/tile/tile_order.h"

namespace ingot::tile {
namespace {

constexpr int kXcds = 8;
// Rows of tiles in a group. 32 compute units of an XCD then read about 8 + 4
// panels at a time, close to the least there is.
constexpr int kGroup = 8;

}  // namespace

Value NumberByXcd(Builder& b, Value workgroups) {
  return NumberByXcd(b.BlockX(), workgroups);
}

Value NumberByXcd(Value workgroup, Value workgroups) {
  // The first workgroups % 8 XCDs get one more.
  const Value xcd = workgroup % kXcds;
  return xcd * (workgroups / kXcds) + Min(xcd, workgroups % kXcds) +
         workgroup / kXcds;
}

TileIndex PlaceOfTile(Builder& b, Value tile, Value tiles_m, Value tiles_n) {
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

TileIndex OrderTiles(Builder& b, Value tiles_m, Value tiles_n) {
  return PlaceOfTile(b, NumberByXcd(b, tiles_m * tiles_n), tiles_m, tiles_n);
}

TilePart OrderTileParts(Builder& b, Value tiles_m, Value tiles_n, Value parts) {
  const Value tiles = tiles_m * tiles_n;
  const Value first = b.BlockY() * tiles;
  const Value number = NumberByXcd(first + b.BlockX(), tiles * parts);
  const Value part = b.ReadFirstLane(number / tiles);
  return {PlaceOfTile(b, number - part * tiles, tiles_m, tiles_n), part};
}

}  // namespace ingot::tile
