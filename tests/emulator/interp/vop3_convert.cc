// VOP3 conversions between float formats and packings of integers.
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

using U = uint32_t;
using I = int32_t;
using L = int64_t;

// Two f32 to two 16-bit floats, to the nearest whatever MODE says.
template <bool kBf16>
void PkHalf(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<F32>(w, i, 0, b0), b = Fetch<F32>(w, i, 1, b1);
  const auto convert = [&](const Lanes& s, int l) {
    const float v = F32::Get(s, l);
    if (kBf16) return FloatToBf16(v);
    return w.saturate16 ? EncodeHalf(v, kRoundNearest, true) : FloatToHalf(v);
  };
  for (int l = 0; l < kLanes; ++l)
    r.w[0][l] = convert(a, l) | convert(b, l) << 16;
  Store<U32>(w, i, r);
}

constexpr auto kPkRtz = [](float a, float b) {
  return EncodeMini<kF16Format>(a, kRoundZero, Overflow::kFormat) |
         EncodeMini<kF16Format>(b, kRoundZero, Overflow::kFormat) << 16;
};

constexpr U SatI16(I v) {
  return static_cast<U>(v < -32768 ? -32768 : v > 32767 ? 32767 : v) & 0xffff;
}
constexpr U SatU16(U v) { return v > 0xffff ? 0xffff : v; }

template <bool kSigned>
U Normalised(float x) {
  if (IsNan(x)) return 0;
  const float low = kSigned ? -1.0f : 0.0f;
  const float c = x < low ? low : x > 1 ? 1.0f : x;
  return static_cast<U>(static_cast<I>(
             __builtin_rintf(c * (kSigned ? 32767.0f : 65535.0f)))) &
         0xffff;
}

template <bool kSigned>
U ShiftSaturate(I value, U shift) {
  const I v = value >> (shift & 31);
  const I low = kSigned ? -128 : 0, high = kSigned ? 127 : 255;
  return static_cast<U>(v < low ? low : v > high ? high : v) & 0xff;
}
template <bool kSigned>
void AshrPk(Wave& w, const Inst& i) {
  Buffer b0, b1, b2, r;
  const Lanes a = Fetch<I32>(w, i, 0, b0), b = Fetch<I32>(w, i, 1, b1),
              c = Fetch<U32>(w, i, 2, b2);
  const bool high = (i.op_sel & 8) != 0;
  const uint32_t* old = w.v[i.dst];
  for (int l = 0; l < kLanes; ++l) {
    const U v = ShiftSaturate<kSigned>(I32::Get(a, l), c.lo[l]) |
                ShiftSaturate<kSigned>(I32::Get(b, l), c.lo[l]) << 8;
    r.w[0][l] = high ? (old[l] & 0xffff) | v << 16 : (old[l] & 0xffff0000) | v;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

INGOT_EMULATOR_INLINE Overflow OverflowOf(const Wave& w) {
  return w.saturate16 ? Overflow::kSaturate : Overflow::kFormat;
}

// Two f32 to two fp8 or bf8 in one half of the destination.
template <Mini kFormat>
void PkByte(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<F32>(w, i, 0, b0), b = Fetch<F32>(w, i, 1, b1);
  const bool high = (i.op_sel & 8) != 0;
  const uint32_t* old = w.v[i.dst];
  for (int l = 0; l < kLanes; ++l) {
    const U v =
        EncodeMini<kFormat>(F32::Get(a, l), kRoundNearest, OverflowOf(w)) |
        EncodeMini<kFormat>(F32::Get(b, l), kRoundNearest, OverflowOf(w)) << 8;
    r.w[0][l] = high ? (old[l] & 0xffff) | v << 16 : (old[l] & 0xffff0000) | v;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

// One f32 to a byte (op_sel[3:2]) or a half (op_sel[3]), rounded
// stochastically.
template <Mini kFormat>
void Stochastic(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<F32>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  const int bits = Width(kFormat);
  const int shift =
      bits == 8 ? 8 * (i.op_sel >> 2 & 3) : 16 * (i.op_sel >> 3 & 1);
  const U field = ((1u << bits) - 1) << shift;
  const uint32_t* old = w.v[i.dst];
  for (int l = 0; l < kLanes; ++l) {
    const U v = EncodeMini<kFormat>(F32::Get(a, l), kRoundNearest,
                                    OverflowOf(w), &b.lo[l]);
    r.w[0][l] = (old[l] & ~field) | v << shift;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

constexpr Shape kFloat2{1, {SrcKind::kF32, SrcKind::kF32}};
constexpr Shape kFloatWord{1, {SrcKind::kF32, SrcKind::kB32}};
constexpr Shape kWord3{1, {SrcKind::kB32, SrcKind::kB32, SrcKind::kB32}};

constexpr OpInfo kConvert[] = {
    OpX(0x265, "v_ashr_pk_i8_i32", &AshrPk<true>, kWord3, kReadsOld),
    OpX(0x266, "v_ashr_pk_u8_i32", &AshrPk<false>, kWord3, kReadsOld),
    OpX(0x267, "v_cvt_pk_f16_f32", &PkHalf<false>, kFloat2),
    OpX(0x268, "v_cvt_pk_bf16_f32", &PkHalf<true>, kFloat2),
    Op2<U32, F32, F32,
        [](float a, float b) {
          return (Normalised<true>(a) | Normalised<true>(b) << 16);
        }>(0x294, "v_cvt_pknorm_i16_f32"),
    Op2<U32, F32, F32,
        [](float a, float b) {
          return (Normalised<false>(a) | Normalised<false>(b) << 16);
        }>(0x295, "v_cvt_pknorm_u16_f32"),
    Op2<U32, F32, F32, kPkRtz>(0x296, "v_cvt_pkrtz_f16_f32"),
    Op2<U32, U32, U32, [](U a, U b) { return SatU16(a) | SatU16(b) << 16; }>(
        0x297, "v_cvt_pk_u16_u32"),
    Op2<U32, I32, I32, [](I a, I b) { return SatI16(a) | SatI16(b) << 16; }>(
        0x298, "v_cvt_pk_i16_i32"),
    Op2<U32, F16, F16,
        [](float a, float b) {
          return (Normalised<true>(a) | Normalised<true>(b) << 16);
        }>(0x299, "v_cvt_pknorm_i16_f16"),
    Op2<U32, F16, F16,
        [](float a, float b) {
          return (Normalised<false>(a) | Normalised<false>(b) << 16);
        }>(0x29a, "v_cvt_pknorm_u16_f16"),
    OpX(0x2a2, "v_cvt_pk_fp8_f32", &PkByte<kFp8Format>, kFloat2, kReadsOld),
    OpX(0x2a3, "v_cvt_pk_bf8_f32", &PkByte<kBf8Format>, kFloat2, kReadsOld),
    OpX(0x2a4, "v_cvt_sr_fp8_f32", &Stochastic<kFp8Format>, kFloatWord,
        kReadsOld),
    OpX(0x2a5, "v_cvt_sr_bf8_f32", &Stochastic<kBf8Format>, kFloatWord,
        kReadsOld),
    OpX(0x2a6, "v_cvt_sr_f16_f32", &Stochastic<kF16Format>, kFloatWord,
        kReadsOld),
    OpX(0x2a7, "v_cvt_sr_bf16_f32", &Stochastic<kBf16Format>, kFloatWord,
        kReadsOld),
};

}  // namespace

OpTable Vop3ConvertTable() {
  return {kConvert, sizeof(kConvert) / sizeof(kConvert[0])};
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
