// How vector instructions read and write 64 lanes.
//
// A handler is a template over the types of its operands and a function of one
// lane: sources come as pointers to 64 dwords (a register, or a broadcast in a
// buffer), results go to a buffer, and the buffer is written under EXEC.
// Modifiers (neg, abs, op_sel, SDWA, DPP, omod, clamp, flushing) are applied
// out of line, and only where an instruction has them.
#ifndef TESTS_EMULATOR_INTERP_LANES_H_
#define TESTS_EMULATOR_INTERP_LANES_H_

#include <cstdint>
#include <cstring>

#include "tests/emulator/interp/number.h"
#include "tests/emulator/isa.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

inline constexpr uint64_t kAllLanes = ~uint64_t{0};

struct alignas(64) Buffer {
  uint32_t w[2][kLanes];
};

struct Lanes {
  const uint32_t* lo;
  const uint32_t* hi;
};

// kBits32 and the like take the modifiers of floats and are never flushed.
enum class TypeKind {
  kInt32,
  kInt16,
  kF16,
  kF32,
  kInt64,
  kF64,
  kBits32,
  kBits16,
  kBits64
};

// Operand types. V is what a lane's function sees.
struct U32 {
  using V = uint32_t;
  static constexpr TypeKind kKind = TypeKind::kInt32;
  static constexpr SrcKind kSrc = SrcKind::kB32;
  static constexpr int kWords = 1;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) { return s.lo[l]; }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = v;
  }
};
struct I32 : U32 {
  using V = int32_t;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return static_cast<V>(s.lo[l]);
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = static_cast<uint32_t>(v);
  }
};
struct F32 {
  using V = float;
  static constexpr TypeKind kKind = TypeKind::kF32;
  static constexpr SrcKind kSrc = SrcKind::kF32;
  static constexpr int kWords = 1;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return FloatOf(s.lo[l]);
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = BitsOf(v);
  }
};
// The bits of an f32, with its modifiers.
struct R32 : F32 {
  using V = uint32_t;
  static constexpr TypeKind kKind = TypeKind::kBits32;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) { return s.lo[l]; }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = v;
  }
};
struct U16 {
  using V = uint32_t;
  static constexpr TypeKind kKind = TypeKind::kInt16;
  static constexpr SrcKind kSrc = SrcKind::kB16;
  static constexpr int kWords = 1;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return s.lo[l] & 0xffff;
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = v & 0xffff;
  }
};
struct I16 : U16 {
  using V = int32_t;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return static_cast<int16_t>(s.lo[l]);
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = static_cast<uint32_t>(v) & 0xffff;
  }
};
struct F16 {
  using V = float;
  static constexpr TypeKind kKind = TypeKind::kF16;
  static constexpr SrcKind kSrc = SrcKind::kF16;
  static constexpr int kWords = 1;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return HalfToFloat(s.lo[l] & 0xffff);
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = FloatToHalf(v);
  }
};
// The bits of an f16, with its modifiers.
struct R16 : F16 {
  using V = uint32_t;
  static constexpr TypeKind kKind = TypeKind::kBits16;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return s.lo[l] & 0xffff;
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = v & 0xffff;
  }
};
struct U64 {
  using V = uint64_t;
  static constexpr TypeKind kKind = TypeKind::kInt64;
  static constexpr SrcKind kSrc = SrcKind::kB64;
  static constexpr int kWords = 2;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return s.lo[l] | uint64_t{s.hi[l]} << 32;
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    b.w[0][l] = static_cast<uint32_t>(v);
    b.w[1][l] = static_cast<uint32_t>(v >> 32);
  }
};
struct I64 : U64 {
  using V = int64_t;
  static constexpr SrcKind kSrc = SrcKind::kI64;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return static_cast<V>(U64::Get(s, l));
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    U64::Put(b, l, static_cast<uint64_t>(v));
  }
};
struct F64 {
  using V = double;
  static constexpr TypeKind kKind = TypeKind::kF64;
  static constexpr SrcKind kSrc = SrcKind::kF64;
  static constexpr int kWords = 2;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return DoubleOf(U64::Get(s, l));
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    U64::Put(b, l, BitsOf(v));
  }
};
struct R64 : F64 {
  using V = uint64_t;
  static constexpr TypeKind kKind = TypeKind::kBits64;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return U64::Get(s, l);
  }
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    U64::Put(b, l, v);
  }
};

// Out of line, in lanes.cc.
void ModifySource(const Wave& w, const Inst& i, int n, TypeKind kind,
                  Buffer& buffer, Lanes* s);
void FinishResult(const Wave& w, const Inst& i, TypeKind kind, Buffer& result,
                  uint64_t* mask);
uint64_t DppWriteMask(const Wave& w, const Inst& i);

INGOT_EMULATOR_INLINE uint64_t Uniform(const Wave& w, const Operand& o,
                                       bool wide) {
  switch (o.kind) {
    case Operand::kSgpr:
      return wide ? w.S64(o.reg) : w.s[o.reg];
    case Operand::kConst:
      return o.value;
    case Operand::kVccz:
      return w.S64(kVcc) == 0;
    case Operand::kExecz:
      return w.exec() == 0;
    case Operand::kScc:
      return w.scc;
    default:
      return 0;
  }
}

INGOT_EMULATOR_INLINE void Fill(uint32_t* out, uint32_t value) {
  for (int l = 0; l < kLanes; ++l) out[l] = value;
}

INGOT_EMULATOR_INLINE bool Flushes(const Wave& w, TypeKind kind) {
  if (kind == TypeKind::kF32) return w.flush32;
  return (kind == TypeKind::kF16 || kind == TypeKind::kF64) && w.flush64;
}

template <class T>
INGOT_EMULATOR_INLINE Lanes Fetch(const Wave& w, const Inst& i, int n,
                                  Buffer& buffer) {
  const Operand& o = i.src[n];
  Lanes s;
  if (o.kind == Operand::kVgpr) {
    s.lo = w.v[o.reg];
    s.hi = T::kWords == 2 ? w.v[o.reg + 1] : nullptr;
  } else {
    const uint64_t value = Uniform(w, o, T::kWords == 2);
    Fill(buffer.w[0], static_cast<uint32_t>(value));
    if constexpr (T::kWords == 2)
      Fill(buffer.w[1], static_cast<uint32_t>(value >> 32));
    s = {buffer.w[0], buffer.w[1]};
  }
  if (!i.plain || Flushes(w, T::kKind)) [[unlikely]] {
    ModifySource(w, i, n, T::kKind, buffer, &s);
  }
  return s;
}

// Writes `words` rows of results to the VGPRs from `reg` on, under `mask`.
INGOT_EMULATOR_INLINE void WriteLanes(Wave& w, int reg, const uint32_t* row,
                                      uint64_t mask) {
  uint32_t* d = w.v[reg];
  if (mask == kAllLanes) {
    std::memcpy(d, row, sizeof(uint32_t) * kLanes);
    return;
  }
  for (int l = 0; l < kLanes; ++l) d[l] = (mask >> l & 1) != 0 ? row[l] : d[l];
}

template <class T>
INGOT_EMULATOR_INLINE void Store(Wave& w, const Inst& i, Buffer& r) {
  uint64_t mask = w.exec();
  constexpr bool kHalf =
      T::kKind == TypeKind::kInt16 || T::kKind == TypeKind::kF16;
  if (!i.plain || Flushes(w, T::kKind) ||
      (kHalf && (i.op->flags & kPreservesHigh) != 0)) [[unlikely]] {
    FinishResult(w, i, T::kKind, r, &mask);
  }
  WriteLanes(w, i.dst, r.w[0], mask);
  if constexpr (T::kWords == 2) WriteLanes(w, i.dst + 1, r.w[1], mask);
}

// Integer results that can saturate under clamp: V is exact.
template <class Base, int64_t kMin, int64_t kMax>
struct Wide : Base {
  using V = int64_t;
  static constexpr bool kSaturates = true;
  INGOT_EMULATOR_INLINE static void Put(Buffer& b, int l, V v) {
    Base::Put(b, l, static_cast<typename Base::V>(v));
  }
  INGOT_EMULATOR_INLINE static V Clamp(V v) {
    return v < kMin ? kMin : v > kMax ? kMax : v;
  }
};
using WideU32 = Wide<U32, 0, 0xffffffffll>;
using WideI32 = Wide<I32, -0x80000000ll, 0x7fffffffll>;
using WideU16 = Wide<U16, 0, 0xffff>;
using WideI16 = Wide<I16, -0x8000, 0x7fff>;

template <class T>
concept Saturates = requires { T::kSaturates; };

// Applies `put(lane, clamp?)` style computation for a result type.
template <class D, class F>
INGOT_EMULATOR_INLINE void Compute(const Wave& w, const Inst& i, Buffer& r,
                                   F f) {
  if constexpr (D::kKind == TypeKind::kF16 && __is_same(typename D::V, float)) {
    if (w.special16) [[unlikely]] {
      for (int l = 0; l < kLanes; ++l)
        r.w[0][l] = EncodeHalf(f(l), w.round64, w.saturate16);
      return;
    }
  }
  if constexpr (Saturates<D>) {
    if (i.clamp) {
      for (int l = 0; l < kLanes; ++l) D::Put(r, l, D::Clamp(f(l)));
      return;
    }
  }
  for (int l = 0; l < kLanes; ++l)
    D::Put(r, l, static_cast<typename D::V>(f(l)));
}

template <class D, class A, auto kFunction>
void Unary(Wave& w, const Inst& i) {
  Buffer b0, r;
  const Lanes a = Fetch<A>(w, i, 0, b0);
  Compute<D>(w, i, r, [&](int l) { return kFunction(A::Get(a, l)); });
  Store<D>(w, i, r);
}

template <class D, class A, class B, auto kFunction>
void Binary(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<A>(w, i, 0, b0), b = Fetch<B>(w, i, 1, b1);
  Compute<D>(w, i, r,
             [&](int l) { return kFunction(A::Get(a, l), B::Get(b, l)); });
  Store<D>(w, i, r);
}

template <class D, class A, class B, class C, auto kFunction>
void Ternary(Wave& w, const Inst& i) {
  Buffer b0, b1, b2, r;
  const Lanes a = Fetch<A>(w, i, 0, b0), b = Fetch<B>(w, i, 1, b1),
              c = Fetch<C>(w, i, 2, b2);
  Compute<D>(w, i, r, [&](int l) {
    return kFunction(A::Get(a, l), B::Get(b, l), C::Get(c, l));
  });
  Store<D>(w, i, r);
}

// A lane mask operand (src2 of v_cndmask and of the carry instructions).
INGOT_EMULATOR_INLINE uint64_t MaskOperand(const Wave& w, const Operand& o) {
  return Uniform(w, o, true);
}

// 64 bytes of 0 or 1 become a mask.
INGOT_EMULATOR_INLINE uint64_t PackMask(const uint8_t* bits) {
  uint64_t mask = 0;
  for (int n = 0; n < 8; ++n) {
    uint64_t eight;
    std::memcpy(&eight, bits + n * 8, 8);
    mask |= (eight * 0x0102040810204080u >> 56) << (n * 8);
  }
  return mask;
}

// Lines of the opcode tables. The types give operand kinds and register counts.
template <class T>
constexpr uint32_t kRounding =
    T::kKind == TypeKind::kF32 ? uint32_t{kMayRound}
    : T::kKind == TypeKind::kF16 || T::kKind == TypeKind::kF64
        ? uint32_t{kRounds64}
        : 0u;

template <class D, class A, auto kFunction>
constexpr OpInfo Op1(uint16_t opcode, const char* name, uint32_t flags = 0,
                     OpClass cls = OpClass::kValu) {
  OpInfo o{opcode, name, &Unary<D, A, kFunction>, cls, flags};
  o.flags |= kRounding<D>;
  o.dst_words = D::kWords;
  o.src_words[0] = A::kWords;
  o.src_kind[0] = A::kSrc;
  return o;
}

template <class D, class A, class B, auto kFunction>
constexpr OpInfo Op2(uint16_t opcode, const char* name, uint32_t flags = 0) {
  OpInfo o{opcode, name, &Binary<D, A, B, kFunction>, OpClass::kValu, flags};
  o.flags |= kRounding<D>;
  o.dst_words = D::kWords;
  o.src_words[0] = A::kWords;
  o.src_words[1] = B::kWords;
  o.src_kind[0] = A::kSrc;
  o.src_kind[1] = B::kSrc;
  return o;
}

template <class D, class A, class B, class C, auto kFunction>
constexpr OpInfo Op3(uint16_t opcode, const char* name, uint32_t flags = 0) {
  OpInfo o{opcode, name, &Ternary<D, A, B, C, kFunction>, OpClass::kValu,
           flags};
  o.flags |= kRounding<D>;
  o.dst_words = D::kWords;
  o.src_words[0] = A::kWords;
  o.src_words[1] = B::kWords;
  o.src_words[2] = C::kWords;
  o.src_kind[0] = A::kSrc;
  o.src_kind[1] = B::kSrc;
  o.src_kind[2] = C::kSrc;
  return o;
}

// A line with a handler of its own.
struct Shape {
  uint8_t dst_words = 1;
  SrcKind kind[3] = {SrcKind::kNone, SrcKind::kNone, SrcKind::kNone};
  uint8_t words[3] = {1, 1, 1};
};
constexpr OpInfo OpX(uint16_t opcode, const char* name, Handler run,
                     const Shape& shape, uint32_t flags = 0,
                     OpClass cls = OpClass::kValu) {
  OpInfo o{opcode, name, run, cls, flags};
  o.dst_words = shape.dst_words;
  for (int n = 0; n < 3; ++n) {
    o.src_kind[n] = shape.kind[n];
    o.src_words[n] = shape.words[n];
  }
  return o;
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_LANES_H_
