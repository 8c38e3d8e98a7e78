// The ends are read once, each lane taking neighbouring groups: two scans over
// the wave then give the ends as they count and the tiles before each group.
// Every wave does all of it. A look-up finds the lane by a vote, and the group
// among the lane's on the scalar unit.
#include "compiler/tile/ragged.h"

#include <algorithm>

#include "compiler/tile/reduce.h"

namespace ingot::tile {

RaggedRows::RaggedRows(Builder& builder, const RaggedShape& shape, Value ends,
                       Value groups, Value rows)
    : b_(builder), shape_(shape) {
  LoadEnds(ends, groups, rows);
  // The largest end so far, first within the lane.
  for (int i = 1; i < per_lane(); ++i) {
    end_rows_[i] = Max(end_rows_[i - 1], end_rows_[i]);
  }
  const Value zero = b_.I32(0);
  Value before = ScanWaveExclusive(b_, end_rows_.back(), zero, Max);
  Value tiles = zero;
  for (Value& end : end_rows_) {
    end = Max(end, before);
    tiles = tiles + (end - before + (shape.tile_rows - 1)) / shape.tile_rows;
    end_tiles_.push_back(tiles);
    before = end;
  }
  const Value all_before = ScanWaveExclusive(b_, tiles, zero, Sum);
  for (Value& end : end_tiles_) end = end + all_before;
  tiles_ = b_.ReadLane(end_tiles_.back(), b_.I32(63));
}

// Clamped to the rows; groups beyond the last end at 0.
void RaggedRows::LoadEnds(Value ends, Value groups, Value rows) {
  const Value buffer = b_.Buffer(ends, Convert(groups * 4, kI64));
  const int width = std::min(per_lane(), 4);
  for (int i = 0; i < per_lane(); i += width) {
    const Value loaded =
        b_.BufferLoad(Vec(kI32, width), buffer,
                      b_.LaneId() * (4 * per_lane()) + 4 * i, b_.I32(0));
    for (int e = 0; e < width; ++e) {
      end_rows_.push_back(Max(Min(Extract(loaded, e), rows), b_.I32(0)));
    }
  }
}

RaggedRows::Group RaggedRows::Find(Value tile) {
  const Value votes = b_.Ballot(end_tiles_.back() <= tile);
  const Value lane =
      Convert(b_.Intrinsic("llvm.ctpop.i64", {votes}, kI64), kI32);
  // What lies before the lane's first group.
  const Value zero = b_.I32(0);
  const auto before = [&](Value last) {
    return Select(lane == 0, zero, b_.ReadLane(last, lane - 1));
  };
  Value first_row = before(end_rows_.back());
  Value first_tile = before(end_tiles_.back());
  Value index = lane * per_lane();
  Value end_row = b_.ReadLane(end_rows_[0], lane);
  Value end_tile = b_.ReadLane(end_tiles_[0], lane);
  for (int i = 1; i < per_lane(); ++i) {
    const Value later = end_tile <= tile;
    index = Select(later, index + 1, index);
    first_row = Select(later, end_row, first_row);
    first_tile = Select(later, end_tile, first_tile);
    end_row = Select(later, b_.ReadLane(end_rows_[i], lane), end_row);
    end_tile = Select(later, b_.ReadLane(end_tiles_[i], lane), end_tile);
  }
  return {index, first_row, end_row, first_tile, end_tile - first_tile};
}

}  // namespace ingot::tile
