// Builds one gfx950 kernel in MLIR and reads like the algorithm: control flow
// is scf, arithmetic arith and math, memory llvm, machine operations rocdl.
// Order of operations in the program is the order of calls here, which a hot
// loop relies on. No MLIR header is needed to use it.
//
//   absl::Status BuildCopy(Builder& b, const KernelSpec& spec) {
//     Value i = b.BlockX() * 256 + b.ThreadX();
//     b.If(i < b.Arg("n"), [&] {
//       Value x = b.Load(kF32, Offset(b.Arg("x"), i * 4));
//       b.Store(x * 2.0, Offset(b.Arg("y"), i * 4));
//     });
//     return absl::OkStatus();
//   }
//
// Not thread-safe. Errors: see value.h.
#ifndef INGOT_COMPILER_TILE_BUILDER_H_
#define INGOT_COMPILER_TILE_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/kernel_spec.h"
#include "compiler/tile/value.h"
#include "proto/status.h"

namespace mlir {
class MLIRContext;
}

namespace ingot::tile {

// A set of memory accesses known to be disjoint from accesses marked as outside
// it. A promise to the optimiser, not a fence.
struct AliasScope {
  const void* ir = nullptr;
};

struct Access {
  int align = 0;  // bytes; 0: the size of the type, at most 16
  bool nontemporal = false;
  bool invariant = false;  // loads: nobody writes this while the kernel runs
  AliasScope in;           // the access belongs to this scope
  AliasScope not_in;       // and never touches what belongs to that one
};

// Bits of a buffer or LDS-DMA access's aux operand.
enum CachePolicy : int {
  kCached = 0,
  kStream = 2,  // nt: used once
};

// What a wait leaves outstanding; -1 does not wait for that counter.
struct WaitCounts {
  int vm = -1;    // 0..63
  int lgkm = -1;  // 0..15
};

// Kinds of instructions, for SchedBarrier (what may cross) and SchedGroup.
enum SchedMask : int {
  kSchedNothing = 0,
  kSchedValu = 0x2,
  kSchedSalu = 0x4,
  kSchedMfma = 0x8,
  kSchedVmemRead = 0x20,
  kSchedVmemWrite = 0x40,
  kSchedDsRead = 0x100,
  kSchedDsWrite = 0x200,
};

enum class RegisterClass : uint8_t { kVgpr, kAgpr, kSgpr };

struct MfmaShape {
  int m = 0;
  int n = 0;
  int k = 0;
};

// Element format of a scaled MFMA operand. The numbers are the hardware's.
enum class MxFormat : int {
  kE4M3 = 0,
  kE5M2 = 1,
  kE2M3 = 2,
  kE3M2 = 3,
  kE2M1 = 4,
};

// An MX operand: 32 elements a lane (8 x i32 for 8 bits, 6 x i32, 4 x i32) and
// the byte of `scale` (i32, e8m0) that scales them.
struct MxOperand {
  MxFormat format = MxFormat::kE4M3;
  Value elements;
  Value scale;
  int scale_byte = 0;
};

// What one round of a loop gives: whether to go round again, and the values
// carried into the next round (into the results after the last one).
struct Round {
  Value again;
  Values carried;
};

class Builder {
 public:
  // An empty kernel with the arguments of `spec`, which must outlive the
  // builder, in a context that has the dialects of compiler/passes/pipeline.h
  // loaded.
  Builder(mlir::MLIRContext* context, const KernelSpec& spec);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // The first misuse, or OK.
  const absl::Status& status() const { return status_; }
  // Records a failure unless one is recorded; for building blocks.
  void Fail(absl::Status status);

  const KernelSpec& spec() const { return spec_; }
  // Baked parameters; a missing one is recorded as misuse and gives 0 or "".
  int64_t Int(absl::string_view param);
  std::string String(absl::string_view param);

  // --- constants and launch values
  Value I32(int64_t number);
  Value I64(int64_t number);
  Value F32(double number);
  Value Bool(bool value);
  Value Const(Type type, int64_t number);
  Value Const(Type type, double number);
  // All bits zero; for floats, vectors too.
  Value Zero(Type type);
  // The launch argument of that name: kGlobal for operands and workspace, i32
  // or i64 by its size for the rest. With a type: its bits as that type.
  Value Arg(absl::string_view name);
  Value Arg(absl::string_view name, Type type);
  bool HasArg(absl::string_view name) const;

  Value ThreadX();
  Value BlockX();
  Value BlockY();
  Value BlockZ();
  // Lane of the wave, and the wave of the workgroup as a scalar. Workgroups are
  // one-dimensional where these are used.
  Value LaneId();
  Value WaveId();

  // --- control flow
  void If(Value condition, absl::FunctionRef<void()> then);
  // Both sides give as many values, of the same types.
  Values If(Value condition, absl::FunctionRef<Values()> then,
            absl::FunctionRef<Values()> otherwise);
  // A bottom-tested loop, one block when `round` has no control flow in it. Its
  // phis stand in the order of `initial`.
  Values Repeat(absl::Span<const Value> initial,
                absl::FunctionRef<Round(absl::Span<const Value>)> round);
  // For i = begin; i < end; i += step (signed, step > 0), also zero times: a
  // guard around Repeat.
  Values For(Value begin, Value end, int64_t step,
             absl::Span<const Value> initial,
             absl::FunctionRef<Values(Value, absl::Span<const Value>)> body);

  // --- memory
  Value Load(Type type, Value pointer, const Access& access = {});
  void Store(Value value, Value pointer, const Access& access = {});
  // The workgroup's LDS: a new object each time. All of them together must fit
  // the spec's lds_bytes, else FAILED_PRECONDITION.
  Value Lds(absl::string_view name, int64_t bytes, int align = 16);
  // A bounds-checked view of `bytes` (i64) from `base`: loads beyond give 0,
  // stores beyond are dropped. Offsets into it are 32-bit, unsigned.
  Value Buffer(Value base, Value bytes);
  // Offsets in bytes, i32: one per lane, one scalar. A constant added to
  // `lane_offset` inside a loop becomes the instruction's offset up to 4095.
  Value BufferLoad(Type type, Value buffer, Value lane_offset,
                   Value scalar_offset, CachePolicy policy = kCached,
                   const Access& access = {});
  void BufferStore(Value value, Value buffer, Value lane_offset,
                   Value scalar_offset, CachePolicy policy = kCached,
                   const Access& access = {});
  // LDS-DMA: each lane's `bytes` (1, 2, 4, 12 or 16) from the buffer to `lds`
  // (scalar) + bytes * lane; 1 and 2 as a zero-extended word each, at 4 * lane.
  // `offset`, 0 to 4095, is the instruction's own and moves both places. Counts
  // in vm until it lands.
  void BufferLoadToLds(Value buffer, Value lds, int bytes, Value lane_offset,
                       Value scalar_offset, int offset = 0,
                       CachePolicy policy = kCached, const Access& access = {});
  // ds_read_b64_tr_b16, or for 2 x i32 ds_read_b64_tr_b8: 4 x 16 or 8 x 8 bits,
  // transposed among 16 lanes.
  Value ReadTransposed(Type type, Value lds, const Access& access = {});
  AliasScope NewAliasScope(absl::string_view name);
  // Device-scope atomic add, relaxed; the value before.
  Value AtomicAdd(Value pointer, Value value);

  // --- order and waiting
  void Wait(WaitCounts counts);
  // s_barrier alone: no fence, no wait.
  void Barrier();
  // Barrier with workgroup release and acquire: LDS written before it is seen
  // after it. Waits for outstanding LDS-DMA.
  void SyncWorkgroup();
  // Release (acquire) at device scope: what was written before is seen by
  // others who see a later atomic.
  void DeviceRelease();
  void DeviceAcquire();
  void SchedBarrier(int mask = kSchedNothing);
  void SchedGroup(int mask, int count, int group = 0);
  void SetPriority(int priority);  // 0..3

  // --- lanes
  Value ReadFirstLane(Value value);  // i32 or i64
  // Lane `lane` of the wave, for constants or scalars.
  Value ReadLane(Value value, Value lane);
  // The value of another lane by a DPP control word (CDNA4 ISA, DPP): 32-bit
  // types. Lanes without a source, or outside the row and bank masks, give
  // `old`.
  Value Dpp(Value old, Value value, int control, int row_mask = 0xf,
            int bank_mask = 0xf, bool zero_out_of_range = false);
  Value Swizzle(Value value, int pattern);         // ds_swizzle_b32
  Value Bpermute(Value value, Value source_lane);  // ds_bpermute_b32
  // Exchanges a's upper half with b's lower half (of 32, of each 16 lanes
  // pair).
  std::pair<Value, Value> Permlane32Swap(Value a, Value b);
  std::pair<Value, Value> Permlane16Swap(Value a, Value b);
  Value Ballot(Value predicate);  // i64

  // --- matrix
  // C + A * B. Shape and element type of `a` choose the instruction: bf16 or
  // f16 16x16x32, 32x32x16, 16x16x16, 32x32x8; i8 16x16x64, 32x32x32 (as 4 x
  // i32); f32 16x16x4, 32x32x2; f64 16x16x4.
  Value Mfma(MfmaShape shape, Value a, Value b, Value c);
  // 16x16x128 and 32x32x64.
  Value MfmaScaled(MfmaShape shape, const MxOperand& a, const MxOperand& b,
                   Value c);

  // --- keeping the final code in hand
  // The same value out of an empty asm: the optimiser knows nothing of it.
  // Pinned ones stay where they are even if unused or loop-invariant.
  Value Opaque(Value value, RegisterClass registers, bool pinned = false);
  // Any LLVM intrinsic by its full, mangled name. No result when `result` has
  // no lanes.
  Value Intrinsic(absl::string_view name, absl::Span<const Value> args,
                  Type result);

 private:
  friend struct BuilderAccess;
  struct State;

  const KernelSpec& spec_;
  absl::Status status_;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_BUILDER_H_
