// The kernel of silu_mul: a part of a row by one workgroup, or a row by each
// wave. What the parameters mean stands in silu_mul_plan.cc.
#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ops/body.h"
#include "compiler/tile/activation.h"
#include "compiler/tile/row.h"

namespace ingot {
namespace {

using namespace tile;  // NOLINT: a body is written in the words of the builder

struct SiluMul {
  Builder& b;
  Type elem;
  Activation act;
  bool interleaved = false;
  int align = 0;
  RowLayout layout;  // of y
  Value row;
  Value thread;  // of those that share the row

  Row Open(const char* name, const char* stride, Type type) const {
    Value start =
        Offset(b.Arg(name), Convert(row, kI64) * b.Arg(stride) * elem.Bytes());
    return Row(b, layout, type, start, thread, std::max(align, type.Bytes()));
  }
};

// Elements of gate and up as they come from memory: apart, or each pair of them
// as one integer.
struct Loaded {
  Value gate;
  Value up;
  Value pairs;
};

class Inputs {
 public:
  explicit Inputs(const SiluMul& op) : op_(op) {
    if (op.interleaved) {
      pairs_.emplace(op.Open("x", "ldx", op.elem.Bytes() == 2 ? kI32 : kI64));
    } else {
      gate_.emplace(op.Open("gate", "ldg", op.elem));
      up_.emplace(op.Open("up", "ldu", op.elem));
    }
  }

  Loaded Load(int i) {
    if (pairs_) return {.pairs = pairs_->Load(i)};
    Value gate = gate_->Load(i);
    return {gate, up_->Load(i)};
  }
  Loaded LoadTail() {
    if (pairs_) return {.pairs = pairs_->LoadTail()};
    Value gate = gate_->LoadTail();
    return {gate, up_->LoadTail()};
  }

  Value Result(const Loaded& in) const {
    const Value gate = in.pairs.valid() ? Half(in.pairs, 0) : in.gate;
    const Value up = in.pairs.valid() ? Half(in.pairs, 1) : in.up;
    Value y = Activate(op_.act, Convert(gate, kF32)) * Convert(up, kF32);
    return Convert(y, op_.elem);
  }

 private:
  // The first or second of each pair.
  Value Half(Value pairs, int which) const {
    const int count = pairs.type().lanes;
    Value both = Bitcast(pairs, Vec(op_.elem, 2 * count));
    std::vector<int> lanes(count);
    for (int i = 0; i < count; ++i) lanes[i] = 2 * i + which;
    return Shuffle(both, both, lanes);
  }

  const SiluMul& op_;
  std::optional<Row> gate_, up_, pairs_;
};

// All loads are on their way before the first is waited for.
void BuildRow(const SiluMul& op) {
  Inputs inputs(op);
  Row y = op.Open("y", "ldy", op.elem);
  const int count = op.layout.per_thread();
  std::vector<Loaded> loaded;
  for (int i = 0; i < count; ++i) loaded.push_back(inputs.Load(i));
  const bool has_tail = op.layout.tail() > 0;
  Loaded tail;
  if (has_tail) tail = inputs.LoadTail();
  for (int i = 0; i < count; ++i) y.Store(inputs.Result(loaded[i]), i);
  if (has_tail) y.StoreTail(inputs.Result(tail));
}

}  // namespace

absl::Status Build_silu_mul(Builder& b, const KernelSpec&) {
  INGOT_ASSIGN_OR_RETURN(const Type elem, TypeOf(b.String("dtype")));
  INGOT_ASSIGN_OR_RETURN(const Activation act, ActivationOf(b.String("act")));
  const int rows = static_cast<int>(b.Int("rows_per_workgroup"));
  const int chunks = static_cast<int>(b.Int("chunks"));
  const int threads = static_cast<int>(b.Int("threads"));
  SiluMul op{b, elem, act};
  op.interleaved = b.Int("interleaved") != 0;
  op.align = static_cast<int>(b.Int("align"));
  op.layout = {b.Int("n"), threads * chunks, 16 / elem.Bytes()};
  INGOT_RETURN_IF_ERROR(b.status());
  // The workgroups of a row stand together, so that it is read as one stream.
  Value group = b.BlockY() * b.Int("groups_x") + b.BlockX() / chunks;
  if (rows == 1) {
    op.row = group;
    op.thread = b.BlockX() % chunks * threads + b.ThreadX();
  } else {
    op.row = group * rows + b.WaveId();
    op.thread = b.LaneId();
  }
  b.If(op.row < b.Arg("rows"), [&] { BuildRow(op); });
  return absl::OkStatus();
}

}  // namespace ingot
