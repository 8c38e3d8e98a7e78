#include "compiler/tile/reduce.h"

namespace ingot::tile {
namespace {

// DPP control words (CDNA4 ISA, DPP_CTRL).
constexpr int kQuadSwapNeighbours = 0xB1;  // quad_perm [1,0,3,2]
constexpr int kQuadSwapPairs = 0x4E;       // quad_perm [2,3,0,1]
constexpr int kRowMirror = 0x140;
constexpr int kRowHalfMirror = 0x141;
constexpr int kRowShiftRight = 0x110;    // by the low four bits
constexpr int kWaveShiftRight = 0x138;   // by one lane
constexpr int kBroadcastRowEnd = 0x142;  // lane 15 into the next row
constexpr int kBroadcastMiddle = 0x143;  // lane 31 into the rows 2 and 3

constexpr int kRow = 16;  // lanes that DPP reaches across

}  // namespace

Value Sum(Value a, Value b) { return a + b; }

Value ReduceLanes(Value vector, Combine combine) {
  if (!vector.valid()) return {};
  int lanes = vector.type().lanes;
  while (lanes > 1 && lanes % 2 == 0) {
    lanes /= 2;
    vector = combine(Slice(vector, 0, lanes), Slice(vector, lanes, lanes));
  }
  Value result = Extract(vector, 0);
  for (int i = 1; i < lanes; ++i) result = combine(result, Extract(vector, i));
  return result;
}

// After a step each lane holds the same as the lane it combined with, so
// mirrors serve as well as exchanges.
Value ReduceNeighbours(Builder& b, Value value, int lanes, Combine combine) {
  int reached = 1;
  for (int control :
       {kQuadSwapNeighbours, kQuadSwapPairs, kRowHalfMirror, kRowMirror}) {
    if (reached == lanes) break;
    value = combine(value, b.Dpp(value, value, control, 0xf, 0xf, true));
    reached *= 2;
  }
  return value;
}

Value ReduceWave(Builder& b, Value value, Combine combine) {
  value = ReduceNeighbours(b, value, kRow, combine);
  const auto [even, odd] = b.Permlane16Swap(value, value);
  value = combine(even, odd);
  const auto [low, high] = b.Permlane32Swap(value, value);
  return combine(low, high);
}

Value ReduceWorkgroup(Builder& b, Value value, Value identity,
                      Combine combine) {
  value = ReduceWave(b, value, combine);
  const int waves = static_cast<int>(b.spec().workgroup[0] / 64);
  if (waves <= 1) return value;
  Value lds = b.Lds("reduce", waves * 4, 4);
  b.If(b.LaneId() == 0, [&] { b.Store(value, Offset(lds, b.WaveId() * 4)); });
  b.SyncWorkgroup();
  // A row of 16 lanes covers the 16 waves that a workgroup can have.
  Value slot = b.LaneId() & 15;
  Value partial = b.Load(
      value.type(), Offset(lds, Min(slot, slot.Like(int64_t{waves - 1})) * 4));
  if (waves < 16) partial = Select(slot < waves, partial, identity);
  return ReduceNeighbours(b, partial, kRow, combine);
}

Value ScanWaveInclusive(Builder& b, Value value, Value identity,
                        Combine combine) {
  const auto step = [&](int control, int rows) {
    value = combine(b.Dpp(identity, value, control, rows), value);
  };
  for (int distance : {1, 2, 4, 8}) step(kRowShiftRight + distance, 0xf);
  step(kBroadcastRowEnd, 0xa);
  step(kBroadcastMiddle, 0xc);
  return value;
}

Value ScanWaveExclusive(Builder& b, Value value, Value identity,
                        Combine combine) {
  return b.Dpp(identity, ScanWaveInclusive(b, value, identity, combine),
               kWaveShiftRight);
}

}  // namespace ingot::tile
