// The kernel of rmsnorm: a row by one wave, or by one workgroup. What it
// computes and what the parameters mean stands in rmsnorm_plan.cc.
#include "compiler/ops/rmsnorm_body.h"

#include <algorithm>
#include <optional>

#include "compiler/ops/rmsnorm_body_output.h"
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

RmsNormQuant QuantOf(Builder& b) {
  const std::string name = b.String("quant");
  if (name == "fp8_row") return RmsNormQuant::kFp8Row;
  if (name == "mxfp8") return RmsNormQuant::kMxFp8;
  return name == "mxfp4" ? RmsNormQuant::kMxFp4 : RmsNormQuant::kNone;
}

// The row of this wave or workgroup, scalar. Workgroups are numbered in two
// dimensions, since one holds at most 2^32 work-items.
Value RowIndex(Builder& b, int rows_per_workgroup) {
  Value group = b.BlockY() * b.Int("groups_x") + b.BlockX();
  if (rows_per_workgroup == 1) return group;
  return group * rows_per_workgroup + b.WaveId();
}

absl::StatusOr<RmsNorm> Read(Builder& b) {
  INGOT_ASSIGN_OR_RETURN(const Type elem, TypeOf(b.String("dtype")));
  const std::string weight = b.String("dtype_weight");
  const bool has_weight = weight != "none";
  INGOT_ASSIGN_OR_RETURN(const Type weight_elem,
                         has_weight ? TypeOf(weight) : elem);
  RmsNorm norm{b, elem, weight_elem, QuantOf(b), has_weight};
  norm.has_rstd = b.Int("has_rstd") != 0;
  norm.has_residual = b.Int("has_residual") != 0;
  norm.has_residual_out = b.Int("has_residual_out") != 0;
  norm.align = static_cast<int>(b.Int("align"));
  norm.rows_per_workgroup = static_cast<int>(b.Int("rows_per_workgroup"));
  norm.layout = {b.Int("n"), static_cast<int>(b.Int("threads")),
                 16 / elem.Bytes()};
  norm.row = RowIndex(b, norm.rows_per_workgroup);
  norm.thread = norm.rows_per_workgroup == 1 ? b.ThreadX() : b.LaneId();
  return norm;
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
  explicit RowKernel(const RmsNorm& norm)
      : norm_(norm),
        b_(norm.b),
        x_(norm.Open("x", "ldx")),
        y_(norm),
        weight_(b_, norm.layout, norm.weight_elem,
                norm.has_weight ? b_.Arg("weight") : b_.Arg("x"), norm.thread,
                norm.has_weight ? static_cast<int>(b_.Int("align_weight"))
                                : norm.align) {
    if (norm.has_residual) residual_.emplace(norm.Open("residual", "ldr"));
    if (norm.has_residual_out) {
      residual_out_.emplace(norm.Open("residual_out", "ldro"));
    }
  }

  void Build() {
    LoadRow();
    Value rstd = InverseRms();
    if (norm_.has_rstd) StoreOfRow("rstd", rstd);
    if (norm_.quant == RmsNormQuant::kFp8Row) {
      WriteRow(RowFactor(rstd));
    } else {
      WriteRow(rstd);
    }
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
    total = Reduce(total, Sum);
    Value mean = total * (1.0 / static_cast<double>(norm_.layout.n));
    return InverseSqrt(mean + b_.Arg("eps", kF32));
  }

  // Over the threads that share the row; zero is what `combine` does not
  // notice.
  Value Reduce(Value value, Combine combine) {
    if (norm_.rows_per_workgroup > 1) return ReduceWave(b_, value, combine);
    return ReduceWorkgroup(b_, value, b_.F32(0), combine);
  }

  void StoreOfRow(const char* operand, Value value) {
    b_.If(norm_.thread == 0, [&] {
      b_.Store(value, Offset(b_.Arg(operand), Convert(norm_.row, kI64) * 4));
    });
  }

  // The largest magnitude of the row before it is multiplied by 1 / rms. Other
  // than when the row is written, all of it stays in registers meanwhile: a few
  // vectors of the weight are loaded at a time, and one is worked on.
  Value LargestMagnitude() {
    const int count = norm_.layout.per_thread();
    Value most = b_.Zero(Vec(kF32, norm_.layout.lanes));
    for (int first = 0; first < count; first += kBatch) {
      const int last = std::min(first + kBatch, count);
      Values weight;
      for (int i = first; i < last && norm_.has_weight; ++i) {
        weight.push_back(Weight(i));
      }
      for (int i = first; i < last; ++i) {
        const Value w = norm_.has_weight ? weight[i - first] : Value();
        most = Maximum(most, Abs(Weighted(Element(i), w)));
        b_.SchedBarrier();
      }
    }
    Value all = ReduceLanes(most, Maximum);
    if (norm_.layout.tail() > 0) {
      all = Maximum(all, Abs(Weighted(tail_, TailWeight())));
    }
    return Reduce(all, Maximum);
  }

  // What the row is multiplied by so that its largest magnitude is that of
  // e4m3fn; 1 / rms drops out. The scale of a row of zeros is not zero either.
  Value RowFactor(Value rstd) {
    constexpr double kLargest = 448;
    Value most = LargestMagnitude();
    most = Maximum(most, most.Like(0x1p-100));
    StoreOfRow("scale", most / kLargest * rstd);
    return kLargest / most;
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

  // The thread's vector `i` of what is normalised.
  Value Element(int i) {
    if (i >= kKept) return LoadStream(i);
    return kept_[i] = Unconverted(kept_[i]);
  }

  Value TailWeight() { return norm_.has_weight ? weight_.LoadTail() : Value(); }

  void WriteRow(Value factor) {
    const int count = norm_.layout.per_thread();
    for (int first = 0; first < count; first += kBatch) {
      const int last = std::min(first + kBatch, count);
      Values x, weight;
      for (int i = first; i < last; ++i) {
        x.push_back(Element(i));
        if (norm_.has_weight) weight.push_back(Weight(i));
      }
      for (int i = first; i < last; ++i) {
        const Value w = norm_.has_weight ? weight[i - first] : Value();
        if (residual_out_ && i >= kKept) residual_out_->Store(x[i - first], i);
        y_.Store(Scale(x[i - first], factor, w), i);
      }
    }
    if (norm_.layout.tail() > 0) {
      y_.StoreTail(Scale(tail_, factor, TailWeight()));
    }
  }

  static Value Weighted(Value x, Value weight) {
    Value y = Convert(x, kF32);
    return weight.valid() ? y * Convert(weight, kF32) : y;
  }

  static Value Scale(Value x, Value factor, Value weight) {
    Value y = Convert(x, kF32) * Splat(factor, x.type().lanes);
    return weight.valid() ? y * Convert(weight, kF32) : y;
  }

  const RmsNorm& norm_;
  Builder& b_;
  Row x_;
  RmsNormOutput y_;
  Row weight_;
  std::optional<Row> residual_, residual_out_;
  Values kept_;
  Values early_weight_;
  Value tail_;
};

}  // namespace

Value RmsNorm::Start(const char* name, const char* stride, int bytes) const {
  return Offset(b.Arg(name), Convert(row, kI64) * b.Arg(stride) * bytes);
}

Row RmsNorm::Open(const char* name, const char* stride) const {
  return Row(b, layout, elem, Start(name, stride, elem.Bytes()), thread, align);
}

absl::Status Build_rmsnorm(Builder& b, const KernelSpec&) {
  INGOT_ASSIGN_OR_RETURN(const RmsNorm norm, Read(b));
  INGOT_RETURN_IF_ERROR(b.status());
  b.If(norm.row < b.Arg("rows"), [&] { RowKernel(norm).Build(); });
  return absl::OkStatus();
}

}  // namespace ingot
