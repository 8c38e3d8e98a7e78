// VOP1: one source.
#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/tables.h"
#include "tests/emulator/lane_order.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

using U = uint32_t;
using I = int32_t;

void Nothing(Wave&, const Inst&) {}

void ReadFirstLane(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  const int lane = exec == 0 ? 0 : __builtin_ctzll(exec);
  w.s[i.dst] = i.src[0].kind == Operand::kVgpr
                   ? w.v[i.src[0].reg][lane]
                   : static_cast<U>(Uniform(w, i.src[0], false));
}

void AccMove(Wave& w, const Inst& i) {
  WriteLanes(w, i.dst, w.v[i.src[0].reg], w.exec());
}

void Swap(Wave& w, const Inst& i) {
  Buffer a, b;
  std::memcpy(a.w[0], w.v[i.src[0].reg], sizeof(a.w[0]));
  std::memcpy(b.w[0], w.v[i.dst], sizeof(b.w[0]));
  WriteLanes(w, i.dst, a.w[0], w.exec());
  WriteLanes(w, i.src[0].reg, b.w[0], w.exec());
}

// Rows (of `kRow` lanes): odd rows of vdst trade places with even rows of src0.
// Lanes that are off keep what they have.
template <int kRow>
void PermlaneSwap(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  Buffer d, s;
  std::memcpy(d.w[0], w.v[i.dst], sizeof(d.w[0]));
  std::memcpy(s.w[0], w.v[i.src[0].reg], sizeof(s.w[0]));
  Buffer a = d, b = s;
  for (int l = 0; l < kLanes; ++l) {
    const bool odd = (l / kRow & 1) != 0;
    const int from = odd ? l - kRow : l + kRow;
    const Received received = ReceivedFrom(i, exec, from);
    if (received == Received::kNothing) continue;
    const uint32_t value = odd ? s.w[0][from] : d.w[0][from];
    (odd ? a : b).w[0][l] = received == Received::kValue ? value : 0;
  }
  WriteLanes(w, i.dst, a.w[0], exec);
  WriteLanes(w, i.src[0].reg, b.w[0], exec);
}

template <Mini kFormat>
void CvtPkF32(Wave& w, const Inst& i) {
  Buffer b, r;
  const Lanes s = Fetch<U32>(w, i, 0, b);
  const int shift = (i.op_sel & 1) != 0 ? 16 : 0;
  for (int l = 0; l < kLanes; ++l) {
    r.w[0][l] = BitsOf(DecodeMini<kFormat>(s.lo[l] >> shift & 0xff));
    r.w[1][l] = BitsOf(DecodeMini<kFormat>(s.lo[l] >> (shift + 8) & 0xff));
  }
  WriteLanes(w, i.dst, r.w[0], w.exec());
  WriteLanes(w, i.dst + 1, r.w[1], w.exec());
}

// The byte is chosen by op_sel (as two bits) or by SDWA.
template <Mini kFormat>
void CvtF32Byte(Wave& w, const Inst& i) {
  Buffer b, r;
  const Lanes s = Fetch<U32>(w, i, 0, b);
  const int byte = i.op_sel & 3;
  for (int l = 0; l < kLanes; ++l) {
    F32::Put(r, l, DecodeMini<kFormat>(s.lo[l] >> (8 * byte) & 0xff));
  }
  Store<F32>(w, i, r);
}

// bf16 source: the sign bit and the halves are where f16's are.
struct Bf16 : R16 {
  using V = float;
  static constexpr SrcKind kSrc = SrcKind::kBf16;
  INGOT_EMULATOR_INLINE static V Get(const Lanes& s, int l) {
    return Bf16ToFloat(s.lo[l] & 0xffff);
  }
};

template <class D, auto kFunction>
constexpr OpInfo T1(uint16_t opcode, const char* name) {
  return Op1<D, D, kFunction>(opcode, name, 0, OpClass::kTrans);
}

constexpr auto kNorm = [](float x, float scale, float low) {
  const float c = x < low ? low : x > 1 ? 1.0f : x;
  return IsNan(x) ? 0 : static_cast<I>(__builtin_rintf(c * scale));
};

constexpr auto kSatByte = [](U pair) {
  U r = 0;
  for (int n = 0; n < 2; ++n) {
    const I v = static_cast<int16_t>(pair >> (16 * n));
    r |= static_cast<U>(v < 0 ? 0 : v > 255 ? 255 : v) << (8 * n);
  }
  return r;
};

constexpr Shape kSwapShape{1, {SrcKind::kB32}};

constexpr OpInfo NopLine(uint16_t opcode, const char* name) {
  return OpX(opcode, name, &Nothing, {0, {}}, kNoExtra);
}

constexpr OpInfo kVop1[] = {
    NopLine(0x00, "v_nop"),
    Op1<U32, U32, [](U a) { return a; }>(0x01, "v_mov_b32"),
    OpX(0x02, "v_readfirstlane_b32", &ReadFirstLane, {1, {SrcKind::kB32}},
        kWritesSgpr | kNoExtra),
    Op1<I32, F64, [](double a) { return ToI32(a); }>(0x03, "v_cvt_i32_f64"),
    Op1<F64, I32, [](I a) { return (static_cast<double>(a)); }>(
        0x04, "v_cvt_f64_i32"),
    Op1<F32, I32, [](I a) { return (static_cast<float>(a)); }>(0x05,
                                                               "v_cvt_f32_i32"),
    Op1<F32, U32,
        [](U a) { return (static_cast<float>(static_cast<double>(a))); }>(
        0x06, "v_cvt_f32_u32"),
    Op1<U32, F32, [](float a) { return (ToU32(static_cast<double>(a))); }>(
        0x07, "v_cvt_u32_f32"),
    Op1<I32, F32, [](float a) { return ToI32(a); }>(0x08, "v_cvt_i32_f32"),
    Op1<F16, F32, [](float a) { return a; }>(0x0a, "v_cvt_f16_f32"),
    Op1<F32, F16, [](float a) { return a; }>(0x0b, "v_cvt_f32_f16"),
    Op1<I32, F32,
        [](float a) {
          return (ToI32(__builtin_floor(static_cast<double>(a) + 0.5)));
        }>(0x0c, "v_cvt_rpi_i32_f32"),
    Op1<I32, F32, [](float a) { return ToI32(__builtin_floorf(a)); }>(
        0x0d, "v_cvt_flr_i32_f32"),
    Op1<F32, U32,
        [](U a) {
          return (static_cast<float>(static_cast<I>(a << 28) >> 28) * 0.0625f);
        }>(0x0e, "v_cvt_off_f32_i4"),
    Op1<F32, F64, [](double a) { return (static_cast<float>(a)); }>(
        0x0f, "v_cvt_f32_f64"),
    Op1<F64, F32, [](float a) { return (static_cast<double>(a)); }>(
        0x10, "v_cvt_f64_f32"),
    Op1<F32, U32,
        [](U a) { return (static_cast<float>(static_cast<I>(a & 0xff))); }>(
        0x11, "v_cvt_f32_ubyte0"),
    Op1<F32, U32,
        [](U a) {
          return (static_cast<float>(static_cast<I>(a >> 8 & 0xff)));
        }>(0x12, "v_cvt_f32_ubyte1"),
    Op1<F32, U32,
        [](U a) {
          return (static_cast<float>(static_cast<I>(a >> 16 & 0xff)));
        }>(0x13, "v_cvt_f32_ubyte2"),
    Op1<F32, U32,
        [](U a) { return (static_cast<float>(static_cast<I>(a >> 24))); }>(
        0x14, "v_cvt_f32_ubyte3"),
    Op1<U32, F64, [](double a) { return ToU32(a); }>(0x15, "v_cvt_u32_f64"),
    Op1<F64, U32, [](U a) { return (static_cast<double>(a)); }>(
        0x16, "v_cvt_f64_u32"),
    Op1<F64, F64, [](double a) { return __builtin_trunc(a); }>(0x17,
                                                               "v_trunc_f64"),
    Op1<F64, F64, [](double a) { return __builtin_ceil(a); }>(0x18,
                                                              "v_ceil_f64"),
    Op1<F64, F64, [](double a) { return __builtin_roundeven(a); }>(
        0x19, "v_rndne_f64"),
    Op1<F64, F64, [](double a) { return __builtin_floor(a); }>(0x1a,
                                                               "v_floor_f64"),
    Op1<F32, F32, [](float a) { return Fract(a, 0x1.fffffep-1f); }>(
        0x1b, "v_fract_f32"),
    Op1<F32, F32, [](float a) { return __builtin_truncf(a); }>(0x1c,
                                                               "v_trunc_f32"),
    Op1<F32, F32, [](float a) { return __builtin_ceilf(a); }>(0x1d,
                                                              "v_ceil_f32"),
    Op1<F32, F32, [](float a) { return __builtin_roundevenf(a); }>(
        0x1e, "v_rndne_f32"),
    Op1<F32, F32, [](float a) { return __builtin_floorf(a); }>(0x1f,
                                                               "v_floor_f32"),
    T1<F32, [](float a) { return Exp2(a); }>(0x20, "v_exp_f32"),
    T1<F32, [](float a) { return Log2(a); }>(0x21, "v_log_f32"),
    T1<F32, [](float a) { return Rcp(a); }>(0x22, "v_rcp_f32"),
    T1<F32, [](float a) { return Rcp(a); }>(0x23, "v_rcp_iflag_f32"),
    T1<F32, [](float a) { return Rsq(a); }>(0x24, "v_rsq_f32"),
    T1<F64, [](double a) { return 1.0 / a; }>(0x25, "v_rcp_f64"),
    T1<F64, [](double a) { return 1.0 / std::sqrt(a); }>(0x26, "v_rsq_f64"),
    T1<F32, [](float a) { return Sqrt(a); }>(0x27, "v_sqrt_f32"),
    T1<F64, [](double a) { return std::sqrt(a); }>(0x28, "v_sqrt_f64"),
    T1<F32, [](float a) { return SinOf(a); }>(0x29, "v_sin_f32"),
    T1<F32, [](float a) { return CosOf(a); }>(0x2a, "v_cos_f32"),
    Op1<U32, U32, [](U a) { return ~a; }>(0x2b, "v_not_b32"),
    Op1<U32, U32, [](U a) { return ReverseBits(a); }>(0x2c, "v_bfrev_b32"),
    Op1<I32, U32, [](U a) { return a == 0 ? -1 : __builtin_clz(a); }>(
        0x2d, "v_ffbh_u32"),
    Op1<I32, U32, [](U a) { return a == 0 ? -1 : __builtin_ctz(a); }>(
        0x2e, "v_ffbl_b32"),
    Op1<I32, I32,
        [](I a) {
          const U folded = (static_cast<U>(a < 0 ? ~a : a));
          return folded == 0 ? -1 : __builtin_clz(folded);
        }>(0x2f, "v_ffbh_i32"),
    Op1<I32, F64, [](double a) { return FrexpExp(a); }>(0x30,
                                                        "v_frexp_exp_i32_f64"),
    Op1<F64, F64, [](double a) { return FrexpMant(a); }>(0x31,
                                                         "v_frexp_mant_f64"),
    Op1<F64, F64, [](double a) { return Fract(a, 0x1.fffffffffffffp-1); }>(
        0x32, "v_fract_f64"),
    Op1<I32, F32, [](float a) { return FrexpExp(a); }>(0x33,
                                                       "v_frexp_exp_i32_f32"),
    Op1<F32, F32, [](float a) { return (static_cast<float>(FrexpMant(a))); }>(
        0x34, "v_frexp_mant_f32"),
    NopLine(0x35, "v_clrexcp"),
    Op1<U64, U64, [](uint64_t a) { return a; }>(0x38, "v_mov_b64"),
    Op1<F16, U16, [](U a) { return (static_cast<float>(static_cast<I>(a))); }>(
        0x39, "v_cvt_f16_u16"),
    Op1<F16, I16, [](I a) { return (static_cast<float>(a)); }>(0x3a,
                                                               "v_cvt_f16_i16"),
    Op1<U16, F16,
        [](float a) {
          const float c = (a > 0 ? (a > 65535.0f ? 65535.0f : a) : 0.0f);
          return (static_cast<U>(static_cast<I>(c)));
        }>(0x3b, "v_cvt_u16_f16"),
    Op1<I16, F16,
        [](float a) {
          const float c = (a < -32768.0f  ? -32768.0f
                           : a > 32767.0f ? 32767.0f
                                          : a);
          return (IsNan(a) ? 0 : static_cast<I>(c));
        }>(0x3c, "v_cvt_i16_f16"),
    T1<F16, [](float a) { return 1.0f / a; }>(0x3d, "v_rcp_f16"),
    T1<F16, [](float a) { return __builtin_sqrtf(a); }>(0x3e, "v_sqrt_f16"),
    T1<F16, [](float a) { return 1.0f / __builtin_sqrtf(a); }>(0x3f,
                                                               "v_rsq_f16"),
    T1<F16, [](float a) { return Log2(a); }>(0x40, "v_log_f16"),
    T1<F16, [](float a) { return Exp2(a); }>(0x41, "v_exp_f16"),
    Op1<F16, F16, [](float a) { return (static_cast<float>(FrexpMant(a))); }>(
        0x42, "v_frexp_mant_f16"),
    Op1<I16, F16, [](float a) { return FrexpExp(a); }>(0x43,
                                                       "v_frexp_exp_i16_f16"),
    Op1<F16, F16, [](float a) { return __builtin_floorf(a); }>(0x44,
                                                               "v_floor_f16"),
    Op1<F16, F16, [](float a) { return __builtin_ceilf(a); }>(0x45,
                                                              "v_ceil_f16"),
    Op1<F16, F16, [](float a) { return __builtin_truncf(a); }>(0x46,
                                                               "v_trunc_f16"),
    Op1<F16, F16, [](float a) { return __builtin_roundevenf(a); }>(
        0x47, "v_rndne_f16"),
    Op1<F16, F16, [](float a) { return Fract(a, 0x1.ffcp-1f); }>(0x48,
                                                                 "v_fract_f16"),
    T1<F16, [](float a) { return SinOf(a); }>(0x49, "v_sin_f16"),
    T1<F16, [](float a) { return CosOf(a); }>(0x4a, "v_cos_f16"),
    T1<F32, [](float a) { return Exp2(a); }>(0x4b, "v_exp_legacy_f32"),
    T1<F32, [](float a) { return Log2(a); }>(0x4c, "v_log_legacy_f32"),
    Op1<I16, F16, [](float a) { return kNorm(a, 32767.0f, -1.0f); }>(
        0x4d, "v_cvt_norm_i16_f16"),
    Op1<I16, F16, [](float a) { return kNorm(a, 65535.0f, 0.0f); }>(
        0x4e, "v_cvt_norm_u16_f16"),
    Op1<U32, U32, kSatByte>(0x4f, "v_sat_pk_u8_i16"),
    OpX(0x51, "v_swap_b32", &Swap, kSwapShape, kSwaps | kNoExtra),
    OpX(0x52, "v_accvgpr_mov_b32", &AccMove, {1, {SrcKind::kB32}},
        kAccSource | kAccDest | kNoExtra),
    OpX(0x54, "v_cvt_f32_fp8", &CvtF32Byte<kFp8Format>, {1, {SrcKind::kB32}}),
    OpX(0x55, "v_cvt_f32_bf8", &CvtF32Byte<kBf8Format>, {1, {SrcKind::kB32}}),
    OpX(0x56, "v_cvt_pk_f32_fp8", &CvtPkF32<kFp8Format>, {2, {SrcKind::kB32}}),
    OpX(0x57, "v_cvt_pk_f32_bf8", &CvtPkF32<kBf8Format>, {2, {SrcKind::kB32}}),
    Op1<U32, U32, [](U a) { return NextRandom(a); }>(0x58, "v_prng_b32"),
    OpX(0x59, "v_permlane16_swap_b32", &PermlaneSwap<16>, kSwapShape,
        kSwaps | kNoExtra),
    OpX(0x5a, "v_permlane32_swap_b32", &PermlaneSwap<32>, kSwapShape,
        kSwaps | kNoExtra),
    Op1<F32, Bf16, [](float a) { return a; }>(0x5b, "v_cvt_f32_bf16"),
};

}  // namespace

OpTable Vop1Table() { return {kVop1, sizeof(kVop1) / sizeof(kVop1[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
