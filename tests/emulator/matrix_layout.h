// Where the elements of A, B, C and D of a matrix instruction lie in lanes and
// registers.
//
// Always inlined, because builds for several host levels include this.
#ifndef TESTS_EMULATOR_MATRIX_LAYOUT_H_
#define TESTS_EMULATOR_MATRIX_LAYOUT_H_

#include "tests/emulator/isa.h"

namespace ingot::emulator {

// Shape of one matrix instruction.
struct Geometry {
  int dim;  // M = N
  int k;
  int blocks;
  [[gnu::always_inline]] constexpr int groups() const {
    return kLanes / (dim * blocks);
  }
  [[gnu::always_inline]] constexpr int per_lane() const { return k / groups(); }
  [[gnu::always_inline]] constexpr int out_regs() const {
    return dim * dim * blocks / kLanes;
  }
};

// The register and lane that hold D[i][j] of a block (32-bit results).
struct Slot {
  int reg, lane;
};
[[gnu::always_inline]] constexpr Slot OutSlot(const Geometry& g, int block,
                                              int i, int j) {
  const int mn = g.dim * g.dim;
  const int r = kLanes / g.dim;
  const int q = mn / 4 < kLanes ? kLanes / (mn / 4) : 1;  // blocks side by side
  const int rr = r / q > 0 ? r / q : 1;  // lane groups one block uses
  const int reg = block / q * (mn * q / kLanes) + i / (4 * rr) * 4 + i % 4;
  const int lane = (block % q) * g.dim + i / 4 % rr * q * g.dim + j;
  return {reg, lane};
}

// cbsz and abid broadcast one block's A to others; blgp permutes B's lanes.
struct Broadcast {
  int cbsz = 0, abid = 0, blgp = 0;
};
// The lane that holds a row of A, or a column of B, for one group of k.
[[gnu::always_inline]] constexpr int LaneForA(const Geometry& g,
                                              const Broadcast& b, int block,
                                              int group, int row) {
  if (b.cbsz != 0) block = (block & ~((1 << b.cbsz) - 1)) + b.abid;
  return (group * g.blocks + block) * g.dim + row;
}
[[gnu::always_inline]] constexpr int LaneForB(const Geometry& g,
                                              const Broadcast& b, int block,
                                              int group, int row) {
  const int lane = (group * g.blocks + block) * g.dim + row;
  switch (b.blgp) {
    case 1:
      return lane & 31;
    case 2:
      return lane | 32;
    case 3:
      return (lane + 16) & 63;
    case 4:
    case 5:
    case 6:
    case 7:
      return (lane & 15) | (b.blgp - 4) * 16;
    default:
      return lane;
  }
}

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_MATRIX_LAYOUT_H_
