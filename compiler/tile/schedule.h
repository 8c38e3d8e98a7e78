// The k loop of a matrix product as data: what one wave issues in a step, in
// order. Stage t % stages of LDS holds step t; a panel is the part of an
// operand that is loaded and freed at once (panel.h).
//
// A schedule says which product, read and load stands where, and where it waits
// and meets the other waves. What a wait may leave outstanding is not written
// down: FinishSchedule works it out by going through the steps, and refuses a
// schedule that reads what need not have landed, overwrites what another wave
// may still read, multiplies what was not waited for, or leaves something out.
// No MLIR here.
#ifndef INGOT_COMPILER_TILE_SCHEDULE_H_
#define INGOT_COMPILER_TILE_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "proto/status.h"

namespace ingot::tile {

// One action of a wave in step t.
struct Action {
  enum Kind : uint8_t {
    kProduct,    // block (index, column) += fragments of k set `set`
    kRead,       // part of fragment `index` of set `set`, of step t + ahead
    kLoad,       // piece `index` of a panel by LDS-DMA, of step t + ahead
    kReadsDone,  // every read issued so far has its result
    kLoadsDone,  // all but the last `count` loads have landed
    kBarrier,
    kPriority,  // `count`
  };
  Kind kind = kProduct;
  int operand = 0;  // of ScheduleShape::operands
  int panel = 0;    // of the operand; loads
  int index = 0;
  int column = 0;
  int set = 0;
  int part = 0;
  int ahead = 0;
  int count = 0;
};

// What a wave reads of one operand.
struct OperandSchedule {
  bool columns = false;  // of the result, else rows
  int panels = 1;
  int pieces = 0;     // loads of a panel by each wave
  int fragments = 0;  // panel by panel, equally many each
  int parts = 1;      // reads of a fragment of one set
  int sets = 0;       // divides ScheduleShape::sets

  int PanelOf(int fragment) const { return fragment / (fragments / panels); }
};

// Fragments of all operands that stand for rows are equally many, and of those
// that stand for columns: a product takes one of each operand.
struct ScheduleShape {
  int stages = 0;
  int sets = 0;  // of k in a step
  // Where there is but one set, its products are taken in so many groups of
  // rows, so that reads and products can overlap.
  int row_groups = 1;
  std::vector<OperandSchedule> operands;

  int Blocks(bool columns) const;
};

struct Schedule {
  ScheduleShape shape;
  // Whether all waves load a panel together and read it; else a wave has its
  // own LDS and needs no barrier.
  bool shared = true;
  // By how many barriers one half of the waves runs behind the other.
  int lag = 0;
  std::vector<Action> step;
  // Loads that may be outstanding when the loop is entered; -1: all of them.
  int prologue_left = -1;

  // How far loads and reads run ahead.
  int MaxAhead(Action::Kind kind) const;
  int MinAhead(Action::Kind kind) const;
};

// Fills in what waits leave outstanding and drops waits that wait for nothing.
// INTERNAL naming the rule that `schedule` breaks.
absl::Status FinishSchedule(Schedule* schedule);

// The schedules, finished.

// One wave a SIMD. Of step t, with sets of fragments 0..last, a wave issues
//   for set 0 .. last - 2:  products of the set  + reads of the next one
//   a  first half of the products of set last - 1 + reads of set last
//      barrier: every wave has read the step, its stage is free
//   b  second half of set last - 1               + half of the loads of
//                                                  step t + stages
//   c  first half of set last                    + the other half
//      barrier: step t + 1 is there
//   d  second half of set last                   + reads of set 0 of step t + 1
absl::StatusOr<Schedule> InterleavedSchedule(const ScheduleShape& shape);

// Two waves a SIMD, of which one multiplies while the other one moves data:
// half of the waves runs one barrier behind. Two panels an operand, two stages.
// Cluster c of step t is
//   reads, loads; barrier; products at raised priority; barrier
//   c  reads         loads       products
//   0  B0, A0 of t   B1 of t+1   A0 B0
//   1  B1 of t       A1 of t+1   A0 B1
//   2  A1 of t       A0 of t+2   A1 B0
//   3                B0 of t+2   A1 B1
absl::StatusOr<Schedule> PingPongSchedule(const ScheduleShape& shape);

// Every wave for itself, out of its own LDS: reads of step t, then products
// with the loads of step t + stages among them.
absl::StatusOr<Schedule> PrivateSchedule(const ScheduleShape& shape);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_SCHEDULE_H_
