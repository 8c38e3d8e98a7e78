// The pipelined k loop. LDS holds `stages` steps; step t lives in stage
// t % stages. Of each step, with sets of fragments 0..last, a wave issues
//
//   for set 0 .. last - 2:  MFMAs of the set    + reads of the next one
//   a  first half of the MFMAs of set last - 1  + reads of set last
//      lgkmcnt(0), barrier: every wave has read the step, its stage is free
//   b  second half of set last - 1              + half of the DMA of step t +
//   stages c  first half of set last                   + the other half
//      vmcnt(what was issued after step t + 1), barrier: step t + 1 is there
//   d  second half of set last                  + reads of set 0 of step t + 1
//      lgkmcnt(0)
//
// so that a DMA has (stages - 1) steps of MFMAs to land. A round of the loop is
// `stages` steps: the stage is a constant everywhere. The number of steps is
// rounded up to whole rounds.
//
// Sums do not care about order, and only the steps that the prologue loads can
// be masked without code in the loop. So the steps are taken in the order
//
//   nothing (zeros, as many as fill up a round) | the last, maybe partial one |
//   the first | the second | ...
//
// and the loop runs whole steps only, without a tail after it. It asks for
// `stages` steps beyond the end; those read what is there already, and nobody
// multiplies them.
#include "compiler/tile/matmul_step.h"

namespace ingot::tile {
namespace {

class DmaLoop {
 public:
  DmaLoop(Builder& builder, const MatmulShape& shape, Panel& a, Panel& b,
          Value k);
  Values Run();

 private:
  void Prologue();
  Round Body(absl::Span<const Value> carried);
  void Step(int step, const StepBases& bases, const StepBases& next);
  std::vector<Emit> LoadStep(int step);
  void PartialStep(int step);

  Builder& b_;
  MatmulShape shape_;
  Panel* panels_[2];
  StepReader reader_;
  Value lds_;
  Value wave_lds_;
  Value steps_;    // that k needs
  Value padding_;  // steps of zeros before them
  Value last_valid_k_;
  Access dma_;
  Access read_;
  LoadCounter loads_;
  std::vector<StepBases> stage_bases_;
  // The state at the current place in the program.
  Value cursors_[2];
  Value left_;  // whole steps not asked for yet
  Values parts_[2];
  Values sums_;
};

DmaLoop::DmaLoop(Builder& builder, const MatmulShape& shape, Panel& a, Panel& b,
                 Value k)
    : b_(builder),
      shape_(shape),
      panels_{&a, &b},
      reader_(builder, shape, a, b) {
  lds_ = b_.Lds("steps", int64_t{shape.stage_bytes()} * shape.stages);
  wave_lds_ = b_.WaveId() * 1024;
  steps_ = (k + (shape.k - 1)) / shape.k;
  padding_ = (0 - steps_) & (shape.stages - 1);
  last_valid_k_ = k - (steps_ - 1) * shape.k;
  dma_.in = b_.NewAliasScope("dma");
  read_.not_in = dma_.in;
  for (int stage = 0; stage < shape.stages; ++stage) {
    stage_bases_.push_back(reader_.Bases(lds_, stage * shape.stage_bytes()));
  }
}

// Step `step` of the prologue's, by the order above.
void DmaLoop::PartialStep(int step) {
  const Value whole = padding_ < step;
  const Value valid =
      Select(whole, b_.I32(shape_.k),
             Select(padding_ == step, last_valid_k_, b_.I32(0)));
  const Value from = Select(whole, b_.I32(step - 1) - padding_, steps_ - 1);
  int offset = step * shape_.stage_bytes();
  for (Panel* panel : panels_) {
    const Panel::Feed feed = panel->Partial(from, valid);
    for (int piece = 0; piece < panel->shape().pieces(); ++piece) {
      panel->Dma(feed, piece, lds_, offset, wave_lds_, dma_);
      loads_.Issued(step);
    }
    offset += panel->shape().bytes();
  }
}

void DmaLoop::Prologue() {
  for (int step = 0; step < shape_.stages; ++step) PartialStep(step);
  const Value next = b_.I32(shape_.stages - 1) - padding_;
  left_ = steps_ - 1 - next;
  for (int i = 0; i < 2; ++i) {
    const Value live = left_ > 0;
    cursors_[i] = panels_[i]->Cursor(Select(live, next, b_.I32(0)));
  }
  b_.Wait({.vm = loads_.LeftAfter(0)});
  b_.Barrier();
  for (const Emit& read :
       reader_.Reads(stage_bases_[0], 0, read_, &parts_[0])) {
    read();
  }
  b_.Wait({.lgkm = 0});
  sums_ = ZeroAccumulators(b_, shape_);
}

// The DMA of a whole step in the loop; moves the state on.
std::vector<Emit> DmaLoop::LoadStep(int step) {
  std::vector<Emit> loads;
  const int stage = step % shape_.stages;
  int offset = stage * shape_.stage_bytes();
  const Value live = left_ > 0;
  for (int i = 0; i < 2; ++i) {
    Panel* panel = panels_[i];
    const Panel::Feed feed = panel->Whole(cursors_[i], live);
    for (int piece = 0; piece < panel->shape().pieces(); ++piece) {
      loads.push_back([=, this] {
        panel->Dma(feed, piece, lds_, offset, wave_lds_, dma_);
        loads_.Issued(step);
      });
    }
    offset += panel->shape().bytes();
    cursors_[i] = panel->Advance(cursors_[i]);
  }
  left_ = left_ - 1;
  return loads;
}

template <typename T>
std::vector<T> Half(const std::vector<T>& list, int which) {
  const auto middle = list.begin() + list.size() / 2;
  return which == 0 ? std::vector<T>(list.begin(), middle)
                    : std::vector<T>(middle, list.end());
}

void DmaLoop::Step(int step, const StepBases& bases, const StepBases& next) {
  const int last = reader_.sets() - 1;
  for (int set = 0; set < last - 1; ++set) {
    const std::vector<Emit> multiplies =
        reader_.Multiplies(set, &parts_[set % 2], &sums_);
    Interleave(multiplies,
               reader_.Reads(bases, set + 1, read_, &parts_[(set + 1) % 2]));
    b_.Wait({.lgkm = 0});
  }
  const std::vector<Emit> before =
      reader_.Multiplies(last - 1, &parts_[(last - 1) % 2], &sums_);
  const std::vector<Emit> final =
      reader_.Multiplies(last, &parts_[last % 2], &sums_);
  Interleave(Half(before, 0),
             reader_.Reads(bases, last, read_, &parts_[last % 2]));
  b_.Wait({.lgkm = 0});
  b_.Barrier();
  const std::vector<Emit> loads = LoadStep(step + shape_.stages);
  Interleave(Half(before, 1), Half(loads, 0));
  Interleave(Half(final, 0), Half(loads, 1));
  b_.Wait({.vm = loads_.LeftAfter(step + 1)});
  b_.Barrier();
  Interleave(Half(final, 1), reader_.Reads(next, 0, read_, &parts_[0]));
  b_.Wait({.lgkm = 0});
}

Round DmaLoop::Body(absl::Span<const Value> carried) {
  size_t at = 0;
  for (Value& cursor : cursors_) cursor = carried[at++];
  left_ = carried[at++];
  const Value rounds = carried[at++] - 1;
  for (Value& part : parts_[0]) part = carried[at++];
  for (Value& sum : sums_) sum = carried[at++];
  for (int step = 0; step < shape_.stages; ++step) {
    Step(step, stage_bases_[step], stage_bases_[(step + 1) % shape_.stages]);
  }
  Round round;
  round.again = rounds > 0;
  round.carried = {cursors_[0], cursors_[1], left_, rounds};
  const auto carry = [&](const Values& values) {
    round.carried.insert(round.carried.end(), values.begin(), values.end());
  };
  carry(parts_[0]);
  carry(sums_);
  return round;
}

Values DmaLoop::Run() {
  Prologue();
  Values initial = {cursors_[0], cursors_[1], left_,
                    (steps_ + (shape_.stages - 1)) / shape_.stages};
  initial.insert(initial.end(), parts_[0].begin(), parts_[0].end());
  initial.insert(initial.end(), sums_.begin(), sums_.end());
  const Values results = b_.Repeat(
      initial, [&](absl::Span<const Value> carried) { return Body(carried); });
  // No DMA may outlive the workgroup or meet another use of LDS.
  b_.Wait({.vm = 0});
  if (results.size() < sums_.size()) return {};
  return Values(results.end() - sums_.size(), results.end());
}

}  // namespace

Values RunDmaLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                  Panel& b, Value k) {
  return DmaLoop(builder, shape, a, b, k).Run();
}

}  // namespace ingot::tile
