#include "compiler/tile/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace ingot::tile {
namespace {

// vmcnt has six bits.
constexpr int kMostOutstanding = 63;

struct Event {
  const Action* action = nullptr;
  int step = 0;  // in which it is issued

  int target() const { return step + action->ahead; }
};

class Simulation {
 public:
  explicit Simulation(Schedule* schedule);
  absl::Status Run();

 private:
  using Fragment = std::tuple<int, int, int, int>;  // operand, index, set, part

  absl::Status CheckComplete() const;
  absl::Status CheckLanded(size_t read);
  absl::Status CheckFree(size_t load) const;
  absl::Status CheckOperands(size_t product) const;
  absl::Status CheckFragment(size_t product, const Fragment& fragment) const;
  size_t Deadline(size_t read) const;
  void FillCounts();
  int LoadsBetween(size_t after, size_t before) const;
  bool IsSteady(size_t at) const;
  const Action& ActionAt(size_t at) const { return *events_[at].action; }

  // Barriers that must stand between a wait and what relies on the waits of all
  // waves.
  int barriers() const { return schedule_->shared ? 1 + schedule_->lag : 0; }

  Schedule* schedule_;
  std::vector<Event> events_;
  int middle_;  // a step whose past and future are all there
  // Of a wait (an event): the youngest load that it must cover.
  std::map<size_t, size_t> youngest_;
};

constexpr size_t kNone = ~size_t{0};

absl::Status Broken(const Event& event, absl::string_view rule) {
  const Action& a = *event.action;
  return absl::InternalError(absl::StrCat(
      "schedule: kind ", int{a.kind}, " operand ", a.operand, " panel ",
      a.panel, " index ", a.index, " column ", a.column, " set ", a.set,
      " part ", a.part, " ahead ", a.ahead, ": ", rule));
}

Simulation::Simulation(Schedule* schedule) : schedule_(schedule) {
  const int reach =
      schedule->MaxAhead(Action::kLoad) + schedule->shape.stages + 1;
  middle_ = reach;
  for (int step = 0; step <= 2 * reach; ++step) {
    for (const Action& action : schedule->step) {
      events_.push_back({&action, step});
    }
  }
}

bool Simulation::IsSteady(size_t at) const {
  return events_[at].step >= middle_ && events_[at].step < middle_ + 2;
}

// Every product, read and load once a step, and nothing else.
absl::Status Simulation::CheckComplete() const {
  const ScheduleShape& s = schedule_->shape;
  std::set<std::tuple<int, int, int, int, int, int>> seen;
  for (const Action& a : schedule_->step) {
    const bool counts = a.kind == Action::kProduct || a.kind == Action::kRead ||
                        a.kind == Action::kLoad;
    if (counts &&
        !seen.emplace(a.kind, a.operand, a.panel, a.index,
                      a.kind == Action::kProduct ? a.column : a.part, a.set)
             .second) {
      return Broken({&a, 0}, "stands twice in a step");
    }
  }
  size_t expected = size_t(s.Blocks(false)) * s.Blocks(true) * s.sets;
  for (const OperandSchedule& o : s.operands) {
    expected += size_t(o.fragments) * o.parts * o.sets;
    expected += size_t(o.panels) * o.pieces;
  }
  if (seen.size() != expected) {
    return absl::InternalError(
        absl::StrCat("schedule: ", seen.size(), " actions of ", expected));
  }
  return absl::OkStatus();
}

// The last wait for loads that all waves have made before the read.
size_t Simulation::Deadline(size_t read) const {
  int barriers_seen = 0;
  for (size_t at = read; at-- > 0;) {
    if (ActionAt(at).kind == Action::kBarrier) ++barriers_seen;
    if (ActionAt(at).kind == Action::kLoadsDone &&
        barriers_seen >= barriers()) {
      return at;
    }
  }
  return kNone;
}

absl::Status Simulation::CheckLanded(size_t read) {
  const Action& a = ActionAt(read);
  const OperandSchedule& operand = schedule_->shape.operands[a.operand];
  const int panel = operand.PanelOf(a.index);
  const size_t deadline = Deadline(read);
  int landed = 0;
  for (size_t at = 0; at < deadline && deadline != kNone; ++at) {
    const Action& load = ActionAt(at);
    if (load.kind != Action::kLoad || load.operand != a.operand ||
        load.panel != panel || events_[at].target() != events_[read].target()) {
      continue;
    }
    ++landed;
    size_t& youngest = youngest_.emplace(deadline, at).first->second;
    youngest = std::max(youngest, at);
  }
  if (landed != operand.pieces) {
    return Broken(events_[read], "reads what no wait of all waves covers");
  }
  return absl::OkStatus();
}

// The stage was read by everybody before it is filled again.
absl::Status Simulation::CheckFree(size_t load) const {
  const Action& a = ActionAt(load);
  const int old = events_[load].target() - schedule_->shape.stages;
  size_t last_read = kNone;
  for (size_t at = 0; at < events_.size(); ++at) {
    const Action& read = ActionAt(at);
    if (read.kind == Action::kRead && read.operand == a.operand &&
        schedule_->shape.operands[a.operand].PanelOf(read.index) == a.panel &&
        events_[at].target() == old) {
      last_read = at;
    }
  }
  if (last_read == kNone || last_read > load) {
    return Broken(events_[load], "fills a stage before its last read");
  }
  bool done = false;
  int barriers_seen = 0;
  for (size_t at = last_read; at < load; ++at) {
    if (ActionAt(at).kind == Action::kReadsDone) done = true;
    if (done && ActionAt(at).kind == Action::kBarrier) ++barriers_seen;
  }
  if (!done || barriers_seen < barriers()) {
    return Broken(events_[load], "fills a stage that a wave may still read");
  }
  return absl::OkStatus();
}

absl::Status Simulation::CheckFragment(size_t product,
                                       const Fragment& fragment) const {
  bool done = false;
  for (size_t at = product; at-- > 0;) {
    const Action& a = ActionAt(at);
    if (a.kind == Action::kReadsDone) done = true;
    if (a.kind != Action::kRead ||
        Fragment(a.operand, a.index, a.set, a.part) != fragment ||
        events_[at].target() != events_[product].step) {
      continue;
    }
    if (!done) return Broken(events_[product], "does not wait for its reads");
    return absl::OkStatus();
  }
  return Broken(events_[product], "has no fragments");
}

absl::Status Simulation::CheckOperands(size_t product) const {
  const Action& a = ActionAt(product);
  const ScheduleShape& shape = schedule_->shape;
  for (size_t i = 0; i < shape.operands.size(); ++i) {
    const OperandSchedule& operand = shape.operands[i];
    for (int part = 0; part < operand.parts; ++part) {
      INGOT_RETURN_IF_ERROR(CheckFragment(
          product, {static_cast<int>(i), operand.columns ? a.column : a.index,
                    a.set * operand.sets / shape.sets, part}));
    }
  }
  return absl::OkStatus();
}

int Simulation::LoadsBetween(size_t after, size_t before) const {
  int loads = 0;
  for (size_t at = after + 1; at < before; ++at) {
    if (ActionAt(at).kind == Action::kLoad) ++loads;
  }
  return std::min(loads, kMostOutstanding);
}

void Simulation::FillCounts() {
  std::vector<Action> step;
  const size_t first = events_.size() / (events_.back().step + 1) * middle_;
  for (size_t i = 0; i < schedule_->step.size(); ++i) {
    Action action = schedule_->step[i];
    if (action.kind == Action::kLoadsDone) {
      const auto it = youngest_.find(first + i);
      if (it == youngest_.end()) continue;
      action.count = LoadsBetween(it->second, first + i);
    }
    step.push_back(action);
  }
  // What earlier steps' waits would have covered is the prologue's to wait for.
  for (const auto& [wait, load] : youngest_) {
    if (wait >= first) break;
    const int left = LoadsBetween(load, first);
    schedule_->prologue_left = schedule_->prologue_left < 0
                                   ? left
                                   : std::min(schedule_->prologue_left, left);
  }
  schedule_->step = std::move(step);
}

absl::Status Simulation::Run() {
  INGOT_RETURN_IF_ERROR(CheckComplete());
  for (size_t at = 0; at < events_.size(); ++at) {
    // Reads of the step before belong to the prologue where they run ahead.
    const Action& a = ActionAt(at);
    if (a.kind == Action::kRead &&
        (IsSteady(at) || (a.ahead > 0 && events_[at].step == middle_ - 1))) {
      INGOT_RETURN_IF_ERROR(CheckLanded(at));
    }
    if (!IsSteady(at)) continue;
    if (a.kind == Action::kLoad) INGOT_RETURN_IF_ERROR(CheckFree(at));
    if (a.kind == Action::kProduct) INGOT_RETURN_IF_ERROR(CheckOperands(at));
  }
  FillCounts();
  return absl::OkStatus();
}

}  // namespace

int ScheduleShape::Blocks(bool columns) const {
  for (const OperandSchedule& operand : operands) {
    if (operand.columns == columns) return operand.fragments;
  }
  return 0;
}

int Schedule::MaxAhead(Action::Kind kind) const {
  int most = 0;
  for (const Action& a : step) {
    if (a.kind == kind) most = std::max(most, a.ahead);
  }
  return most;
}

int Schedule::MinAhead(Action::Kind kind) const {
  int least = MaxAhead(kind);
  for (const Action& a : step) {
    if (a.kind == kind) least = std::min(least, a.ahead);
  }
  return least;
}

absl::Status FinishSchedule(Schedule* schedule) {
  return Simulation(schedule).Run();
}

}  // namespace ingot::tile
