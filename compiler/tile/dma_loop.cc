// The pipelined k loop: issues what a schedule says. A round of the loop is
// `stages` steps: the stage is a constant everywhere. The number of steps is
// rounded up to whole rounds.
//
// Sums do not care about order, and only what the prologue loads can be masked
// without code in the loop. So the steps are taken in the order
//
//   the last, maybe partial one | the first | the second | ... | zeros
//
// and the loop runs whole steps only, without a tail after it. Steps beyond the
// end are zeros that cost no request to memory.
#include <algorithm>
#include <optional>

#include "compiler/tile/matmul_step.h"

namespace ingot::tile {
namespace {

// That the counter of memory operations can tell apart.
constexpr int kMostOutstanding = 63;

class DmaLoop {
 public:
  DmaLoop(Builder& builder, const MatmulShape& shape, const MatmulOperand& a,
          const MatmulOperand& b, const KRange& range);
  Values Run();

 private:
  // Where a panel's next whole steps start, one value for each of the steps
  // that the current round asks for; panels that advance alike share one.
  struct Cursor {
    Panel* panel = nullptr;
    Values at;
  };
  struct FedPanel {
    Panel panel;
    size_t cursor = 0;
    int offset = 0;                                 // in the stage
    std::vector<std::optional<Panel::Feed>> feeds;  // like Cursor::at
  };

  absl::Status Plan();
  void AddPanels(const MatmulOperand& operand);
  void FindCursors();
  void StartRound(int first_position, const Values& cursors);
  Value CursorAt(size_t cursor, int index);
  Value PositionAt(int index);
  const Panel::Feed& FeedOf(FedPanel& panel, int position);
  void Load(const Action& action, int position);
  void Read(const Action& action, int step);
  void Prologue();
  void Lag(bool before);
  void Do(const Action& action, int step);
  Round Body(absl::Span<const Value> carried);
  std::vector<size_t> CarriedSlots() const;
  int WaveLdsBytes() const;
  int LoadsLeft() const;
  int stride() const { return shape_.waves_k; }

  Builder& b_;
  MatmulShape shape_;
  KRange range_;
  Value k_;
  Value last_;  // step; what position 0 is
  Schedule schedule_;
  std::vector<FedPanel> panels_;  // of A, then of B
  std::vector<size_t> operands_;  // place of an operand's first panel
  std::vector<Cursor> cursors_;
  int unit_ = 1;  // of the first cursor, which tells the place: of one step
  std::optional<StepReader> reader_;
  Value lds_;
  Value wave_lds_;  // the wave's own, or all of it
  Access dma_;
  Access read_;
  std::vector<StepBases> stage_bases_;
  // The state at the current place in the program.
  int first_position_ = 0;        // of Cursor::at
  std::vector<StepParts> parts_;  // of each step of the round, and the next
  Values sums_;
};

DmaLoop::DmaLoop(Builder& builder, const MatmulShape& shape,
                 const MatmulOperand& a, const MatmulOperand& b,
                 const KRange& range)
    : b_(builder), shape_(shape), range_(range), k_(a.source.k) {
  if (shape.waves_k > 1) {
    const Value wave = b_.WaveId();
    range_.first = range.first + wave;
    range_.count = (range.count - wave + (shape.waves_k - 1)) / shape.waves_k;
    // The division is unsigned.
    range_.count = Select(range.count > wave, range_.count, b_.I32(0));
  }
  last_ = range_.first + (range_.count - 1) * stride();
  lds_ = b_.Lds("steps", shape.lds_bytes());
  const bool is_private = shape.waves_k > 1;
  wave_lds_ = is_private ? Offset(lds_, b_.WaveId() * WaveLdsBytes()) : lds_;
  dma_.in = b_.NewAliasScope("dma");
  read_.not_in = dma_.in;
  AddPanels(a);
  AddPanels(b);
  FindCursors();
  reader_.emplace(b_, shape, panels_[operands_[0]].panel.shape(),
                  panels_[operands_[1]].panel.shape());
  for (int stage = 0; stage < shape.stages; ++stage) {
    stage_bases_.push_back(
        reader_->Bases(wave_lds_, stage * shape.stage_bytes()));
  }
  parts_.assign(shape.stages + 1, reader_->NewParts());
}

void DmaLoop::AddPanels(const MatmulOperand& operand) {
  const bool is_a = operands_.empty();
  PanelShape shape =
      PanelShapeOf(is_a ? shape_.panel_a() : shape_.panel_b(), operand);
  shape.run = shape.LdsRun();
  operands_.push_back(panels_.size());
  int offset = is_a ? 0 : shape_.panels() * shape_.panel_a().bytes();
  for (int panel = 0; panel < shape.panels; ++panel) {
    panels_.push_back({Panel(b_, shape, operand.source, panel), 0, offset});
    offset += shape.bytes();
  }
}

// Matrices that are contiguous along k advance by a constant, which tells how
// far the loop is.
void DmaLoop::FindCursors() {
  const auto add = [&](bool constant) {
    for (FedPanel& fed : panels_) {
      const int step = fed.panel.CursorStep();
      if ((step != 0) != constant) continue;
      const auto same = std::find_if(
          cursors_.begin(), cursors_.end(), [&](const Cursor& cursor) {
            return step != 0 && cursor.panel->CursorStep() == step;
          });
      fed.cursor = same - cursors_.begin();
      if (same == cursors_.end()) cursors_.push_back({&fed.panel, {}});
    }
  };
  add(/*constant=*/true);
  if (cursors_.empty()) {
    cursors_.push_back({});  // a count of steps
  } else {
    unit_ = cursors_[0].panel->CursorStep();
  }
  add(/*constant=*/false);
}

void DmaLoop::StartRound(int first_position, const Values& cursors) {
  first_position_ = first_position;
  for (size_t i = 0; i < cursors_.size(); ++i) cursors_[i].at = {cursors[i]};
  for (FedPanel& fed : panels_) fed.feeds.clear();
}

Value DmaLoop::CursorAt(size_t cursor, int index) {
  Cursor& c = cursors_[cursor];
  while (static_cast<int>(c.at.size()) <= index) {
    const Value at = c.at.back();
    c.at.push_back(c.panel == nullptr ? at + stride()
                                      : c.panel->Advance(at, stride()));
  }
  return c.at[index];
}

Value DmaLoop::PositionAt(int index) { return CursorAt(0, index); }

// Of a whole step. Position p is step first + (p - 1) * stride.
const Panel::Feed& DmaLoop::FeedOf(FedPanel& fed, int position) {
  const size_t index = position - first_position_;
  if (fed.feeds.size() <= index) fed.feeds.resize(index + 1);
  std::optional<Panel::Feed>& feed = fed.feeds[index];
  if (!feed) {
    const Value live = PositionAt(index) < last_ * unit_;
    feed = fed.panel.Whole(CursorAt(fed.cursor, index), live);
  }
  return *feed;
}

void DmaLoop::Load(const Action& action, int position) {
  FedPanel& fed = panels_[operands_[action.operand] + action.panel];
  const int stage = position % shape_.stages;
  const int offset = stage * shape_.stage_bytes() + fed.offset;
  fed.panel.Dma(FeedOf(fed, position), action.index, wave_lds_, offset, dma_);
}

void DmaLoop::Read(const Action& action, int step) {
  const int of = step + action.ahead;
  reader_->Read(stage_bases_[of % shape_.stages], action, read_, &parts_[of]);
  // Reads of 8 bytes are not to be merged: two of them are of two fragments,
  // whose registers are not neighbours.
  const Element& element = action.operand == 0 ? shape_.a : shape_.b;
  if (element.bits() == 6) b_.SchedBarrier();
}

void DmaLoop::Prologue() {
  Values cursors;
  for (const Cursor& cursor : cursors_) {
    cursors.push_back(cursor.panel == nullptr
                          ? range_.first
                          : cursor.panel->Cursor(range_.first));
  }
  StartRound(1, cursors);
  const Value valid =
      Select(range_.count > 0, Min(k_ - last_ * shape_.k, b_.I32(shape_.k)),
             b_.I32(0));
  std::vector<Panel::Feed> partial;
  for (FedPanel& fed : panels_) {
    partial.push_back(fed.panel.Partial(last_, valid));
  }
  for (int step = -schedule_.MaxAhead(Action::kLoad); step < 0; ++step) {
    for (const Action& action : schedule_.step) {
      const int position = step + action.ahead;
      if (action.kind != Action::kLoad || position < 0) continue;
      if (position > 0) {
        Load(action, position);
        continue;
      }
      const size_t at = operands_[action.operand] + action.panel;
      panels_[at].panel.Dma(partial[at], action.index, wave_lds_,
                            panels_[at].offset, dma_);
    }
  }
  if (schedule_.prologue_left >= 0) b_.Wait({.vm = schedule_.prologue_left});
  if (schedule_.shared) b_.Barrier();
  Lag(/*before=*/true);
  for (const Action& action : schedule_.step) {
    if (action.kind == Action::kRead && action.ahead == 1) Read(action, -1);
  }
  if (schedule_.MaxAhead(Action::kRead) > 0) b_.Wait({.lgkm = 0});
  sums_ = ZeroAccumulators(b_, shape_);
}

// One half of the waves meets a barrier more before the loop, the other one
// after it.
void DmaLoop::Lag(bool before) {
  if (schedule_.lag == 0) return;
  const Value late = b_.WaveId() >= shape_.waves() / 2;
  b_.If(before ? late : b_.WaveId() < shape_.waves() / 2,
        [&] { b_.Barrier(); });
}

void DmaLoop::Do(const Action& action, int step) {
  switch (action.kind) {
    case Action::kProduct:
      return reader_->Multiply(action, parts_[step], &sums_);
    case Action::kRead:
      return Read(action, step);
    case Action::kLoad:
      return Load(action, step + action.ahead);
    case Action::kReadsDone:
      return b_.Wait({.lgkm = 0});
    case Action::kLoadsDone:
      return b_.Wait({.vm = action.count});
    case Action::kBarrier:
      return b_.Barrier();
    case Action::kPriority:
      return b_.SetPriority(action.count);
  }
}

// Of the fragments that are read a step ahead.
std::vector<size_t> DmaLoop::CarriedSlots() const {
  std::vector<size_t> slots;
  for (const Action& action : schedule_.step) {
    if (action.kind == Action::kRead && action.ahead > 0 &&
        reader_->IsRead(action)) {
      slots.push_back(reader_->Slot(action));
    }
  }
  return slots;
}

Round DmaLoop::Body(absl::Span<const Value> carried) {
  const int ahead = schedule_.MinAhead(Action::kLoad);
  size_t at = cursors_.size();
  StartRound(ahead, Values(carried.begin(), carried.begin() + at));
  for (const size_t slot : CarriedSlots()) parts_[0][slot] = carried[at++];
  for (Value& sum : sums_) sum = carried[at++];
  for (int step = 0; step < shape_.stages; ++step) {
    for (const Action& action : schedule_.step) Do(action, step);
  }
  Round round;
  for (size_t i = 0; i < cursors_.size(); ++i) {
    round.carried.push_back(CursorAt(i, shape_.stages));
  }
  // Whether position `stages`, from now on 0, is before the end.
  round.again = round.carried[0] < (last_ + ahead * stride()) * unit_;
  for (const size_t slot : CarriedSlots())
    round.carried.push_back(parts_[shape_.stages][slot]);
  round.carried.insert(round.carried.end(), sums_.begin(), sums_.end());
  return round;
}

// Of a wave that shares k.
int DmaLoop::WaveLdsBytes() const {
  return shape_.lds_bytes() / shape_.waves_k;
}

// How many of the last round's loads may be outstanding behind the loop: where
// waves share k, those of stages that their sums do not take.
int DmaLoop::LoadsLeft() const {
  if (shape_.waves_k == 1) return kMostOutstanding;
  const int sums = shape_.m * shape_.n * 4;
  const int taken = (sums + shape_.stage_bytes() - 1) / shape_.stage_bytes();
  int pieces = 0;
  for (const FedPanel& fed : panels_) pieces += fed.panel.shape().pieces();
  return std::clamp((shape_.stages - taken) * pieces, 0, kMostOutstanding);
}

absl::Status DmaLoop::Plan() {
  const ScheduleShape shape = reader_->Schedule(shape_.stages);
  if (shape_.waves_k > 1) {
    INGOT_ASSIGN_OR_RETURN(schedule_, PrivateSchedule(shape));
  } else if (shape_.ping_pong()) {
    INGOT_ASSIGN_OR_RETURN(schedule_, PingPongSchedule(shape));
  } else {
    INGOT_ASSIGN_OR_RETURN(schedule_, InterleavedSchedule(shape));
  }
  return absl::OkStatus();
}

Values DmaLoop::Run() {
  const absl::Status planned = Plan();
  if (!planned.ok()) {
    b_.Fail(planned);
    return {};
  }
  Prologue();
  Values initial;
  const int ahead = schedule_.MinAhead(Action::kLoad);
  for (size_t i = 0; i < cursors_.size(); ++i) {
    initial.push_back(CursorAt(i, ahead - 1));
  }
  for (const size_t slot : CarriedSlots()) initial.push_back(parts_[0][slot]);
  initial.insert(initial.end(), sums_.begin(), sums_.end());
  const Values results = b_.Repeat(
      initial, [&](absl::Span<const Value> carried) { return Body(carried); });
  // No DMA may outlive the workgroup or meet another use of LDS.
  const int left = shape_.leaves_loads ? LoadsLeft() : 0;
  if (left < kMostOutstanding) b_.Wait({.vm = left});
  Lag(/*before=*/false);
  if (results.size() < sums_.size()) return {};
  const Values sums(results.end() - sums_.size(), results.end());
  if (shape_.waves_k == 1) return sums;
  return SumOverWaves(b_, shape_, lds_, WaveLdsBytes(), read_, sums);
}

}  // namespace

void AwaitLoads(Builder& builder, const MatmulShape& shape, int stores) {
  if (!shape.leaves_loads) return;
  builder.Wait({.vm = std::min(stores, kMostOutstanding)});
}

Values RunDmaLoop(Builder& builder, const MatmulShape& shape,
                  const MatmulOperand& a, const MatmulOperand& b,
                  const KRange& range) {
  return DmaLoop(builder, shape, a, b, range).Run();
}

Values RunDmaLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                  Panel& b, Value k) {
  const auto operand = [](const Panel& panel) {
    return MatmulOperand{panel.source(), panel.shape().k_contiguous,
                         panel.shape().paired, panel.shape().shuffled};
  };
  return RunDmaLoop(builder, shape, operand(a), operand(b),
                    AllOfK(builder, shape, k));
}

}  // namespace ingot::tile
