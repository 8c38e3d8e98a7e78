// Scalar ALU: SOP2.
#include <type_traits>

#include "tests/emulator/interp/sop.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

constexpr auto kAddU = [](U a, U b, uint32_t& scc) {
  const UL r = UL{a} + b;
  scc = r >> 32 != 0;
  return static_cast<U>(r);
};
constexpr auto kSubU = [](U a, U b, uint32_t& scc) {
  scc = b > a;
  return a - b;
};
constexpr auto kSubI = [](U a, U b, uint32_t& scc) {
  const U r = a - b;
  scc = ((a ^ b) & (a ^ r)) >> 31;
  return r;
};
constexpr auto kAddC = [](U a, U b, uint32_t& scc) {
  const UL r = UL{a} + b + scc;
  scc = r >> 32 != 0;
  return static_cast<U>(r);
};
constexpr auto kSubB = [](U a, U b, uint32_t& scc) {
  const UL r = UL{b} + scc;
  scc = r > a;
  return static_cast<U>(a - r);
};

template <class T>
constexpr auto kMin = [](T a, T b, uint32_t& scc) {
  scc = a < b;
  return a < b ? a : b;
};
template <class T>
constexpr auto kMax = [](T a, T b, uint32_t& scc) {
  scc = a >= b;
  return a > b ? a : b;
};
template <class T>
constexpr auto kSelect =
    [](T a, T b, uint32_t& scc) { return scc != 0 ? a : b; };

template <int kShift>
constexpr auto kShiftAdd = [](U a, U b, uint32_t& scc) {
  const UL r = (UL{a} << kShift) + b;
  scc = r >> 32 != 0;
  return static_cast<U>(r);
};

template <class T>
constexpr T BitField(T a, U b, int width_bits) {
  const int bits = static_cast<int>(sizeof(T)) * 8;
  const int offset = static_cast<int>(b & (bits - 1));
  const int width = static_cast<int>(b >> 16 & ((1u << width_bits) - 1));
  if (width == 0) return 0;
  const T shifted = static_cast<T>(a >> offset);
  if (width >= bits) return shifted;
  // For signed T the field's top bit extends.
  using Un = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Un>(shifted) << (bits - width)) >>
         (bits - width);
}

constexpr OpInfo ForkLine() {
  OpInfo o = SH(0x29, "s_cbranch_g_fork", &GroupFork, 0, 2, kEndsRun,
                OpClass::kBranch);
  o.src_words[1] = 2;
  o.src_kind[1] = SrcKind::kB64;
  return o;
}

constexpr OpInfo RestoreLine() {
  OpInfo o = SH(0x2b, "s_rfe_restore_b64", &NotModelled, 0, 2);
  o.src_words[1] = 1;
  o.src_kind[1] = SrcKind::kB32;
  return o;
}

constexpr OpInfo kSop2[] = {
    S2<U, U, U, kAddU>(0x00, "s_add_u32"),
    S2<U, U, U, kSubU>(0x01, "s_sub_u32"),
    S2<U, U, U, kAddI>(0x02, "s_add_i32"),
    S2<U, U, U, kSubI>(0x03, "s_sub_i32"),
    S2<U, U, U, kAddC>(0x04, "s_addc_u32", kReadsScc),
    S2<U, U, U, kSubB>(0x05, "s_subb_u32", kReadsScc),
    S2<I, I, I, kMin<I>>(0x06, "s_min_i32"),
    S2<U, U, U, kMin<U>>(0x07, "s_min_u32"),
    S2<I, I, I, kMax<I>>(0x08, "s_max_i32"),
    S2<U, U, U, kMax<U>>(0x09, "s_max_u32"),
    S2<U, U, U, kSelect<U>>(0x0a, "s_cselect_b32", kReadsScc),
    S2<UL, UL, UL, kSelect<UL>>(0x0b, "s_cselect_b64", kReadsScc),
    L2<U, U, U, [](U a, U b) { return a & b; }>(0x0c, "s_and_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a & b; }>(0x0d, "s_and_b64"),
    L2<U, U, U, [](U a, U b) { return a | b; }>(0x0e, "s_or_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a | b; }>(0x0f, "s_or_b64"),
    L2<U, U, U, [](U a, U b) { return a ^ b; }>(0x10, "s_xor_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a ^ b; }>(0x11, "s_xor_b64"),
    L2<U, U, U, [](U a, U b) { return a & ~b; }>(0x12, "s_andn2_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a & ~b; }>(0x13, "s_andn2_b64"),
    L2<U, U, U, [](U a, U b) { return a | ~b; }>(0x14, "s_orn2_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return a | ~b; }>(0x15, "s_orn2_b64"),
    L2<U, U, U, [](U a, U b) { return ~(a & b); }>(0x16, "s_nand_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return ~(a & b); }>(0x17, "s_nand_b64"),
    L2<U, U, U, [](U a, U b) { return ~(a | b); }>(0x18, "s_nor_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return ~(a | b); }>(0x19, "s_nor_b64"),
    L2<U, U, U, [](U a, U b) { return ~(a ^ b); }>(0x1a, "s_xnor_b32"),
    L2<UL, UL, UL, [](UL a, UL b) { return ~(a ^ b); }>(0x1b, "s_xnor_b64"),
    L2<U, U, U, [](U a, U b) { return a << (b & 31); }>(0x1c, "s_lshl_b32"),
    L2<UL, UL, U, [](UL a, U b) { return a << (b & 63); }>(0x1d, "s_lshl_b64"),
    L2<U, U, U, [](U a, U b) { return (a >> (b & 31)); }>(0x1e, "s_lshr_b32"),
    L2<UL, UL, U, [](UL a, U b) { return (a >> (b & 63)); }>(0x1f,
                                                             "s_lshr_b64"),
    L2<I, I, U, [](I a, U b) { return (a >> (b & 31)); }>(0x20, "s_ashr_i32"),
    L2<IL, IL, U, [](IL a, U b) { return (a >> (b & 63)); }>(0x21,
                                                             "s_ashr_i64"),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return ((1u << (a & 31)) - 1) << (b & 31); }>(
        0x22, "s_bfm_b32"),
    S2<UL, U, U,
       [](U a, U b, uint32_t&) {
         return ((UL{1} << (a & 63)) - 1) << (b & 63);
       }>(0x23, "s_bfm_b64"),
    S2<U, U, U, [](U a, U b, uint32_t&) { return a * b; }>(0x24, "s_mul_i32"),
    L2<U, U, U, [](U a, U b) { return (BitField<U>(a, b, 7)); }>(0x25,
                                                                 "s_bfe_u32"),
    L2<I, I, U, [](I a, U b) { return (BitField<I>(a, b, 7)); }>(0x26,
                                                                 "s_bfe_i32"),
    L2<UL, UL, U, [](UL a, U b) { return (BitField<UL>(a, b, 7)); }>(
        0x27, "s_bfe_u64"),
    L2<IL, IL, U, [](IL a, U b) { return (BitField<IL>(a, b, 7)); }>(
        0x28, "s_bfe_i64"),
    ForkLine(),
    L2<U, U, U,
       [](U a, U b) {
         const U d = a - b;
         return (static_cast<I>(d) < 0 ? 0u - d : d);
       }>(0x2a, "s_absdiff_i32"),
    RestoreLine(),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return (static_cast<U>(UL{a} * b >> 32)); }>(
        0x2c, "s_mul_hi_u32"),
    S2<U, I, I,
       [](I a, I b, uint32_t&) { return (static_cast<U>(IL{a} * b >> 32)); }>(
        0x2d, "s_mul_hi_i32"),
    S2<U, U, U, kShiftAdd<1>>(0x2e, "s_lshl1_add_u32"),
    S2<U, U, U, kShiftAdd<2>>(0x2f, "s_lshl2_add_u32"),
    S2<U, U, U, kShiftAdd<3>>(0x30, "s_lshl3_add_u32"),
    S2<U, U, U, kShiftAdd<4>>(0x31, "s_lshl4_add_u32"),
    S2<U, U, U, [](U a, U b, uint32_t&) { return (a & 0xffff) | b << 16; }>(
        0x32, "s_pack_ll_b32_b16"),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return (a & 0xffff) | (b & 0xffff0000); }>(
        0x33, "s_pack_lh_b32_b16"),
    S2<U, U, U,
       [](U a, U b, uint32_t&) { return (a >> 16 | (b & 0xffff0000)); }>(
        0x34, "s_pack_hh_b32_b16"),
};

}  // namespace

OpTable Sop2Table() { return {kSop2, sizeof(kSop2) / sizeof(kSop2[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
