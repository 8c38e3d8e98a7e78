// The ends are read once, each lane taking neighbouring groups: two scans over
// the wave then give the ends as they count and the tiles before each group.
// Every wave does all of it, since all of them need the number of tiles; one
// leaves the table in LDS. A look-up counts, by a vote among the lanes, the
// runs of groups that end before the tile, then the groups within the run.
#include "compiler/tile/ragged.h"

#include <algorithm>

#include "compiler/tile/reduce.h"

namespace ingot::tile {
namespace {

constexpr int kEntryBytes = 8;

// Lanes of the wave for which `predicate` holds; a scalar.
Value CountLanes(Builder& b, Value predicate) {
  return Convert(b.Intrinsic("llvm.ctpop.i64", {b.Ballot(predicate)}, kI64),
                 kI32);
}

}  // namespace

RaggedRows::RaggedRows(Builder& builder, const RaggedShape& shape, Value ends,
                       Value groups, Value rows)
    : b_(builder), shape_(shape), lane_(builder.LaneId()) {
  table_ = b_.Lds("groups", RaggedShape::LdsBytes(shape.capacity), kEntryBytes);
  Values end = LoadEnds(ends, groups, rows);
  // The largest end so far, first within the lane.
  for (int i = 1; i < per_lane(); ++i) end[i] = Max(end[i - 1], end[i]);
  const Value zero = b_.I32(0);
  Value before = ScanWaveExclusive(b_, end.back(), zero, Max);
  Values tiles;
  for (Value& e : end) {
    e = Max(e, before);
    const Value own = (e - before + (shape.tile_rows - 1)) / shape.tile_rows;
    tiles.push_back(tiles.empty() ? own : tiles.back() + own);
    before = e;
  }
  lane_tiles_ = ScanWaveInclusive(b_, tiles.back(), zero, Sum);
  tiles_ = b_.ReadLane(lane_tiles_, b_.I32(63));
  const Value before_lane = lane_tiles_ - tiles.back();
  for (Value& t : tiles) t = t + before_lane;
  b_.If(b_.WaveId() == 0, [&] { Store(tiles, end); });
  b_.SyncWorkgroup();
}

// Clamped to the rows; groups beyond the last end at 0.
Values RaggedRows::LoadEnds(Value ends, Value groups, Value rows) {
  const Value buffer = b_.Buffer(ends, Convert(groups * 4, kI64));
  const int width = std::min(per_lane(), 4);
  Values result;
  for (int i = 0; i < per_lane(); i += width) {
    const Value loaded = b_.BufferLoad(
        Vec(kI32, width), buffer, lane_ * (4 * per_lane()) + 4 * i, b_.I32(0));
    for (int e = 0; e < width; ++e) {
      result.push_back(Max(Min(Extract(loaded, e), rows), b_.I32(0)));
    }
  }
  return result;
}

void RaggedRows::Store(const Values& last_tiles, const Values& ends) {
  const Value zero = b_.I32(0);
  b_.If(lane_ == 0,
        [&] { b_.Store(Pack({zero, zero}), table_, {.align = 8}); });
  const Value mine = Offset(table_, lane_ * (kEntryBytes * per_lane()));
  for (int i = 0; i < per_lane(); ++i) {
    b_.Store(Pack({last_tiles[i], ends[i]}),
             Offset(mine, kEntryBytes * (i + 1)), {.align = 8});
  }
}

RaggedRows::Group RaggedRows::Find(Value tile) {
  Value group = CountLanes(b_, lane_tiles_ <= tile);
  if (per_lane() > 1) {
    const Value run = group * per_lane();
    const Value entry = Offset(
        table_, (run + Min(lane_, b_.I32(per_lane() - 1)) + 1) * kEntryBytes);
    // The run's last group ends beyond the tile, so lanes without a group of
    // their own, which look at that one, do not count.
    group = run + CountLanes(b_, b_.Load(kI32, entry, {.align = 8}) <= tile);
  }
  const auto entry = [&](int after) {
    return b_.Load(Vec(kI32, 2),
                   Offset(table_, group * kEntryBytes + after * kEntryBytes),
                   {.align = 8});
  };
  const auto scalar = [&](Value pair, int i) {
    return b_.ReadFirstLane(Extract(pair, i));
  };
  const Value before = entry(0);
  const Value with = entry(1);
  const Value first_tile = scalar(before, 0);
  return {group, scalar(before, 1), scalar(with, 1), first_tile,
          scalar(with, 0) - first_tile};
}

}  // namespace ingot::tile
