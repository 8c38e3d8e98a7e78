// VOP2: two sources, some with a carry or an accumulator.
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/minmax.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

using U = uint32_t;
using I = int32_t;
using L = int64_t;

void CondMask(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<R32>(w, i, 0, b0), b = Fetch<R32>(w, i, 1, b1);
  const uint64_t mask = MaskOperand(w, i.src[2]);
  for (int l = 0; l < kLanes; ++l)
    r.w[0][l] = (mask >> l & 1) != 0 ? b.lo[l] : a.lo[l];
  Store<R32>(w, i, r);
}

// kFunction(a, b, carry in) gives the 33-bit (or negative) exact result.
template <auto kFunction, bool kCarryIn>
void Carry(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<U32>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  const uint64_t in = kCarryIn ? MaskOperand(w, i.src[2]) : 0;
  alignas(64) uint8_t out[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const L v = kFunction(L{a.lo[l]}, L{b.lo[l]}, static_cast<L>(in >> l & 1));
    const bool carry = v < 0 || v > 0xffffffffll;
    out[l] = carry;
    r.w[0][l] = !i.clamp ? static_cast<U>(v)
                : v < 0  ? 0
                : carry  ? ~0u
                         : static_cast<U>(v);
  }
  uint64_t written = w.exec();
  if (i.extra == Extra::kDpp) written &= DppWriteMask(w, i);
  Store<U32>(w, i, r);
  const uint64_t kept =
      i.extra == Extra::kDpp ? w.S64(i.sdst) & w.exec() & ~written : 0;
  w.SetS64(i.sdst, (PackMask(out) & written) | kept);
}

template <auto kFunction, bool kCarryIn>
constexpr OpInfo CarryLine(uint16_t opcode, const char* name) {
  return OpX(opcode, name, &Carry<kFunction, kCarryIn>,
             {1, {SrcKind::kB32, SrcKind::kB32}, {1, 1, 2}},
             kWritesMask | (kCarryIn ? uint32_t{kReadsVcc} : 0u));
}

constexpr auto kAdd = [](L a, L b, L c) { return a + b + c; };
constexpr auto kSub = [](L a, L b, L c) { return a - b - c; };
constexpr auto kSubRev = [](L a, L b, L c) { return b - a - c; };

// D += A . B with two or more products a lane.
template <auto kFunction>
void DotAccumulate(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<U32>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  const uint32_t* c = w.v[i.dst];
  for (int l = 0; l < kLanes; ++l)
    r.w[0][l] = kFunction(a.lo[l], b.lo[l], c[l]);
  Store<U32>(w, i, r);
}
template <auto kFunction>
constexpr OpInfo DotLine(uint16_t opcode, const char* name) {
  return OpX(opcode, name, &DotAccumulate<kFunction>,
             {1, {SrcKind::kB32, SrcKind::kB32}}, kReadsDst);
}

// Dot products of floats keep denormals, whatever MODE says.
constexpr auto kDotBf16 = [](U a, U b, U c) {
  const float s =
      FloatOf(c) + Bf16ToFloat(a & 0xffff) * Bf16ToFloat(b & 0xffff);
  return BitsOf(s + Bf16ToFloat(a >> 16) * Bf16ToFloat(b >> 16));
};
constexpr auto kDotF16 = [](U a, U b, U c) {
  const float s =
      FloatOf(c) + HalfToFloat(a & 0xffff) * HalfToFloat(b & 0xffff);
  return BitsOf(s + HalfToFloat(a >> 16) * HalfToFloat(b >> 16));
};
template <int kBits>
constexpr auto kDotInt = [](U a, U b, U c) {
  I s = static_cast<I>(c);
  for (int n = 0; n < 32; n += kBits) {
    const I x = static_cast<I>(a << (32 - kBits - n)) >> (32 - kBits);
    const I y = static_cast<I>(b << (32 - kBits - n)) >> (32 - kBits);
    s = static_cast<I>(static_cast<U>(s) + static_cast<U>(x * y));
  }
  return static_cast<U>(s);
};

void PkFmac(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<U32>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  const uint32_t* c = w.v[i.dst];
  for (int l = 0; l < kLanes; ++l) {
    U v = 0;
    for (int n = 0; n < 32; n += 16) {
      const double f = FusedToOdd(HalfToFloat(a.lo[l] >> n & 0xffff),
                                  HalfToFloat(b.lo[l] >> n & 0xffff),
                                  HalfToFloat(c[l] >> n & 0xffff));
      v |= EncodeHalf(f, w.round64, w.saturate16) << n;
    }
    r.w[0][l] = v;
  }
  Store<U32>(w, i, r);
}

constexpr auto kFma32 = [](float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
};
constexpr auto kMad16 = [](float a, float b, float c) {
  return HalfToFloat(FloatToHalf(a * b)) + c;
};

constexpr OpInfo kVop2[] = {
    OpX(0x00, "v_cndmask_b32", &CondMask,
        {1, {SrcKind::kF32, SrcKind::kF32}, {1, 1, 2}}, kReadsVcc),
    Op2<F32, F32, F32, [](float a, float b) { return a + b; }>(0x01,
                                                               "v_add_f32"),
    Op2<F32, F32, F32, [](float a, float b) { return a - b; }>(0x02,
                                                               "v_sub_f32"),
    Op2<F32, F32, F32, [](float a, float b) { return b - a; }>(0x03,
                                                               "v_subrev_f32"),
    Op3<F64, F64, F64, F64,
        [](double a, double b, double c) { return __builtin_fma(a, b, c); }>(
        0x04, "v_fmac_f64", kReadsDst),
    Op2<F32, F32, F32, [](float a, float b) { return a * b; }>(0x05,
                                                               "v_mul_f32"),
    Op2<U32, U32, U32,
        [](U a, U b) {
          return (static_cast<U>((static_cast<I>(a << 8) >> 8) *
                                 L{static_cast<I>(b << 8) >> 8}));
        }>(0x06, "v_mul_i32_i24"),
    Op2<U32, U32, U32,
        [](U a, U b) {
          return (static_cast<U>((static_cast<I>(a << 8) >> 8) *
                                     L{static_cast<I>(b << 8) >> 8} >>
                                 32));
        }>(0x07, "v_mul_hi_i32_i24"),
    Op2<U32, U32, U32,
        [](U a, U b) { return (a & 0xffffff) * (b & 0xffffff); }>(
        0x08, "v_mul_u32_u24"),
    Op2<U32, U32, U32,
        [](U a, U b) {
          return (
              static_cast<U>(uint64_t{a & 0xffffff} * (b & 0xffffff) >> 32));
        }>(0x09, "v_mul_hi_u32_u24"),
    Min2<F32>(0x0a, "v_min_f32"),
    Max2<F32>(0x0b, "v_max_f32"),
    Op2<I32, I32, I32, [](I a, I b) { return a < b ? a : b; }>(0x0c,
                                                               "v_min_i32"),
    Op2<I32, I32, I32, [](I a, I b) { return (a > b ? a : b); }>(0x0d,
                                                                 "v_max_i32"),
    Op2<U32, U32, U32, [](U a, U b) { return a < b ? a : b; }>(0x0e,
                                                               "v_min_u32"),
    Op2<U32, U32, U32, [](U a, U b) { return (a > b ? a : b); }>(0x0f,
                                                                 "v_max_u32"),
    Op2<U32, U32, U32, [](U a, U b) { return (b >> (a & 31)); }>(
        0x10, "v_lshrrev_b32"),
    Op2<I32, U32, I32, [](U a, I b) { return (b >> (a & 31)); }>(
        0x11, "v_ashrrev_i32"),
    Op2<U32, U32, U32, [](U a, U b) { return b << (a & 31); }>(0x12,
                                                               "v_lshlrev_b32"),
    Op2<U32, U32, U32, [](U a, U b) { return a & b; }>(0x13, "v_and_b32"),
    Op2<U32, U32, U32, [](U a, U b) { return a | b; }>(0x14, "v_or_b32"),
    Op2<U32, U32, U32, [](U a, U b) { return a ^ b; }>(0x15, "v_xor_b32"),
    DotLine<kDotBf16>(0x16, "v_dot2c_f32_bf16"),
    Op3<F32, F32, F32, F32, kFma32>(0x17, "v_fmamk_f32", kLiteralMiddle),
    Op3<F32, F32, F32, F32, kFma32>(0x18, "v_fmaak_f32", kLiteralLast),
    CarryLine<kAdd, false>(0x19, "v_add_co_u32"),
    CarryLine<kSub, false>(0x1a, "v_sub_co_u32"),
    CarryLine<kSubRev, false>(0x1b, "v_subrev_co_u32"),
    CarryLine<kAdd, true>(0x1c, "v_addc_co_u32"),
    CarryLine<kSub, true>(0x1d, "v_subb_co_u32"),
    CarryLine<kSubRev, true>(0x1e, "v_subbrev_co_u32"),
    Op2<F16, F16, F16, [](float a, float b) { return a + b; }>(0x1f,
                                                               "v_add_f16"),
    Op2<F16, F16, F16, [](float a, float b) { return a - b; }>(0x20,
                                                               "v_sub_f16"),
    Op2<F16, F16, F16, [](float a, float b) { return b - a; }>(0x21,
                                                               "v_subrev_f16"),
    Op2<F16, F16, F16, [](float a, float b) { return a * b; }>(0x22,
                                                               "v_mul_f16"),
    Op3<F16, F16, F16, F16, kMad16>(0x23, "v_mac_f16", kReadsDst),
    Op3<F16, F16, F16, F16, kMad16>(0x24, "v_madmk_f16", kLiteralMiddle),
    Op3<F16, F16, F16, F16, kMad16>(0x25, "v_madak_f16", kLiteralLast),
    Op2<WideU16, U16, U16, [](U a, U b) { return L{a} + b; }>(0x26,
                                                              "v_add_u16"),
    Op2<WideU16, U16, U16, [](U a, U b) { return L{a} - b; }>(0x27,
                                                              "v_sub_u16"),
    Op2<WideU16, U16, U16, [](U a, U b) { return L{b} - a; }>(0x28,
                                                              "v_subrev_u16"),
    Op2<U16, U16, U16, [](U a, U b) { return a * b; }>(0x29, "v_mul_lo_u16"),
    Op2<U16, U16, U16, [](U a, U b) { return b << (a & 15); }>(0x2a,
                                                               "v_lshlrev_b16"),
    Op2<U16, U16, U16, [](U a, U b) { return (b >> (a & 15)); }>(
        0x2b, "v_lshrrev_b16"),
    Op2<I16, U16, I16, [](U a, I b) { return (b >> (a & 15)); }>(
        0x2c, "v_ashrrev_i16"),
    Max2<F16>(0x2d, "v_max_f16"),
    Min2<F16>(0x2e, "v_min_f16"),
    Op2<U16, U16, U16, [](U a, U b) { return (a > b ? a : b); }>(0x2f,
                                                                 "v_max_u16"),
    Op2<I16, I16, I16, [](I a, I b) { return (a > b ? a : b); }>(0x30,
                                                                 "v_max_i16"),
    Op2<U16, U16, U16, [](U a, U b) { return a < b ? a : b; }>(0x31,
                                                               "v_min_u16"),
    Op2<I16, I16, I16, [](I a, I b) { return a < b ? a : b; }>(0x32,
                                                               "v_min_i16"),
    Op2<F16, F16, I16, [](float a, I b) { return Ldexp(a, b); }>(0x33,
                                                                 "v_ldexp_f16"),
    Op2<WideU32, U32, U32, [](U a, U b) { return L{a} + b; }>(0x34,
                                                              "v_add_u32"),
    Op2<WideU32, U32, U32, [](U a, U b) { return L{a} - b; }>(0x35,
                                                              "v_sub_u32"),
    Op2<WideU32, U32, U32, [](U a, U b) { return L{b} - a; }>(0x36,
                                                              "v_subrev_u32"),
    DotLine<kDotF16>(0x37, "v_dot2c_f32_f16"),
    DotLine<kDotInt<16>>(0x38, "v_dot2c_i32_i16"),
    DotLine<kDotInt<8>>(0x39, "v_dot4c_i32_i8"),
    DotLine<kDotInt<4>>(0x3a, "v_dot8c_i32_i4"),
    Op3<F32, F32, F32, F32, kFma32>(0x3b, "v_fmac_f32", kReadsDst),
    OpX(0x3c, "v_pk_fmac_f16", &PkFmac, {1, {SrcKind::kPk16, SrcKind::kPk16}},
        kReadsDst),
    Op2<U32, U32, U32, [](U a, U b) { return ~(a ^ b); }>(0x3d, "v_xnor_b32"),
};

}  // namespace

OpTable Vop2Table() { return {kVop2, sizeof(kVop2) / sizeof(kVop2[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
