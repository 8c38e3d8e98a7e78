// The schedules of schedule.h.
#include <vector>

#include "compiler/tile/issue_order.h"
#include "compiler/tile/schedule.h"

namespace ingot::tile {
namespace {

using Actions = std::vector<Action>;

// Some fragments of every operand: panel `rows` of those that stand for rows,
// panel `columns` of the others; -1: all panels.
struct Panels {
  int rows = -1;
  int columns = -1;

  int Of(const OperandSchedule& operand) const {
    return operand.columns ? columns : rows;
  }
};
constexpr int kNoPanel = -2;

void Append(const Actions& more, Actions* to) {
  to->insert(to->end(), more.begin(), more.end());
}

Actions Half(const Actions& list, int which) {
  const auto middle = list.begin() + list.size() / 2;
  return which == 0 ? Actions(list.begin(), middle)
                    : Actions(middle, list.end());
}

Action Of(Action::Kind kind, int count = 0) {
  Action action;
  action.kind = kind;
  action.count = count;
  return action;
}

// Sets of a step as they are multiplied, one after the other: sets of k, and in
// each the groups of rows.
int Rounds(const ScheduleShape& shape) { return shape.sets * shape.row_groups; }

// Reads of what the products of round `round` use for the first time.
Actions Reads(const ScheduleShape& shape, int round, int ahead,
              Panels panels = {}) {
  const int set = round / shape.row_groups;
  const int group = round % shape.row_groups;
  Actions reads;
  // Columns first: they are the first operand of an MFMA.
  for (int o = static_cast<int>(shape.operands.size()) - 1; o >= 0; --o) {
    const OperandSchedule& operand = shape.operands[o];
    const int products_a_set = shape.sets / operand.sets;
    if (set % products_a_set != 0) continue;
    const int groups = operand.columns ? 1 : shape.row_groups;
    if (group >= groups) continue;
    const int each = operand.fragments / groups;
    for (int f = group * each; f < (group + 1) * each; ++f) {
      const int panel = panels.Of(operand);
      if (panel != -1 && operand.PanelOf(f) != panel) continue;
      for (int part = 0; part < operand.parts; ++part) {
        Action read = Of(Action::kRead);
        read.operand = o;
        read.index = f;
        read.set = set / products_a_set;
        read.part = part;
        read.ahead = ahead;
        reads.push_back(read);
      }
    }
  }
  return reads;
}

Actions AllReads(const ScheduleShape& shape, Panels panels = {}) {
  Actions reads;
  for (int round = 0; round < Rounds(shape); ++round) {
    Append(Reads(shape, round, 0, panels), &reads);
  }
  return reads;
}

Actions Loads(const ScheduleShape& shape, int ahead, Panels panels = {}) {
  Actions loads;
  for (size_t o = 0; o < shape.operands.size(); ++o) {
    const OperandSchedule& operand = shape.operands[o];
    for (int panel = 0; panel < operand.panels; ++panel) {
      if (panels.Of(operand) != -1 && panels.Of(operand) != panel) continue;
      for (int piece = 0; piece < operand.pieces; ++piece) {
        Action load = Of(Action::kLoad);
        load.operand = static_cast<int>(o);
        load.panel = panel;
        load.index = piece;
        load.ahead = ahead;
        loads.push_back(load);
      }
    }
  }
  return loads;
}

// Serpentine: neighbours in time share an operand.
Actions Products(const ScheduleShape& shape, int set, Panels panels = {}) {
  const auto range = [&](bool columns, int panel) {
    const int all = shape.Blocks(columns);
    int count = 1;
    for (const OperandSchedule& operand : shape.operands) {
      if (operand.columns == columns) count = operand.panels;
    }
    const int each = all / count;
    return panel < 0 ? std::pair(0, all) : std::pair(panel * each, each);
  };
  const auto [first_row, rows] = range(false, panels.rows);
  const auto [first_column, columns] = range(true, panels.columns);
  Actions products;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      Action product = Of(Action::kProduct);
      product.index = first_row + i;
      product.column = first_column + (i % 2 == 0 ? j : columns - 1 - j);
      product.set = set;
      products.push_back(product);
    }
  }
  return products;
}

absl::StatusOr<Schedule> Finished(Schedule schedule) {
  INGOT_RETURN_IF_ERROR(FinishSchedule(&schedule));
  return schedule;
}

}  // namespace

absl::StatusOr<Schedule> InterleavedSchedule(const ScheduleShape& shape) {
  Schedule schedule;
  schedule.shape = shape;
  Actions* step = &schedule.step;
  const auto products = [&](int round) {
    const Actions all = Products(shape, round / shape.row_groups);
    const size_t each = all.size() / shape.row_groups;
    const auto first = all.begin() + round % shape.row_groups * each;
    return Actions(first, first + each);
  };
  const int last = Rounds(shape) - 1;
  for (int round = 0; round < last - 1; ++round) {
    Append(Interleave(products(round), Reads(shape, round + 1, 0)), step);
    step->push_back(Of(Action::kReadsDone));
  }
  const Actions before = products(last - 1);
  const Actions final = products(last);
  const Actions loads = Loads(shape, shape.stages);
  Append(Interleave(Half(before, 0), Reads(shape, last, 0)), step);
  step->push_back(Of(Action::kReadsDone));
  step->push_back(Of(Action::kBarrier));
  Append(Interleave(Half(before, 1), Half(loads, 0)), step);
  Append(Interleave(Half(final, 0), Half(loads, 1)), step);
  step->push_back(Of(Action::kLoadsDone));
  step->push_back(Of(Action::kBarrier));
  Append(Interleave(Half(final, 1), Reads(shape, 0, 1)), step);
  step->push_back(Of(Action::kReadsDone));
  return Finished(std::move(schedule));
}

absl::StatusOr<Schedule> PingPongSchedule(const ScheduleShape& shape) {
  Schedule schedule;
  schedule.shape = shape;
  schedule.lag = 1;
  struct Cluster {
    Panels reads;
    Panels loads;
    int ahead;
    Panels products;
  };
  constexpr int kNone = kNoPanel;
  const Cluster clusters[] = {{{0, 0}, {kNone, 1}, 1, {0, 0}},
                              {{kNone, 1}, {1, kNone}, 1, {0, 1}},
                              {{1, kNone}, {0, kNone}, 2, {1, 0}},
                              {{kNone, kNone}, {kNone, 0}, 2, {1, 1}}};
  Actions* step = &schedule.step;
  for (const Cluster& cluster : clusters) {
    Append(Interleave(AllReads(shape, cluster.reads),
                      Loads(shape, cluster.ahead, cluster.loads)),
           step);
    step->push_back(Of(Action::kLoadsDone));
    step->push_back(Of(Action::kBarrier));
    step->push_back(Of(Action::kReadsDone));
    step->push_back(Of(Action::kPriority, 1));
    for (int set = 0; set < shape.sets; ++set) {
      Append(Products(shape, set, cluster.products), step);
    }
    step->push_back(Of(Action::kPriority, 0));
    step->push_back(Of(Action::kBarrier));
  }
  return Finished(std::move(schedule));
}

absl::StatusOr<Schedule> PrivateSchedule(const ScheduleShape& shape) {
  Schedule schedule;
  schedule.shape = shape;
  schedule.shared = false;
  Actions* step = &schedule.step;
  step->push_back(Of(Action::kLoadsDone));
  Append(AllReads(shape), step);
  step->push_back(Of(Action::kReadsDone));
  Actions products;
  for (int set = 0; set < shape.sets; ++set) {
    Append(Products(shape, set), &products);
  }
  Append(Interleave(products, Loads(shape, shape.stages)), step);
  return Finished(std::move(schedule));
}

}  // namespace ingot::tile
