// The kernel of rmsnorm: a row by one wave, or by one workgroup. What it
// computes and what the parameters mean stands in rmsnorm_plan.cc.
#include <algorithm>
#include <optional>

#include "compiler/ops/body.h"
#include "compiler/tile/reduce.h"
#include "compiler/tile/row.h"

namespace ingot {
namespace {

using namespace tile;  // NOLINT: a body is written in the words of the builder

// Vectors of a row that a thread keeps in registers from the first pass to the
// second: 64 VGPRs, half of what 1024 threads have. Those beyond are read
// again.
constexpr int kKept = 16;
// Up to this many f32 values a thread, keeping them converted costs less than
// converting twice.
constexpr int kKeptConverted = 32;
// Vectors in flight when they are read again, and when the weight is read.
constexpr int kBatch = 4;
// Vectors of x and as many of the residual in flight before they are added.
constexpr int kAddedBatch = 8;
// Up to this many vectors a thread, the weight is read together with the row,
// so that its latency passes while the sum is made.
constexpr int kEarlyWeight = 4;

struct RmsNorm {
  Builder& b;
  Type elem;
  Type weight_elem;
  bool has_weight;
  bool has_rstd;
  bool has_residual;
  bool has_residual_out;
  int align;
  int rows_per_workgroup;
  RowLayout layout;
};

absl::StatusOr<RmsNorm> Read(Builder& b) {
  INGOT_ASSIGN_OR_RETURN(const Type elem, TypeOf(b.String("dtype")));
  const std::string weight = b.String("dtype_weight");
  const bool has_weight = weight != "none";
  INGOT_ASSIGN_OR_RETURN(const Type weight_elem,
                         has_weight ? TypeOf(weight) : elem);
  RmsNorm norm{b, elem, weight_elem, has_weight};
  norm.has_rstd = b.Int("has_rstd") != 0;
  norm.has_residual = b.Int("has_residual") != 0;
  norm.has_residual_out = b.Int("has_residual_out") != 0;
  norm.align = static_cast<int>(b.Int("align"));
  norm.rows_per_workgroup = static_cast<int>(b.Int("rows_per_workgroup"));
  norm.layout = {b.Int("n"), static_cast<int>(b.Int("threads")),
                 16 / elem.Bytes()};
  return norm;
}

// The row of this wave or workgroup, scalar. Workgroups are numbered in two
// dimensions, since one holds at most 2^32 work-items.
Value RowIndex(const RmsNorm& norm) {
  Builder& b = norm.b;
  Value group = b.BlockY() * b.Int("groups_x") + b.BlockX();
  if (norm.rows_per_workgroup == 1) return group;
  return group * norm.rows_per_workgroup + b.WaveId();
}

// The part of the row `index` of an operand of rows that is the thread's.
Row RowOf(const RmsNorm& norm, const char* name, const char* stride,
          Value index, Value thread) {
  Builder& b = norm.b;
  Value start = Offset(
      b.Arg(name), Convert(index, kI64) * b.Arg(stride) * norm.elem.Bytes());
  return Row(b, norm.layout, norm.elem, start, thread, norm.align);
}

// Sums of squares grow in independent chains, which keeps their rounding errors
// small and the multipliers busy.
class SumOfSquares {
 public:
  void Add(Value x) {
    Value& sum = sums_[next_++ % 2];
    sum = sum.valid() ? Fma(x, x, sum) : x * x;
  }
  Value Total() const {
    Value sum = sums_[1].valid() ? sums_[0] + sums_[1] : sums_[0];
    return ReduceLanes(sum, Sum);
  }
  bool empty() const { return next_ == 0; }

 private:
  Value sums_[2];
  int next_ = 0;
};

// 1 / sqrt(v), also where v is so small that v_rsq_f32 would take it for zero.
Value InverseSqrt(Value v) {
  Value tiny = v < 0x1p-100;
  Value scaled = v * Select(tiny, v.Like(0x1p64), v.Like(1.0));
  return Rsq(scaled) * Select(tiny, v.Like(0x1p32), v.Like(1.0));
}

class RowKernel {
 public:
  RowKernel(const RmsNorm& norm, Value row)
      : norm_(norm),
        b_(norm.b),
        row_(row),
        thread_(norm.rows_per_workgroup == 1 ? b_.ThreadX() : b_.LaneId()),
        x_(RowOf(norm, "x", "ldx", row, thread_)),
        y_(RowOf(norm, "y", "ldy", row, thread_)),
        weight_(b_, norm.layout, norm.weight_elem,
                norm.has_weight ? b_.Arg("weight") : b_.Arg("x"), thread_,
                norm.has_weight ? static_cast<int>(b_.Int("align_weight"))
                                : norm.align) {
    if (norm.has_residual) {
      residual_.emplace(RowOf(norm, "residual", "ldr", row, thread_));
    }
    if (norm.has_residual_out) {
      residual_out_.emplace(RowOf(norm, "residual_out", "ldro", row, thread_));
    }
  }

  void Build() {
    LoadRow();
    Value rstd = InverseRms();
    if (norm_.has_rstd) StoreRstd(rstd);
    WriteRow(rstd);
  }

 private:
  // What is normalised: x, or x + residual rounded to their type.
  Value Stream(Value x, Value residual) {
    if (!residual.valid()) return x;
    Value sum = Convert(x, kF32) + Convert(residual, kF32);
    return Unconverted(Convert(sum, norm_.elem));
  }

  Value LoadStream(int i) {
    Value x = x_.Load(i);
    return Stream(x, residual_ ? residual_->Load(i) : Value());
  }

  void LoadRow() {
    const bool has_tail = norm_.layout.tail() > 0;
    Value x, residual;
    if (has_tail) {
      x = x_.LoadTail();
      if (residual_) residual = residual_->LoadTail();
    }
    const int count = std::min(norm_.layout.per_thread(), kKept);
    const int batch = residual_ ? kAddedBatch : kKept;
    for (int first = 0; first < count; first += batch) {
      LoadKept(first, std::min(first + batch, count));
    }
    if (has_tail) tail_ = Stream(x, residual);
    if (residual_out_) StoreKept();
  }

  // All loads are on their way before the first is waited for.
  void LoadKept(int first, int last) {
    Values x, residual;
    for (int i = first; i < last; ++i) x.push_back(x_.Load(i));
    for (int i = first; i < last && residual_; ++i) {
      residual.push_back(residual_->Load(i));
    }
    if (norm_.has_weight && norm_.layout.per_thread() <= kEarlyWeight) {
      for (int i = first; i < last; ++i) {
        early_weight_.push_back(weight_.Load(i));
      }
    }
    for (int i = 0; i < last - first; ++i) {
      kept_.push_back(Stream(x[i], residual_ ? residual[i] : Value()));
    }
  }

  // Early, so that the writes pass while the sum is made. x and residual may be
  // written over: these vectors of them are not read again.
  void StoreKept() {
    for (size_t i = 0; i < kept_.size(); ++i) {
      residual_out_->Store(kept_[i], static_cast<int>(i));
    }
    if (norm_.layout.tail() > 0) residual_out_->StoreTail(tail_);
  }

  Value Weight(int i) {
    return early_weight_.empty() ? weight_.Load(i) : early_weight_[i];
  }

  Value InverseRms() {
    SumOfSquares sum;
    for (Value x : kept_) sum.Add(Convert(x, kF32));
    for (int i = kKept; i < norm_.layout.per_thread(); ++i) {
      sum.Add(Convert(LoadStream(i), kF32));
    }
    Value total = sum.empty() ? b_.F32(0) : sum.Total();
    if (norm_.layout.tail() > 0) {
      Value x = Convert(tail_, kF32);
      total = Fma(x, x, total);
    }
    total = norm_.rows_per_workgroup == 1
                ? ReduceWorkgroup(b_, total, b_.F32(0), Sum)
                : ReduceWave(b_, total, Sum);
    Value mean = total * (1.0 / static_cast<double>(norm_.layout.n));
    return InverseSqrt(mean + b_.Arg("eps", kF32));
  }

  void StoreRstd(Value rstd) {
    b_.If(thread_ == 0, [&] {
      b_.Store(rstd, Offset(b_.Arg("rstd"), Convert(row_, kI64) * 4));
    });
  }

  // Without this the optimiser keeps the converted values of what it has seen
  // converted, two registers for one.
  Value Unconverted(Value x) {
    if (x.type().lanes == 1) return x;
    const int converted = norm_.layout.per_thread() * norm_.layout.lanes;
    if (norm_.elem == kF32 || converted <= kKeptConverted) return x;
    return Bitcast(b_.Opaque(Bitcast(x, Vec(kI32, 4)), RegisterClass::kVgpr),
                   x.type());
  }

  void WriteRow(Value rstd) {
    const int count = norm_.layout.per_thread();
    for (int first = 0; first < count; first += kBatch) {
      const int last = std::min(first + kBatch, count);
      Values x, weight;
      for (int i = first; i < last; ++i) {
        x.push_back(i < kKept ? Unconverted(kept_[i]) : LoadStream(i));
        if (norm_.has_weight) weight.push_back(Weight(i));
      }
      for (int i = first; i < last; ++i) {
        const Value w = norm_.has_weight ? weight[i - first] : Value();
        if (residual_out_ && i >= kKept) residual_out_->Store(x[i - first], i);
        y_.Store(Scale(x[i - first], rstd, w), i);
      }
    }
    if (norm_.layout.tail() > 0) {
      const Value w = norm_.has_weight ? weight_.LoadTail() : Value();
      y_.StoreTail(Scale(tail_, rstd, w));
    }
  }

  Value Scale(Value x, Value rstd, Value weight) {
    Value y = Convert(x, kF32) * Splat(rstd, x.type().lanes);
    if (weight.valid()) y = y * Convert(weight, kF32);
    return Convert(y, norm_.elem);
  }

  const RmsNorm& norm_;
  Builder& b_;
  const Value row_;
  const Value thread_;
  Row x_, y_, weight_;
  std::optional<Row> residual_, residual_out_;
  Values kept_;
  Values early_weight_;
  Value tail_;
};

}  // namespace

absl::Status Build_rmsnorm(Builder& b, const KernelSpec& spec) {
  INGOT_ASSIGN_OR_RETURN(const RmsNorm norm, Read(b));
  INGOT_RETURN_IF_ERROR(b.status());
  Value row = RowIndex(norm);
  b.If(row < b.Arg("rows"), [&] { RowKernel(norm, row).Build(); });
  return absl::OkStatus();
}

}  // namespace ingot
