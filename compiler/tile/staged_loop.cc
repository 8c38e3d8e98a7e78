// The k loop for matrices that LDS-DMA cannot take: loads of whatever width the
// rows allow into registers, masked element by element, then into one of two
// stages of LDS. The next step's loads are issued before the MFMAs of this one.
#include "compiler/tile/matmul_step.h"

namespace ingot::tile {
namespace {

class StagedLoop {
 public:
  StagedLoop(Builder& builder, const MatmulShape& shape, Panel& a, int width_a,
             Panel& b, int width_b, Value k);
  Values Run();

 private:
  Values Load(Value step);
  void Write(const Values& data, Value stage);
  void Multiply(Value stage, Values* sums);

  Builder& b_;
  MatmulShape shape_;
  Panel* panels_[2];
  int widths_[2];
  StepReader reader_;
  Value k_;
  Value lds_;
  Value thread_lds_;
};

StagedLoop::StagedLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                       int width_a, Panel& b, int width_b, Value k)
    : b_(builder),
      shape_(shape),
      panels_{&a, &b},
      widths_{width_a, width_b},
      reader_(builder, shape, a.shape(), b.shape()),
      k_(k) {
  lds_ = b_.Lds("steps", int64_t{shape.stage_bytes()} * 2);
  thread_lds_ = b_.ThreadX() * 16;
}

Values StagedLoop::Load(Value step) {
  Values data;
  const Value left = k_ - step * shape_.k;
  const Value valid = Max(Min(left, b_.I32(shape_.k)), b_.I32(0));
  for (int i = 0; i < 2; ++i) {
    const Panel::Feed feed = panels_[i]->Partial(step, valid);
    for (int piece = 0; piece < panels_[i]->shape().pieces(); ++piece) {
      data.push_back(panels_[i]->Load(feed, piece, widths_[i]));
    }
  }
  return data;
}

void StagedLoop::Write(const Values& data, Value stage) {
  size_t at = 0;
  int offset = 0;
  for (Panel* panel : panels_) {
    for (int piece = 0; piece < panel->shape().pieces(); ++piece) {
      panel->Write(data[at++], piece, lds_, offset, thread_lds_ + stage);
    }
    offset += panel->shape().bytes();
  }
  b_.SyncWorkgroup();
}

void StagedLoop::Multiply(Value stage, Values* sums) {
  const StepBases bases = reader_.Bases(lds_, stage);
  StepParts parts = reader_.NewParts();
  for (int set = 0; set < reader_.sets(); ++set) {
    reader_.ReadSet(bases, set, {}, &parts);
    reader_.MultiplySet(set, parts, sums);
  }
}

Values StagedLoop::Run() {
  const Value zero = b_.I32(0);
  Write(Load(zero), zero);
  Values initial = {zero, zero};
  const Values sums = ZeroAccumulators(b_, shape_);
  initial.insert(initial.end(), sums.begin(), sums.end());
  const Values results =
      b_.Repeat(initial, [&](absl::Span<const Value> carried) {
        const Value next = carried[0] + 1;
        const Value stage = carried[1];
        const Value other = b_.I32(shape_.stage_bytes()) - stage;
        Values sums(carried.begin() + 2, carried.end());
        // Beyond the end everything is masked and reads nothing.
        const Values data = Load(next);
        Multiply(stage, &sums);
        Write(data, other);
        Round round;
        round.again = next * shape_.k < k_;
        round.carried = {next, other};
        round.carried.insert(round.carried.end(), sums.begin(), sums.end());
        return round;
      });
  if (results.size() < sums.size()) return {};
  return Values(results.begin() + 2, results.end());
}

}  // namespace

Values RunStagedLoop(Builder& builder, const MatmulShape& shape, Panel& a,
                     int width_a, Panel& b, int width_b, Value k) {
  return StagedLoop(builder, shape, a, width_a, b, width_b, k).Run();
}

Values RunStagedLoop(Builder& builder, const MatmulShape& shape,
                     const MatmulOperand& a, int width_a,
                     const MatmulOperand& b, int width_b) {
  Panel left(builder, PanelShapeOf(shape.panel_a(), a), a.source);
  Panel right(builder, PanelShapeOf(shape.panel_b(), b), b.source);
  return RunStagedLoop(builder, shape, left, width_a, right, width_b,
                       a.source.k);
}

}  // namespace ingot::tile
