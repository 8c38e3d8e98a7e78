// v_cvt_scalef32_*: conversions between f32/f16/bf16 and the 8-, 6- and 4-bit
// floats under a scale.
//
// Only the exponent of the scale (an f32) counts: to small formats the values
// are divided by 2^(e - 127), from them multiplied. Bytes and halves are chosen
// by op_sel: of the source by bits 1:0, of the destination by bits 3:2; the
// rest of the destination register keeps its value.
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

enum class Wide16 { kF32, kF16, kBf16 };

// The wide element n of consecutive registers.
template <Wide16 t>
INGOT_EMULATOR_INLINE float WideAt(const Wave& w, const uint32_t* const* rows,
                                   int n, int lane) {
  if constexpr (t == Wide16::kF32) {
    // f32 sources follow MODE's denormal field, narrower ones never do.
    const float v = FloatOf(rows[n][lane]);
    return (w.mode >> 4 & 1) != 0 ? v : NoDenormal(v);
  }
  const uint32_t h = rows[n / 2][lane] >> (n % 2 * 16) & 0xffff;
  return t == Wide16::kF16 ? HalfToFloat(h) : Bf16ToFloat(h);
}

// 2^(e - 127) and its inverse, from the scale's bits; NaN for e = 255.
INGOT_EMULATOR_INLINE double Scale(uint32_t bits) {
  const uint32_t e = bits >> 23 & 0xff;
  if (e == 255) return DoubleOf(0x7ff8000000000000);
  return DoubleOf((uint64_t{e} + 1023 - 127) << 52);
}

INGOT_EMULATOR_INLINE Overflow OverflowOf(const Wave& w) {
  return w.saturate16 ? Overflow::kSaturate : Overflow::kFormat;
}

// Registers of a source tuple (or one broadcast value).
struct Tuple {
  const uint32_t* rows[32];
  Buffer buffer;
  Tuple(const Wave& w, const Inst& i, int n, int count) {
    const Operand& o = i.src[n];
    if (o.kind == Operand::kVgpr) {
      for (int r = 0; r < count; ++r) rows[r] = w.v[o.reg + r];
      return;
    }
    Fill(buffer.w[0], static_cast<uint32_t>(Uniform(w, o, false)));
    for (int r = 0; r < count; ++r) rows[r] = buffer.w[0];
  }
};

INGOT_EMULATOR_INLINE float Signed(const Inst& i, int n, float v) {
  if ((i.abs >> n & 1) != 0) v = FloatOf(BitsOf(v) & 0x7fffffff);
  if ((i.neg >> n & 1) != 0) v = FloatOf(BitsOf(v) ^ 0x80000000);
  return v;
}

// Where a narrow result of `bits` goes: op_sel's byte, or half for 16 bits.
INGOT_EMULATOR_INLINE int DestinationShift(const Inst& i, int bits) {
  return bits == 16 ? 16 * (i.op_sel >> 3 & 1) : 8 * (i.op_sel >> 2 & 3);
}

// Two values to two narrow ones. f32 sources are src0 and src1 (or a pair in
// src0 when rounding stochastically); 16-bit ones are packed in src0.
template <Mini kFormat, Wide16 t, bool kStochastic>
void PackTwo(Wave& w, const Inst& i) {
  constexpr int kBits = Width(kFormat);
  constexpr bool kTwoSources = t == Wide16::kF32 && !kStochastic;
  const Tuple a(w, i, 0, t == Wide16::kF32 && kStochastic ? 2 : 1),
      b(w, i, 1, 1);
  const Tuple scale(w, i, kTwoSources || kStochastic ? 2 : 1, 1);
  const int shift = DestinationShift(i, 2 * kBits);
  const uint32_t field = ((1u << (2 * kBits)) - 1) << shift;
  Buffer r;
  for (int l = 0; l < kLanes; ++l) {
    const double s = Scale(scale.rows[0][l]);
    const float x = Signed(i, 0, WideAt<t>(w, a.rows, 0, l));
    const float y = kTwoSources ? Signed(i, 1, WideAt<t>(w, b.rows, 0, l))
                                : Signed(i, 0, WideAt<t>(w, a.rows, 1, l));
    const uint32_t seeds[2] = {b.rows[0][l], NextRandom(b.rows[0][l])};
    const uint32_t low = EncodeMini<kFormat>(
        x / s, kRoundNearest, OverflowOf(w), kStochastic ? &seeds[0] : nullptr);
    const uint32_t high = EncodeMini<kFormat>(
        y / s, kRoundNearest, OverflowOf(w), kStochastic ? &seeds[1] : nullptr);
    r.w[0][l] = (w.v[i.dst][l] & ~field) | (low | high << kBits) << shift;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

// One value to one byte, rounded stochastically.
template <Mini kFormat, Wide16 t>
void PackOne(Wave& w, const Inst& i) {
  const Tuple a(w, i, 0, 1), seed(w, i, 1, 1), scale(w, i, 2, 1);
  const int element = t == Wide16::kF32 ? 0 : i.op_sel & 1;
  const int shift = DestinationShift(i, 8);
  Buffer r;
  for (int l = 0; l < kLanes; ++l) {
    const float x = Signed(i, 0, WideAt<t>(w, a.rows, element, l));
    const uint32_t code =
        EncodeMini<kFormat>(x / Scale(scale.rows[0][l]), kRoundNearest,
                            OverflowOf(w), &seed.rows[0][l]);
    r.w[0][l] = (w.v[i.dst][l] & ~(0xffu << shift)) | code << shift;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

template <Wide16 t>
INGOT_EMULATOR_INLINE uint32_t Narrowed(const Wave& w, double v) {
  if constexpr (t == Wide16::kF32) return BitsOf(static_cast<float>(v));
  if constexpr (t == Wide16::kF16)
    return EncodeHalf(v, w.round64, w.saturate16);
  return EncodeMini<kBf16Format>(v, kRoundNearest, Overflow::kFormat);
}

// Two narrow values to two wide ones.
template <Mini kFormat, Wide16 t>
void UnpackTwo(Wave& w, const Inst& i) {
  constexpr int kBits = Width(kFormat);
  const Tuple a(w, i, 0, 1), scale(w, i, 1, 1);
  const int shift = kBits == 4 ? 8 * (i.op_sel & 3) : 16 * (i.op_sel & 1);
  Buffer r;
  for (int l = 0; l < kLanes; ++l) {
    const double s = Scale(scale.rows[0][l]);
    uint32_t out[2];
    for (int n = 0; n < 2; ++n) {
      const uint32_t code =
          a.rows[0][l] >> (shift + n * kBits) & ((1u << kBits) - 1);
      out[n] =
          Narrowed<t>(w, static_cast<double>(DecodeMini<kFormat>(code)) * s);
    }
    r.w[0][l] = t == Wide16::kF32 ? out[0] : out[0] | out[1] << 16;
    r.w[1][l] = out[1];
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
  if (t == Wide16::kF32) WriteLanes(w, i.dst + 1, r.w[1], w.exec());
}

// One byte to one wide value; an f16 goes to the half that op_sel names.
template <Mini kFormat, Wide16 t>
void UnpackOne(Wave& w, const Inst& i) {
  const Tuple a(w, i, 0, 1), scale(w, i, 1, 1);
  const int byte = i.op_sel & 3, half = 16 * (i.op_sel >> 3 & 1);
  Buffer r;
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t code = a.rows[0][l] >> (8 * byte) & 0xff;
    const uint32_t v =
        Narrowed<t>(w, static_cast<double>(DecodeMini<kFormat>(code)) *
                           Scale(scale.rows[0][l]));
    r.w[0][l] = t == Wide16::kF32
                    ? v
                    : (w.v[i.dst][l] & ~(0xffffu << half)) | v << half;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

// Puts a 6-bit code into a stream of six dwords.
INGOT_EMULATOR_INLINE void PutSix(uint32_t* stream, int n, uint32_t code) {
  const int bit = 6 * n;
  stream[bit / 32] |= code << (bit % 32);
  if (bit % 32 > 26) stream[bit / 32 + 1] |= code >> (32 - bit % 32);
}
INGOT_EMULATOR_INLINE uint32_t GetSix(const uint32_t* stream, int n) {
  const int bit = 6 * n;
  uint64_t two = stream[bit / 32];
  if (bit % 32 > 26) two |= uint64_t{stream[bit / 32 + 1]} << 32;
  return static_cast<uint32_t>(two >> (bit % 32)) & 63;
}

enum class Pack32 { kPlain, kStochastic, kTwoSources };

// 32 values to 32 6-bit codes. The two-source form takes even elements from
// src0 and odd ones from src1.
template <Mini kFormat, Wide16 t, Pack32 kind>
void PackMany(Wave& w, const Inst& i) {
  constexpr int kRegs =
      t == Wide16::kF32 && kind != Pack32::kTwoSources ? 32 : 16;
  const Tuple a(w, i, 0, kRegs),
      b(w, i, 1, kind == Pack32::kTwoSources ? kRegs : 1);
  const Tuple scale(w, i, kind == Pack32::kPlain ? 1 : 2, 1);
  const uint64_t exec = w.exec();
  for (int l = 0; l < kLanes; ++l) {
    if ((exec >> l & 1) == 0) continue;
    const double s = Scale(scale.rows[0][l]);
    uint32_t seed = b.rows[0][l];
    uint32_t out[6] = {};
    for (int n = 0; n < 32; ++n) {
      float v;
      if constexpr (kind == Pack32::kTwoSources) {
        v = WideAt<t>(w, n % 2 == 0 ? a.rows : b.rows, n / 2, l);
      } else {
        v = WideAt<t>(w, a.rows, n, l);
      }
      PutSix(
          out, n,
          EncodeMini<kFormat>(v / s, kRoundNearest, Overflow::kSaturate,
                              kind == Pack32::kStochastic ? &seed : nullptr));
      seed = NextRandom(seed);
    }
    for (int r = 0; r < 6; ++r) w.v[i.dst + r][l] = out[r];
  }
}

template <Mini kFormat, Wide16 t>
void UnpackMany(Wave& w, const Inst& i) {
  const Tuple a(w, i, 0, 6), scale(w, i, 1, 1);
  const uint64_t exec = w.exec();
  for (int l = 0; l < kLanes; ++l) {
    if ((exec >> l & 1) == 0) continue;
    const double s = Scale(scale.rows[0][l]);
    uint32_t in[6], out[32] = {};
    for (int r = 0; r < 6; ++r) in[r] = a.rows[r][l];
    for (int n = 0; n < 32; ++n) {
      const uint32_t v = Narrowed<t>(
          w, static_cast<double>(DecodeMini<kFormat>(GetSix(in, n))) * s);
      if constexpr (t == Wide16::kF32) {
        out[n] = v;
      } else {
        out[n / 2] |= v << (n % 2 * 16);
      }
    }
    for (int r = 0; r < i.op->dst_words; ++r) w.v[i.dst + r][l] = out[r];
  }
}

constexpr SrcKind kB = SrcKind::kB32, kF = SrcKind::kF32, kT = SrcKind::kVgprs,
                  kH = SrcKind::kPk16, kG = SrcKind::kBf16;
constexpr Shape kTwoAndScale{1, {kF, kF, kF}};  // f32, f32, scale
constexpr Shape kPairSeedScale{
    1, {kT, kB, kF}, {2, 1, 1}};  // v[2], seed, scale
// A value (f32, f16, bf16 or narrow), a seed, a scale.
constexpr Shape kFloatSeed{1, {kF, kB, kF}}, kHalfSeed{1, {kH, kB, kF}},
    kBfloatSeed{1, {kG, kB, kF}};
constexpr Shape kAndScale{1, {kB, kF}}, kHalfAndScale{1, {kH, kF}},
    kBfloatAndScale{1, {kG, kF}};
constexpr Shape kToPair{2, {kB, kF}};
constexpr Shape Many(uint8_t dst, uint8_t src) {
  return {dst, {kT, kF}, {src, 1, 1}};
}
constexpr Shape ManySeed(uint8_t src) { return {6, {kT, kB, kF}, {src, 1, 1}}; }
constexpr Shape kManyTwo{6, {kT, kT, kF}, {16, 16, 1}};

constexpr Mini k8 = kFp8Format, kE = kBf8Format, k6 = kFp6Format,
               kS = kBf6Format, k4 = kFp4Format;
constexpr Wide16 f32 = Wide16::kF32, f16 = Wide16::kF16, bf16 = Wide16::kBf16;

constexpr OpInfo kScale[] = {
    OpX(0x235, "v_cvt_scalef32_pk_fp8_f32", &PackTwo<k8, f32, false>,
        kTwoAndScale, kReadsOld),
    OpX(0x236, "v_cvt_scalef32_pk_bf8_f32", &PackTwo<kE, f32, false>,
        kTwoAndScale, kReadsOld),
    OpX(0x237, "v_cvt_scalef32_sr_fp8_f32", &PackOne<k8, f32>, kFloatSeed,
        kReadsOld),
    OpX(0x238, "v_cvt_scalef32_sr_bf8_f32", &PackOne<kE, f32>, kFloatSeed,
        kReadsOld),
    OpX(0x239, "v_cvt_scalef32_pk_f32_fp8", &UnpackTwo<k8, f32>, kToPair),
    OpX(0x23a, "v_cvt_scalef32_pk_f32_bf8", &UnpackTwo<kE, f32>, kToPair),
    OpX(0x23b, "v_cvt_scalef32_f32_fp8", &UnpackOne<k8, f32>, kAndScale),
    OpX(0x23c, "v_cvt_scalef32_f32_bf8", &UnpackOne<kE, f32>, kAndScale),
    OpX(0x23d, "v_cvt_scalef32_pk_fp4_f32", &PackTwo<k4, f32, false>,
        kTwoAndScale, kReadsOld),
    OpX(0x23e, "v_cvt_scalef32_sr_pk_fp4_f32", &PackTwo<k4, f32, true>,
        kPairSeedScale, kReadsOld),
    OpX(0x23f, "v_cvt_scalef32_pk_f32_fp4", &UnpackTwo<k4, f32>, kToPair),
    OpX(0x240, "v_cvt_scalef32_pk_fp8_f16", &PackTwo<k8, f16, false>,
        kHalfAndScale, kReadsOld),
    OpX(0x241, "v_cvt_scalef32_pk_bf8_f16", &PackTwo<kE, f16, false>,
        kHalfAndScale, kReadsOld),
    OpX(0x242, "v_cvt_scalef32_sr_fp8_f16", &PackOne<k8, f16>, kHalfSeed,
        kReadsOld),
    OpX(0x243, "v_cvt_scalef32_sr_bf8_f16", &PackOne<kE, f16>, kHalfSeed,
        kReadsOld),
    OpX(0x244, "v_cvt_scalef32_pk_fp8_bf16", &PackTwo<k8, bf16, false>,
        kBfloatAndScale, kReadsOld),
    OpX(0x245, "v_cvt_scalef32_pk_bf8_bf16", &PackTwo<kE, bf16, false>,
        kBfloatAndScale, kReadsOld),
    OpX(0x246, "v_cvt_scalef32_sr_fp8_bf16", &PackOne<k8, bf16>, kBfloatSeed,
        kReadsOld),
    OpX(0x247, "v_cvt_scalef32_sr_bf8_bf16", &PackOne<kE, bf16>, kBfloatSeed,
        kReadsOld),
    OpX(0x248, "v_cvt_scalef32_pk_f16_fp8", &UnpackTwo<k8, f16>, kAndScale),
    OpX(0x249, "v_cvt_scalef32_pk_f16_bf8", &UnpackTwo<kE, f16>, kAndScale),
    OpX(0x24a, "v_cvt_scalef32_f16_fp8", &UnpackOne<k8, f16>, kAndScale,
        kReadsOld),
    OpX(0x24b, "v_cvt_scalef32_f16_bf8", &UnpackOne<kE, f16>, kAndScale,
        kReadsOld),
    OpX(0x24c, "v_cvt_scalef32_pk_fp4_f16", &PackTwo<k4, f16, false>,
        kHalfAndScale, kReadsOld),
    OpX(0x24d, "v_cvt_scalef32_pk_fp4_bf16", &PackTwo<k4, bf16, false>,
        kBfloatAndScale, kReadsOld),
    OpX(0x24e, "v_cvt_scalef32_sr_pk_fp4_f16", &PackTwo<k4, f16, true>,
        kHalfSeed, kReadsOld),
    OpX(0x24f, "v_cvt_scalef32_sr_pk_fp4_bf16", &PackTwo<k4, bf16, true>,
        kBfloatSeed, kReadsOld),
    OpX(0x250, "v_cvt_scalef32_pk_f16_fp4", &UnpackTwo<k4, f16>, kAndScale),
    OpX(0x251, "v_cvt_scalef32_pk_bf16_fp4", &UnpackTwo<k4, bf16>, kAndScale),
    OpX(0x252, "v_cvt_scalef32_2xpk16_fp6_f32",
        &PackMany<k6, f32, Pack32::kTwoSources>, kManyTwo),
    OpX(0x253, "v_cvt_scalef32_2xpk16_bf6_f32",
        &PackMany<kS, f32, Pack32::kTwoSources>, kManyTwo),
    OpX(0x254, "v_cvt_scalef32_sr_pk32_fp6_f32",
        &PackMany<k6, f32, Pack32::kStochastic>, ManySeed(32)),
    OpX(0x255, "v_cvt_scalef32_sr_pk32_bf6_f32",
        &PackMany<kS, f32, Pack32::kStochastic>, ManySeed(32)),
    OpX(0x256, "v_cvt_scalef32_pk32_f32_fp6", &UnpackMany<k6, f32>,
        Many(32, 6)),
    OpX(0x257, "v_cvt_scalef32_pk32_f32_bf6", &UnpackMany<kS, f32>,
        Many(32, 6)),
    OpX(0x258, "v_cvt_scalef32_pk32_fp6_f16",
        &PackMany<k6, f16, Pack32::kPlain>, Many(6, 16)),
    OpX(0x259, "v_cvt_scalef32_pk32_fp6_bf16",
        &PackMany<k6, bf16, Pack32::kPlain>, Many(6, 16)),
    OpX(0x25a, "v_cvt_scalef32_pk32_bf6_f16",
        &PackMany<kS, f16, Pack32::kPlain>, Many(6, 16)),
    OpX(0x25b, "v_cvt_scalef32_pk32_bf6_bf16",
        &PackMany<kS, bf16, Pack32::kPlain>, Many(6, 16)),
    OpX(0x25c, "v_cvt_scalef32_sr_pk32_fp6_f16",
        &PackMany<k6, f16, Pack32::kStochastic>, ManySeed(16)),
    OpX(0x25d, "v_cvt_scalef32_sr_pk32_fp6_bf16",
        &PackMany<k6, bf16, Pack32::kStochastic>, ManySeed(16)),
    OpX(0x25e, "v_cvt_scalef32_sr_pk32_bf6_f16",
        &PackMany<kS, f16, Pack32::kStochastic>, ManySeed(16)),
    OpX(0x25f, "v_cvt_scalef32_sr_pk32_bf6_bf16",
        &PackMany<kS, bf16, Pack32::kStochastic>, ManySeed(16)),
    OpX(0x260, "v_cvt_scalef32_pk32_f16_fp6", &UnpackMany<k6, f16>,
        Many(16, 6)),
    OpX(0x261, "v_cvt_scalef32_pk32_bf16_fp6", &UnpackMany<k6, bf16>,
        Many(16, 6)),
    OpX(0x262, "v_cvt_scalef32_pk32_f16_bf6", &UnpackMany<kS, f16>,
        Many(16, 6)),
    OpX(0x263, "v_cvt_scalef32_pk32_bf16_bf6", &UnpackMany<kS, bf16>,
        Many(16, 6)),
    OpX(0x269, "v_cvt_scalef32_pk_bf16_fp8", &UnpackTwo<k8, bf16>, kAndScale),
    OpX(0x26a, "v_cvt_scalef32_pk_bf16_bf8", &UnpackTwo<kE, bf16>, kAndScale),
};

}  // namespace

OpTable Vop3ScaleTable() {
  return {kScale, sizeof(kScale) / sizeof(kScale[0])};
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
