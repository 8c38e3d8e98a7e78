// VOP3: instructions that exist only in the three-source encoding.
#include "tests/emulator/interp/division.h"
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/minmax.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

using U = uint32_t;
using I = int32_t;
using L = int64_t;
using UL = uint64_t;

constexpr I Sext24(U a) { return static_cast<I>(a << 8) >> 8; }

constexpr auto kBfeU = [](U a, U b, U c) {
  const U width = c & 31;
  return a >> (b & 31) & ((1u << width) - 1);
};
constexpr auto kBfeI = [](U a, U b, U c) {
  const U width = c & 31, offset = b & 31;
  const U field = a >> offset & ((1u << width) - 1);
  const U sign = width == 0 ? 0 : field >> (width - 1) & 1;
  // A field that runs past bit 31 takes the sign from there.
  const U run =
      offset + width > 32 ? static_cast<U>(static_cast<I>(a) >> offset) : 0;
  return offset + width > 32 ? run
         : sign != 0         ? field | ~((1u << width) - 1)
                             : field;
};

constexpr auto kPerm = [](U a, U b, U sel) {
  const UL both = UL{a} << 32 | b;
  U r = 0;
  for (int n = 0; n < 4; ++n) {
    const U s = sel >> (8 * n) & 0xff;
    U byte = 0xff;
    if (s < 8) byte = static_cast<U>(both >> (8 * s)) & 0xff;
    if (s >= 8 && s < 12)
      byte = (both >> (16 * (s - 8) + 15) & 1) != 0 ? 0xff : 0;
    if (s == 12) byte = 0;
    r |= byte << (8 * n);
  }
  return r;
};

constexpr auto kLerp = [](U a, U b, U c) {
  U r = 0;
  for (int n = 0; n < 32; n += 8) {
    r |= (((a >> n & 0xff) + (b >> n & 0xff) + (c >> n & 1)) >> 1 & 0xff) << n;
  }
  return r;
};

constexpr U AbsDiff(U a, U b) { return a > b ? a - b : b - a; }
constexpr U SadBytes(U a, U b, bool masked) {
  U s = 0;
  for (int n = 0; n < 32; n += 8) {
    if (masked && (b >> n & 0xff) == 0) continue;
    s += AbsDiff(a >> n & 0xff, b >> n & 0xff);
  }
  return s;
}

// Four sums over sliding windows of four bytes.
template <bool kMasked, bool kWide>
void QuadSad(Wave& w, const Inst& i) {
  Buffer b0, b1;
  const Lanes a = Fetch<U64>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  U out[4][kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const UL bytes = U64::Get(a, l);
    for (int n = 0; n < 4; ++n) {
      const U sum =
          SadBytes(static_cast<U>(bytes >> (8 * n)), b.lo[l], kMasked);
      U c;
      if (kWide) {
        c = w.v[i.src[2].reg + n][l];
        const UL total = UL{c} + sum;
        out[n][l] = total > 0xffffffffu ? ~0u : static_cast<U>(total);
      } else {
        c = w.v[i.src[2].reg + n / 2][l] >> (16 * (n & 1)) & 0xffff;
        out[n][l] = c + sum > 0xffff ? 0xffff : c + sum;
      }
    }
  }
  for (int n = 0; n < (kWide ? 4 : 2); ++n) {
    Buffer r;
    for (int l = 0; l < kLanes; ++l) {
      r.w[0][l] = kWide ? out[n][l] : out[2 * n][l] | out[2 * n + 1][l] << 16;
    }
    WriteLanes(w, i.dst + n, r.w[0], w.exec());
  }
}

template <bool kSigned>
void Mad64(Wave& w, const Inst& i) {
  Buffer b0, b1, b2, r;
  const Lanes a = Fetch<U32>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  const Lanes c = Fetch<U64>(w, i, 2, b2);
  alignas(64) uint8_t carry[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const UL product = kSigned ? static_cast<UL>(L{static_cast<I>(a.lo[l])} *
                                                 static_cast<I>(b.lo[l]))
                               : UL{a.lo[l]} * b.lo[l];
    const UL addend = U64::Get(c, l), sum = product + addend;
    // Bit 64 of the exact sum: a carry, or the sign of a signed sum.
    const bool overflow = ((~(product ^ addend) & (product ^ sum)) >> 63) != 0;
    carry[l] = kSigned ? ((sum >> 63) != 0) != overflow : sum < product;
    U64::Put(r, l, sum);
  }
  Store<U64>(w, i, r);
  w.SetS64(i.sdst, PackMask(carry) & w.exec());
}

template <bool kHalf>
void Bitop3(Wave& w, const Inst& i) {
  const uint32_t table = uint32_t{i.omod} << 6 | uint32_t{i.abs} << 3 | i.neg;
  Buffer buffers[3], r;
  const uint32_t* s[3];
  for (int n = 0; n < 3; ++n) {
    s[n] = buffers[n].w[0];
    if (i.src[n].kind == Operand::kVgpr) {
      s[n] = w.v[i.src[n].reg];
    } else {
      Fill(buffers[n].w[0], static_cast<U>(Uniform(w, i.src[n], false)));
    }
  }
  // The 16-bit form takes halves of its sources and writes half of vdst.
  for (int n = 0; n < 3 && kHalf; ++n) {
    const int shift = (i.op_sel >> n & 1) != 0 ? 16 : 0;
    for (int l = 0; l < kLanes; ++l)
      buffers[n].w[0][l] = s[n][l] >> shift & 0xffff;
    s[n] = buffers[n].w[0];
  }
  U on[8];
  for (int n = 0; n < 8; ++n) on[n] = (table >> n & 1) != 0 ? ~0u : 0;
  for (int l = 0; l < kLanes; ++l) {
    const U a = s[0][l], b = s[1][l], c = s[2][l];
    r.w[0][l] = (on[0] & ~a & ~b & ~c) | (on[1] & ~a & ~b & c) |
                (on[2] & ~a & b & ~c) | (on[3] & ~a & b & c) |
                (on[4] & a & ~b & ~c) | (on[5] & a & ~b & c) |
                (on[6] & a & b & ~c) | (on[7] & a & b & c);
  }
  const bool high = (i.op_sel & 8) != 0;
  for (int l = 0; l < kLanes && kHalf; ++l) {
    const U v = r.w[0][l] & 0xffff;
    r.w[0][l] = high ? (w.v[i.dst][l] & 0xffff) | v << 16 : v;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

void ReadLane(Wave& w, const Inst& i) {
  const uint32_t lane = static_cast<U>(Uniform(w, i.src[1], false)) & 63;
  w.s[i.dst] = i.src[0].kind == Operand::kVgpr
                   ? w.v[i.src[0].reg][lane]
                   : static_cast<U>(Uniform(w, i.src[0], false));
}
void WriteLane(Wave& w, const Inst& i) {
  w.v[i.dst][Uniform(w, i.src[1], false) & 63] =
      static_cast<U>(Uniform(w, i.src[0], false));
}

template <int kHalf>
void Mbcnt(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<U32>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  for (int l = 0; l < kLanes; ++l) {
    const UL below = (UL{1} << l) - 1;
    r.w[0][l] = b.lo[l] + static_cast<U>(__builtin_popcount(
                              a.lo[l] & static_cast<U>(below >> (32 * kHalf))));
  }
  Store<U32>(w, i, r);
}

// 2/pi in binary, for the argument reduction of f64 sine and cosine.
constexpr UL kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab, 0xf0cfbc209af4361d};

constexpr auto kTrigPreop = [](double a, U segment) {
  const int exponent = static_cast<int>(BitsOf(a) >> 52 & 0x7ff);
  int shift = static_cast<int>(segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  UL bits = 0;  // 53 bits of 2/pi from `shift` on
  const int word = shift / 64, at = shift % 64;
  if (word < 19) {
    bits = kTwoOverPi[word] << at;
    if (at != 0) bits |= kTwoOverPi[word + 1] >> (64 - at);
  }
  const double r = static_cast<double>(bits >> 11);
  return Ldexp(r, -53 - shift + (exponent >= 1968 ? 128 : 0));
};

U ToByte(float a) {
  const float t = a > 0 ? (a > 255.0f ? 255.0f : a) : 0.0f;
  return static_cast<U>(static_cast<I>(__builtin_rintf(t)));
}

// One byte of vdst, at the place src1 names.
void PackAccumulate(Wave& w, const Inst& i) {
  Buffer b0, b1, r;
  const Lanes a = Fetch<F32>(w, i, 0, b0), b = Fetch<U32>(w, i, 1, b1);
  for (int l = 0; l < kLanes; ++l) {
    const U at = 8 * (b.lo[l] & 3);
    r.w[0][l] = (w.v[i.dst][l] & ~(0xffu << at)) | ToByte(F32::Get(a, l)) << at;
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
}

constexpr auto kCubeMajor = [](float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
};

constexpr auto kFmaHalf = [](float a, float b, float c) {
  return FusedToOdd(a, b, c);
};

// f16 fused multiply-add: rounded once, in MODE's direction.
void FmaHalf(Wave& w, const Inst& i) {
  Buffer b0, b1, b2, r;
  const Lanes a = Fetch<F16>(w, i, 0, b0), b = Fetch<F16>(w, i, 1, b1),
              c = Fetch<F16>(w, i, 2, b2);
  for (int l = 0; l < kLanes; ++l) {
    r.w[0][l] =
        EncodeHalf(kFmaHalf(F16::Get(a, l), F16::Get(b, l), F16::Get(c, l)),
                   w.round64, w.saturate16);
  }
  Store<F16>(w, i, r);
}

constexpr auto kMadHalf = [](float a, float b, float c) {
  return HalfToFloat(FloatToHalf(a * b)) + c;
};

template <class T>
constexpr auto kMin3 =
    [](T a, T b, T c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); };
template <class T>
constexpr auto kMax3 =
    [](T a, T b, T c) { return a > b ? (a > c ? a : c) : (b > c ? b : c); };
template <class T>
constexpr auto kMed3 = [](T a, T b, T c) {
  const T lo = a < b ? a : b, hi = a < b ? b : a;
  return c < lo ? lo : c > hi ? hi : c;
};
constexpr Shape kDouble3{
    2, {SrcKind::kF64, SrcKind::kF64, SrcKind::kF64}, {2, 2, 2}};
constexpr Shape kFloat3{
    1, {SrcKind::kF32, SrcKind::kF32, SrcKind::kF32}, {1, 1, 1}};
constexpr Shape kHalf3{
    1, {SrcKind::kF16, SrcKind::kF16, SrcKind::kF16}, {1, 1, 1}};
constexpr Shape kFloatWord{1, {SrcKind::kF32, SrcKind::kB32}};
constexpr Shape kHalfWord3{1, {SrcKind::kB16, SrcKind::kB16, SrcKind::kB16}};
constexpr Shape kWord3{
    1, {SrcKind::kB32, SrcKind::kB32, SrcKind::kB32}, {1, 1, 1}};
constexpr Shape kWord2{1, {SrcKind::kB32, SrcKind::kB32}, {1, 1, 1}};
constexpr Shape kMad64Shape{
    2, {SrcKind::kB32, SrcKind::kB32, SrcKind::kB64}, {1, 1, 2}};

constexpr OpInfo kVop3[] = {
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) {
          return (static_cast<U>(L{Sext24(a)} * Sext24(b)) + c);
        }>(0x1c2, "v_mad_i32_i24"),
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) { return (a & 0xffffff) * (b & 0xffffff) + c; }>(
        0x1c3, "v_mad_u32_u24"),
    Op3<F32, F32, F32, F32,
        [](float x, float y, float z) {
          const int m = kCubeMajor(x, y, z);
          const float v = m == 2 ? z : m == 1 ? y : x;
          return (static_cast<float>(m * 2 + (v < 0 ? 1 : 0)));
        }>(0x1c4, "v_cubeid_f32"),
    Op3<F32, F32, F32, F32,
        [](float x, float y, float z) {
          const int m = kCubeMajor(x, y, z);
          return m == 2 ? (z < 0 ? -x : x) : m == 1 ? x : (x < 0 ? z : -z);
        }>(0x1c5, "v_cubesc_f32"),
    Op3<F32, F32, F32, F32,
        [](float x, float y, float z) {
          const int m = kCubeMajor(x, y, z);
          return m == 2 ? -y : m == 1 ? (y < 0 ? -z : z) : -y;
        }>(0x1c6, "v_cubetc_f32"),
    Op3<F32, F32, F32, F32,
        [](float x, float y, float z) {
          const int m = kCubeMajor(x, y, z);
          return 2 * (m == 2 ? z : m == 1 ? y : x);
        }>(0x1c7, "v_cubema_f32"),
    Op3<U32, U32, U32, U32, kBfeU>(0x1c8, "v_bfe_u32"),
    Op3<U32, U32, U32, U32, kBfeI>(0x1c9, "v_bfe_i32"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return (a & b) | (~a & c); }>(
        0x1ca, "v_bfi_b32"),
    Op3<F32, F32, F32, F32,
        [](float a, float b, float c) { return __builtin_fmaf(a, b, c); }>(
        0x1cb, "v_fma_f32"),
    Op3<F64, F64, F64, F64,
        [](double a, double b, double c) { return __builtin_fma(a, b, c); }>(
        0x1cc, "v_fma_f64"),
    Op3<U32, U32, U32, U32, kLerp>(0x1cd, "v_lerp_u8"),
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) {
          return (static_cast<U>((UL{a} << 32 | b) >> (c & 31)));
        }>(0x1ce, "v_alignbit_b32"),
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) {
          return (static_cast<U>((UL{a} << 32 | b) >> (8 * (c & 3))));
        }>(0x1cf, "v_alignbyte_b32"),
    Min3<F32>(0x1d0, "v_min3_f32"),
    Op3<I32, I32, I32, I32, kMin3<I>>(0x1d1, "v_min3_i32"),
    Op3<U32, U32, U32, U32, kMin3<U>>(0x1d2, "v_min3_u32"),
    Max3<F32>(0x1d3, "v_max3_f32"),
    Op3<I32, I32, I32, I32, kMax3<I>>(0x1d4, "v_max3_i32"),
    Op3<U32, U32, U32, U32, kMax3<U>>(0x1d5, "v_max3_u32"),
    Median3<F32>(0x1d6, "v_med3_f32"),
    Op3<I32, I32, I32, I32, kMed3<I>>(0x1d7, "v_med3_i32"),
    Op3<U32, U32, U32, U32, kMed3<U>>(0x1d8, "v_med3_u32"),
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) { return SadBytes(a, b, false) + c; }>(0x1d9,
                                                                 "v_sad_u8"),
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) { return (SadBytes(a, b, false) << 16) + c; }>(
        0x1da, "v_sad_hi_u8"),
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) {
          return (AbsDiff(a & 0xffff, b & 0xffff) + AbsDiff(a >> 16, b >> 16) +
                  c);
        }>(0x1db, "v_sad_u16"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return AbsDiff(a, b) + c; }>(
        0x1dc, "v_sad_u32"),
    Op3<U32, F32, U32, U32,
        [](float a, U b, U c) {
          const U at = 8 * (b & 3);
          return (c & ~(0xffu << at)) | ToByte(a) << at;
        }>(0x1dd, "v_cvt_pk_u8_f32", kMayRound),
    Op3<F32, F32, F32, F32,
        [](float a, float b, float c) { return (DivFixup<F32>(a, b, c)); }>(
        0x1de, "v_div_fixup_f32"),
    Op3<F64, F64, F64, F64,
        [](double a, double b, double c) { return (DivFixup<F64>(a, b, c)); }>(
        0x1df, "v_div_fixup_f64"),
    OpX(0x1e0, "v_div_scale_f32", &DivScale<F32>, kFloat3,
        kWritesMask | kMayRound),
    OpX(0x1e1, "v_div_scale_f64", &DivScale<F64>, kDouble3,
        kWritesMask | kMayRound),
    OpX(0x1e2, "v_div_fmas_f32", &DivFmas<F32>, kFloat3, kMayRound),
    OpX(0x1e3, "v_div_fmas_f64", &DivFmas<F64>, kDouble3, kMayRound),
    Op3<U32, U32, U32, U32,
        [](U a, U b, U c) { return SadBytes(a, b, true) + c; }>(0x1e4,
                                                                "v_msad_u8"),
    OpX(0x1e5, "v_qsad_pk_u16_u8", &QuadSad<false, false>,
        {2, {SrcKind::kB64, SrcKind::kB32, SrcKind::kVgprs}, {2, 1, 2}}),
    OpX(0x1e6, "v_mqsad_pk_u16_u8", &QuadSad<true, false>,
        {2, {SrcKind::kB64, SrcKind::kB32, SrcKind::kVgprs}, {2, 1, 2}}),
    OpX(0x1e7, "v_mqsad_u32_u8", &QuadSad<true, true>,
        {4, {SrcKind::kB64, SrcKind::kB32, SrcKind::kVgprs}, {2, 1, 4}}),
    OpX(0x1e8, "v_mad_u64_u32", &Mad64<false>, kMad64Shape, kWritesMask),
    OpX(0x1e9, "v_mad_i64_i32", &Mad64<true>, kMad64Shape, kWritesMask),
    Op3<F16, F16, F16, F16, kMadHalf>(0x1ea, "v_mad_legacy_f16"),
    Op3<U16, U16, U16, U16, [](U a, U b, U c) { return a * b + c; }>(
        0x1eb, "v_mad_legacy_u16"),
    Op3<U16, U16, U16, U16, [](U a, U b, U c) { return a * b + c; }>(
        0x1ec, "v_mad_legacy_i16"),
    Op3<U32, U32, U32, U32, kPerm>(0x1ed, "v_perm_b32"),
    OpX(0x1ee, "v_fma_legacy_f16", &FmaHalf, kHalf3),
    Op3<F16, F16, F16, F16,
        [](float a, float b, float c) { return (DivFixup<F32>(a, b, c)); }>(
        0x1ef, "v_div_fixup_legacy_f16"),
    OpX(0x1f0, "v_cvt_pkaccum_u8_f32", &PackAccumulate, kFloatWord, kReadsOld),
    Op3<U32, U16, U16, U32, [](U a, U b, U c) { return a * b + c; }>(
        0x1f1, "v_mad_u32_u16"),
    Op3<U32, I16, I16, U32,
        [](I a, I b, U c) { return (static_cast<U>(a * b) + c); }>(
        0x1f2, "v_mad_i32_i16"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return (a ^ b) + c; }>(
        0x1f3, "v_xad_u32"),
    Min3<F16>(0x1f4, "v_min3_f16"),
    Op3<I16, I16, I16, I16, kMin3<I>>(0x1f5, "v_min3_i16"),
    Op3<U16, U16, U16, U16, kMin3<U>>(0x1f6, "v_min3_u16"),
    Max3<F16>(0x1f7, "v_max3_f16"),
    Op3<I16, I16, I16, I16, kMax3<I>>(0x1f8, "v_max3_i16"),
    Op3<U16, U16, U16, U16, kMax3<U>>(0x1f9, "v_max3_u16"),
    Median3<F16>(0x1fa, "v_med3_f16"),
    Op3<I16, I16, I16, I16, kMed3<I>>(0x1fb, "v_med3_i16"),
    Op3<U16, U16, U16, U16, kMed3<U>>(0x1fc, "v_med3_u16"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return (a << (b & 31)) + c; }>(
        0x1fd, "v_lshl_add_u32"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return (a + b) << (c & 31); }>(
        0x1fe, "v_add_lshl_u32"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return a + b + c; }>(
        0x1ff, "v_add3_u32"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return a << (b & 31) | c; }>(
        0x200, "v_lshl_or_b32"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return (a & b) | c; }>(
        0x201, "v_and_or_b32"),
    Op3<U32, U32, U32, U32, [](U a, U b, U c) { return a | b | c; }>(
        0x202, "v_or3_b32"),
    Op3<F16, F16, F16, F16, kMadHalf>(0x203, "v_mad_f16"),
    Op3<WideU16, U16, U16, U16, [](U a, U b, U c) { return L{a} * b + c; }>(
        0x204, "v_mad_u16"),
    Op3<WideI16, I16, I16, I16, [](I a, I b, I c) { return L{a} * b + c; }>(
        0x205, "v_mad_i16"),
    OpX(0x206, "v_fma_f16", &FmaHalf, kHalf3),
    Op3<F16, F16, F16, F16,
        [](float a, float b, float c) { return (DivFixup<F32>(a, b, c)); }>(
        0x207, "v_div_fixup_f16"),
    Op3<U64, U64, U32, U64, [](UL a, U b, UL c) { return (a << (b & 7)) + c; }>(
        0x208, "v_lshl_add_u64"),
    OpX(0x233, "v_bitop3_b16", &Bitop3<true>, kHalfWord3, kTruthTable),
    OpX(0x234, "v_bitop3_b32", &Bitop3<false>, kWord3, kTruthTable),
    Op2<F64, F64, F64, [](double a, double b) { return a + b; }>(0x280,
                                                                 "v_add_f64"),
    Op2<F64, F64, F64, [](double a, double b) { return a * b; }>(0x281,
                                                                 "v_mul_f64"),
    Min2<F64>(0x282, "v_min_f64"),
    Max2<F64>(0x283, "v_max_f64"),
    Op2<F64, F64, I32, [](double a, I b) { return Ldexp(a, b); }>(
        0x284, "v_ldexp_f64"),
    Op2<U32, U32, U32, [](U a, U b) { return a * b; }>(0x285, "v_mul_lo_u32"),
    Op2<U32, U32, U32,
        [](U a, U b) { return (static_cast<U>(UL{a} * b >> 32)); }>(
        0x286, "v_mul_hi_u32"),
    Op2<I32, I32, I32,
        [](I a, I b) { return (static_cast<I>(L{a} * b >> 32)); }>(
        0x287, "v_mul_hi_i32"),
    Op2<F32, F32, I32, [](float a, I b) { return Ldexp(a, b); }>(0x288,
                                                                 "v_ldexp_f32"),
    OpX(0x289, "v_readlane_b32", &ReadLane, kWord2, kWritesSgpr),
    OpX(0x28a, "v_writelane_b32", &WriteLane, kWord2),
    Op2<U32, U32, U32,
        [](U a, U b) { return (static_cast<U>(__builtin_popcount(a)) + b); }>(
        0x28b, "v_bcnt_u32_b32"),
    OpX(0x28c, "v_mbcnt_lo_u32_b32", &Mbcnt<0>, kWord2),
    OpX(0x28d, "v_mbcnt_hi_u32_b32", &Mbcnt<1>, kWord2),
    Op2<U64, U32, U64, [](U a, UL b) { return b << (a & 63); }>(
        0x28f, "v_lshlrev_b64"),
    Op2<U64, U32, U64, [](U a, UL b) { return (b >> (a & 63)); }>(
        0x290, "v_lshrrev_b64"),
    Op2<I64, U32, I64, [](U a, L b) { return (b >> (a & 63)); }>(
        0x291, "v_ashrrev_i64"),
    Op2<F64, F64, U32, kTrigPreop>(0x292, "v_trig_preop_f64"),
    Op2<U32, U32, U32,
        [](U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); }>(
        0x293, "v_bfm_b32"),
    Op2<WideI32, I32, I32, [](I a, I b) { return L{a} + b; }>(0x29c,
                                                              "v_add_i32"),
    Op2<WideI32, I32, I32, [](I a, I b) { return L{a} - b; }>(0x29d,
                                                              "v_sub_i32"),
    Op2<WideI16, I16, I16, [](I a, I b) { return L{a} + b; }>(0x29e,
                                                              "v_add_i16"),
    Op2<WideI16, I16, I16, [](I a, I b) { return L{a} - b; }>(0x29f,
                                                              "v_sub_i16"),
    Op2<U32, R16, R16, [](U a, U b) { return a | b << 16; }>(0x2a0,
                                                             "v_pack_b32_f16"),
    Op2<F32, F32, F32,
        [](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }>(
        0x2a1, "v_mul_legacy_f32"),
    Op3<F32, F32, F32, F32,
        [](float a, float b, float c) { return Minimum(Minimum(a, b), c); }>(
        0x2a8, "v_minimum3_f32"),
    Op3<F32, F32, F32, F32,
        [](float a, float b, float c) { return Maximum(Maximum(a, b), c); }>(
        0x2a9, "v_maximum3_f32"),
};

}  // namespace

OpTable Vop3Table() { return {kVop3, sizeof(kVop3) / sizeof(kVop3[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
