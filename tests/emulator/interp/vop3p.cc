// VOP3P: packed 16-bit and 32-bit arithmetic, mixed precision, dot products.
//
// op_sel chooses, per source, the half that the low result takes, op_sel_hi the
// half of the high result; Inst::neg and Inst::abs hold neg_lo and neg_hi.
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/minmax.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

using U = uint32_t;
using I = int32_t;
using L = int64_t;

// A source as 64 dwords, unmodified.
INGOT_EMULATOR_INLINE const uint32_t* Raw(const Wave& w, const Inst& i, int n,
                                          Buffer& buffer) {
  if (i.src[n].kind == Operand::kVgpr) return w.v[i.src[n].reg];
  Fill(buffer.w[0], static_cast<U>(Uniform(w, i.src[n], false)));
  return buffer.w[0];
}

// How one half of the result sees a source.
struct Half {
  int shift;
  U flip;
  INGOT_EMULATOR_INLINE U Get(U word) const {
    return (word >> shift & 0xffff) ^ flip;
  }
};
INGOT_EMULATOR_INLINE Half HalfOf(const Inst& i, int n, bool high,
                                  bool is_float) {
  const uint8_t select = high ? i.op_sel_hi : i.op_sel;
  const uint8_t negate = high ? i.abs : i.neg;
  return {(select >> n & 1) != 0 ? 16 : 0,
          is_float && (negate >> n & 1) != 0 ? 0x8000u : 0u};
}

// To [0, 1]; a NaN becomes 0 where MODE has DX10_CLAMP.
template <class T>
INGOT_EMULATOR_INLINE T Clamped(const Wave& w, T v) {
  if (v != v && (w.mode >> 8 & 1) == 0) return v;
  return v > 0 ? (v < 1 ? v : static_cast<T>(1)) : static_cast<T>(0);
}

// MODE's denormal fields: whether sources and results lose theirs.
INGOT_EMULATOR_INLINE bool Loses16(const Wave& w, int bit) {
  return (w.mode >> (6 + bit) & 1) == 0;
}
INGOT_EMULATOR_INLINE bool Loses32(const Wave& w, int bit) {
  return (w.mode >> (4 + bit) & 1) == 0;
}

struct HalfInt16 {
  using V = I;
  static constexpr bool kFloat = false;
  INGOT_EMULATOR_INLINE static V From(U h) { return static_cast<int16_t>(h); }
  INGOT_EMULATOR_INLINE static U To(const Wave&, const Inst& i, L v) {
    if (i.clamp) v = v < -32768 ? -32768 : v > 32767 ? 32767 : v;
    return static_cast<U>(v) & 0xffff;
  }
};
struct HalfUint16 {
  using V = U;
  static constexpr bool kFloat = false;
  INGOT_EMULATOR_INLINE static V From(U h) { return h; }
  INGOT_EMULATOR_INLINE static U To(const Wave&, const Inst& i, L v) {
    if (i.clamp) v = v < 0 ? 0 : v > 65535 ? 65535 : v;
    return static_cast<U>(v) & 0xffff;
  }
};
struct HalfFloat16 {
  using V = float;
  static constexpr bool kFloat = true;
  INGOT_EMULATOR_INLINE static V From(U h) { return HalfToFloat(h); }
  INGOT_EMULATOR_INLINE static U To(const Wave& w, const Inst& i, float v) {
    if (i.clamp) v = Clamped(w, v);
    if (w.special16) [[unlikely]] {
      return EncodeHalf(v, w.round64, w.saturate16);
    }
    return FloatToHalf(v);
  }
};
// Fused results arrive rounded to odd in double.
struct HalfFused16 : HalfFloat16 {
  INGOT_EMULATOR_INLINE static U To(const Wave& w, const Inst& i, double v) {
    if (i.clamp) v = Clamped(w, v);
    return EncodeHalf(v, w.round64, w.saturate16);
  }
};

INGOT_EMULATOR_INLINE U FlushHalf(U h, bool flush) {
  return flush && (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

template <class T, auto kFunction>
void Packed2(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const uint32_t* a = Raw(w, i, 0, b0);
  const uint32_t* b = Raw(w, i, 1, b1);
  const bool flush = T::kFloat && Loses16(w, 0);
  const bool flush_result = T::kFloat && Loses16(w, 1);
  for (int high = 0; high < 2; ++high) {
    const Half ha = HalfOf(i, 0, high != 0, T::kFloat),
               hb = HalfOf(i, 1, high != 0, T::kFloat);
    for (int l = 0; l < kLanes; ++l) {
      const U v = T::To(w, i,
                        kFunction(T::From(FlushHalf(ha.Get(a[l]), flush)),
                                  T::From(FlushHalf(hb.Get(b[l]), flush))));
      r.w[0][l] = high != 0 ? r.w[0][l] | FlushHalf(v, flush_result) << 16
                            : FlushHalf(v, flush_result);
    }
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

template <class T, auto kFunction>
void Packed3(Wave& w, const Inst& i) {
  Buffer b0, b1, b2, r;
  const uint32_t* a = Raw(w, i, 0, b0);
  const uint32_t* b = Raw(w, i, 1, b1);
  const uint32_t* c = Raw(w, i, 2, b2);
  const bool flush = T::kFloat && Loses16(w, 0);
  const bool flush_result = T::kFloat && Loses16(w, 1);
  for (int high = 0; high < 2; ++high) {
    const Half ha = HalfOf(i, 0, high != 0, T::kFloat),
               hb = HalfOf(i, 1, high != 0, T::kFloat),
               hc = HalfOf(i, 2, high != 0, T::kFloat);
    for (int l = 0; l < kLanes; ++l) {
      const U v = T::To(w, i,
                        kFunction(T::From(FlushHalf(ha.Get(a[l]), flush)),
                                  T::From(FlushHalf(hb.Get(b[l]), flush)),
                                  T::From(FlushHalf(hc.Get(c[l]), flush))));
      r.w[0][l] = high != 0 ? r.w[0][l] | FlushHalf(v, flush_result) << 16
                            : FlushHalf(v, flush_result);
    }
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

// ---- Packed f32: op_sel picks the register of a pair ----

INGOT_EMULATOR_INLINE void PairSource(const Wave& w, const Inst& i, int n,
                                      bool high, bool is_float, uint32_t* out) {
  const bool upper = ((high ? i.op_sel_hi : i.op_sel) >> n & 1) != 0;
  const U flip =
      is_float && ((high ? i.abs : i.neg) >> n & 1) != 0 ? 0x80000000u : 0;
  const Operand& o = i.src[n];
  if (o.kind == Operand::kVgpr) {
    const uint32_t* row = w.v[o.reg + (upper ? 1 : 0)];
    for (int l = 0; l < kLanes; ++l) out[l] = row[l] ^ flip;
  } else {
    const uint64_t both = Uniform(w, o, true);
    Fill(out, static_cast<U>(upper ? both >> 32 : both) ^ flip);
  }
  if (is_float && Loses32(w, 0)) {
    for (int l = 0; l < kLanes; ++l)
      out[l] = (out[l] & 0x7f800000) == 0 ? out[l] & 0x80000000 : out[l];
  }
}

template <int kSources, auto kFunction>
void PairFloat(Wave& w, const Inst& i) {
  Buffer r;
  for (int high = 0; high < 2; ++high) {
    alignas(64) uint32_t s[3][kLanes] = {};
    for (int n = 0; n < kSources; ++n)
      PairSource(w, i, n, high != 0, true, s[n]);
    for (int l = 0; l < kLanes; ++l) {
      float v = kFunction(FloatOf(s[0][l]), FloatOf(s[1][l]), FloatOf(s[2][l]));
      if (i.clamp) v = Clamped(w, v);
      r.w[high][l] = BitsOf(Loses32(w, 1) ? NoDenormal(v) : v);
    }
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
  WriteLanes(w, i.dst + 1, r.w[1], w.exec());
}

void PkMov(Wave& w, const Inst& i) {
  Inst select = i;
  // The two op_sel bits say which register of src0 and of src1 is taken.
  Buffer r;
  select.op_sel = i.op_sel & 1;
  PairSource(w, select, 0, false, false, r.w[0]);
  select.op_sel = i.op_sel & 2;
  PairSource(w, select, 1, false, false, r.w[1]);
  WriteLanes(w, i.dst, r.w[0], w.exec());
  WriteLanes(w, i.dst + 1, r.w[1], w.exec());
}

// ---- Mixed precision: each source an f32, or a half of a register ----

INGOT_EMULATOR_INLINE void MixSource(const Wave& w, const Inst& i, int n,
                                     float* out) {
  Buffer buffer;
  const uint32_t* s = Raw(w, i, n, buffer);
  const bool is_half = (i.op_sel_hi >> n & 1) != 0;
  const int shift = (i.op_sel >> n & 1) != 0 ? 16 : 0;
  const U keep = (i.abs >> n & 1) != 0 ? 0x7fffffffu : ~0u;
  const U flip = (i.neg >> n & 1) != 0 ? 0x80000000u : 0u;
  for (int l = 0; l < kLanes; ++l) {
    const U half = FlushHalf(s[l] >> shift & 0xffff, Loses16(w, 0));
    const float v = is_half         ? HalfToFloat(half)
                    : Loses32(w, 0) ? NoDenormal(FloatOf(s[l]))
                                    : FloatOf(s[l]);
    out[l] = FloatOf((BitsOf(v) & keep) ^ flip);
  }
}

enum class MixTo { kF32, kLow, kHigh };

template <MixTo to>
void FmaMix(Wave& w, const Inst& i) {
  alignas(64) float s[3][kLanes];
  for (int n = 0; n < 3; ++n) MixSource(w, i, n, s[n]);
  Buffer r;
  const uint32_t* old = w.v[i.dst];
  for (int l = 0; l < kLanes; ++l) {
    float v = __builtin_fmaf(s[0][l], s[1][l], s[2][l]);
    if (i.clamp) v = Clamped(w, v);
    if (to == MixTo::kF32) {
      r.w[0][l] = BitsOf(Loses32(w, 1) ? NoDenormal(v) : v);
      continue;
    }
    const U half = FlushHalf(HalfFloat16::To(w, i, v), Loses16(w, 1));
    r.w[0][l] = to == MixTo::kLow ? (old[l] & 0xffff0000) | half
                                  : (old[l] & 0xffff) | half << 16;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

// ---- Dot products ----

template <bool kBf16>
void DotFloat(Wave& w, const Inst& i) {
  Buffer b0, b1, b2, r;
  const uint32_t* a = Raw(w, i, 0, b0);
  const uint32_t* b = Raw(w, i, 1, b1);
  const uint32_t* c = Raw(w, i, 2, b2);
  const U keep = (i.abs >> 2 & 1) != 0 ? 0x7fffffffu : ~0u;
  const U flip = (i.neg >> 2 & 1) != 0 ? 0x80000000u : 0u;
  for (int l = 0; l < kLanes; ++l) {
    double sum = static_cast<double>(FloatOf((c[l] & keep) ^ flip));
    for (int high = 0; high < 2; ++high) {
      const U x = HalfOf(i, 0, high != 0, true).Get(a[l]),
              y = HalfOf(i, 1, high != 0, true).Get(b[l]);
      sum += kBf16 ? static_cast<double>(Bf16ToFloat(x)) * Bf16ToFloat(y)
                   : static_cast<double>(HalfToFloat(x)) * HalfToFloat(y);
    }
    float v = static_cast<float>(sum);
    if (i.clamp) v = Clamped(w, v);
    r.w[0][l] = BitsOf(v);
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

template <int kBits, bool kSigned>
void DotInt(Wave& w, const Inst& i) {
  Buffer b0, b1, b2, r;
  const uint32_t* a = Raw(w, i, 0, b0);
  const uint32_t* b = Raw(w, i, 1, b1);
  const uint32_t* c = Raw(w, i, 2, b2);
  for (int l = 0; l < kLanes; ++l) {
    U x = a[l], y = b[l];
    if (kBits == 16) {
      const auto pick = [&](int n, U word) {
        return HalfOf(i, n, false, false).Get(word) |
               HalfOf(i, n, true, false).Get(word) << 16;
      };
      x = pick(0, x);
      y = pick(1, y);
    }
    L sum = kSigned ? L{static_cast<I>(c[l])} : L{c[l]};
    for (int n = 0; n < 32; n += kBits) {
      const U fx = x << (32 - kBits - n), fy = y << (32 - kBits - n);
      sum += kSigned ? L{static_cast<I>(fx) >> (32 - kBits)} *
                           (static_cast<I>(fy) >> (32 - kBits))
                     : L{fx >> (32 - kBits)} * (fy >> (32 - kBits));
    }
    if (i.clamp) sum = kSigned ? WideI32::Clamp(sum) : WideU32::Clamp(sum);
    r.w[0][l] = static_cast<U>(sum);
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

void AccMove(Wave& w, const Inst& i) {
  Buffer b;
  WriteLanes(w, i.dst, Raw(w, i, 0, b), w.exec());
}

constexpr Shape kInt2{1, {SrcKind::kB32, SrcKind::kB32}};
constexpr Shape kInt3{1, {SrcKind::kB32, SrcKind::kB32, SrcKind::kB32}};
constexpr Shape kHalf2{1, {SrcKind::kPk16, SrcKind::kPk16}};
constexpr Shape kHalf3{1, {SrcKind::kPk16, SrcKind::kPk16, SrcKind::kPk16}};
constexpr Shape kMix3{1, {SrcKind::kF32, SrcKind::kF32, SrcKind::kF32}};
constexpr Shape kDot3{1, {SrcKind::kPk16, SrcKind::kPk16, SrcKind::kF32}};
constexpr Shape kPair2{2, {SrcKind::kPk32, SrcKind::kPk32}, {2, 2, 2}};
constexpr Shape kPair3{
    2, {SrcKind::kPk32, SrcKind::kPk32, SrcKind::kPk32}, {2, 2, 2}};

template <class T, auto kFunction>
constexpr OpInfo P2(uint16_t opcode, const char* name) {
  return OpX(opcode, name, &Packed2<T, kFunction>, T::kFloat ? kHalf2 : kInt2,
             T::kFloat ? uint32_t{kRounds64} : 0u);
}
template <class Ieee, class Plain>
constexpr OpInfo MinMaxPair(uint16_t opcode, const char* name) {
  OpInfo o = P2<HalfFloat16, Ieee{}>(opcode, name);
  o.run =
      &ByIeee<&Packed2<HalfFloat16, Ieee{}>, &Packed2<HalfFloat16, Plain{}>>;
  return o;
}
template <class T, auto kFunction>
constexpr OpInfo P3(uint16_t opcode, const char* name) {
  return OpX(opcode, name, &Packed3<T, kFunction>, T::kFloat ? kHalf3 : kInt3,
             T::kFloat ? uint32_t{kRounds64} : 0u);
}

using H = HalfFloat16;
using S16 = HalfInt16;
using U16h = HalfUint16;

constexpr OpInfo kVop3p[] = {
    P3<S16, [](I a, I b, I c) { return L{a} * b + c; }>(0x00, "v_pk_mad_i16"),
    P2<U16h, [](U a, U b) { return L{(a * b) & 0xffff}; }>(0x01,
                                                           "v_pk_mul_lo_u16"),
    P2<S16, [](I a, I b) { return L{a} + b; }>(0x02, "v_pk_add_i16"),
    P2<S16, [](I a, I b) { return L{a} - b; }>(0x03, "v_pk_sub_i16"),
    P2<U16h, [](U a, U b) { return L{b << (a & 15) & 0xffff}; }>(
        0x04, "v_pk_lshlrev_b16"),
    P2<U16h, [](U a, U b) { return (L{b >> (a & 15)}); }>(0x05,
                                                          "v_pk_lshrrev_b16"),
    P2<S16, [](I a, I b) { return (L{b >> (a & 15)}); }>(0x06,
                                                         "v_pk_ashrrev_i16"),
    P2<S16, [](I a, I b) { return (L{a > b ? a : b}); }>(0x07, "v_pk_max_i16"),
    P2<S16, [](I a, I b) { return L{a < b ? a : b}; }>(0x08, "v_pk_min_i16"),
    P3<U16h, [](U a, U b, U c) { return L{a} * b + c; }>(0x09, "v_pk_mad_u16"),
    P2<U16h, [](U a, U b) { return L{a} + b; }>(0x0a, "v_pk_add_u16"),
    P2<U16h, [](U a, U b) { return L{a} - b; }>(0x0b, "v_pk_sub_u16"),
    P2<U16h, [](U a, U b) { return (L{a > b ? a : b}); }>(0x0c, "v_pk_max_u16"),
    P2<U16h, [](U a, U b) { return L{a < b ? a : b}; }>(0x0d, "v_pk_min_u16"),
    P3<HalfFused16,
       [](float a, float b, float c) { return FusedToOdd(a, b, c); }>(
        0x0e, "v_pk_fma_f16"),
    P2<H, [](float a, float b) { return a + b; }>(0x0f, "v_pk_add_f16"),
    P2<H, [](float a, float b) { return a * b; }>(0x10, "v_pk_mul_f16"),
    MinMaxPair<MinIeee, MinPlain>(0x11, "v_pk_min_f16"),
    MinMaxPair<MaxIeee, MaxPlain>(0x12, "v_pk_max_f16"),
    OpX(0x1a, "v_dot2_f32_bf16", &DotFloat<true>, kDot3, kMayRound),
    P3<H, [](float a, float b, float c) { return Minimum(Minimum(a, b), c); }>(
        0x1b, "v_pk_minimum3_f16"),
    P3<H, [](float a, float b, float c) { return Maximum(Maximum(a, b), c); }>(
        0x1c, "v_pk_maximum3_f16"),
    OpX(0x20, "v_fma_mix_f32", &FmaMix<MixTo::kF32>, kMix3, kMayRound),
    OpX(0x21, "v_fma_mixlo_f16", &FmaMix<MixTo::kLow>, kMix3,
        kRounds64 | kReadsOld),
    OpX(0x22, "v_fma_mixhi_f16", &FmaMix<MixTo::kHigh>, kMix3,
        kRounds64 | kReadsOld),
    OpX(0x23, "v_dot2_f32_f16", &DotFloat<false>, kDot3, kMayRound),
    OpX(0x26, "v_dot2_i32_i16", &DotInt<16, true>, kInt3),
    OpX(0x27, "v_dot2_u32_u16", &DotInt<16, false>, kInt3),
    OpX(0x28, "v_dot4_i32_i8", &DotInt<8, true>, kInt3),
    OpX(0x29, "v_dot4_u32_u8", &DotInt<8, false>, kInt3),
    OpX(0x2a, "v_dot8_i32_i4", &DotInt<4, true>, kInt3),
    OpX(0x2b, "v_dot8_u32_u4", &DotInt<4, false>, kInt3),
    OpX(0x30, "v_pk_fma_f32",
        &PairFloat<3, [](float a, float b,
                         float c) { return __builtin_fmaf(a, b, c); }>,
        kPair3, kMayRound),
    OpX(0x31, "v_pk_mul_f32",
        &PairFloat<2, [](float a, float b, float) { return a * b; }>, kPair2,
        kMayRound),
    OpX(0x32, "v_pk_add_f32",
        &PairFloat<2, [](float a, float b, float) { return a + b; }>, kPair2,
        kMayRound),
    OpX(0x33, "v_pk_mov_b32", &PkMov, kPair2),
    OpX(0x58, "v_accvgpr_read_b32", &AccMove, {1, {SrcKind::kB32}}, kAccSource),
    OpX(0x59, "v_accvgpr_write_b32", &AccMove, {1, {SrcKind::kB32}}, kAccDest),
};

}  // namespace

OpTable Vop3pTable() { return {kVop3p, sizeof(kVop3p) / sizeof(kVop3p[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
