// Scalar ALU: SOPC.
#include "tests/emulator/interp/sop.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

void SetGprIdxOn(Wave& w, const Inst& i) {
  const uint32_t modes = i.words[0] >> 8 & 0xf;
  w.s[kM0] =
      (w.s[kM0] & ~0xf0ffu) | (ReadScalar<U>(w, i.src[0]) & 0xff) | modes << 12;
  w.gpr_idx = true;
}

constexpr OpInfo SkipLine() {
  OpInfo o = SC<U, U, [](U, U) { return false; }>(0x10, "s_setvskip");
  o.run = &NotModelled;
  return o;
}

constexpr OpInfo SetGprIdxOnLine() {
  OpInfo o = SH(0x11, "s_set_gpr_idx_on", &SetGprIdxOn, 0, 1);
  return o;
}

constexpr OpInfo kSopc[] = {
    SC<I, I, [](I a, I b) { return a == b; }>(0x00, "s_cmp_eq_i32"),
    SC<I, I, [](I a, I b) { return a != b; }>(0x01, "s_cmp_lg_i32"),
    SC<I, I, [](I a, I b) { return (a > b); }>(0x02, "s_cmp_gt_i32"),
    SC<I, I, [](I a, I b) { return (a >= b); }>(0x03, "s_cmp_ge_i32"),
    SC<I, I, [](I a, I b) { return a < b; }>(0x04, "s_cmp_lt_i32"),
    SC<I, I, [](I a, I b) { return a <= b; }>(0x05, "s_cmp_le_i32"),
    SC<U, U, [](U a, U b) { return a == b; }>(0x06, "s_cmp_eq_u32"),
    SC<U, U, [](U a, U b) { return a != b; }>(0x07, "s_cmp_lg_u32"),
    SC<U, U, [](U a, U b) { return (a > b); }>(0x08, "s_cmp_gt_u32"),
    SC<U, U, [](U a, U b) { return (a >= b); }>(0x09, "s_cmp_ge_u32"),
    SC<U, U, [](U a, U b) { return a < b; }>(0x0a, "s_cmp_lt_u32"),
    SC<U, U, [](U a, U b) { return a <= b; }>(0x0b, "s_cmp_le_u32"),
    SC<U, U, [](U a, U b) { return ((a >> (b & 31) & 1) == 0); }>(
        0x0c, "s_bitcmp0_b32"),
    SC<U, U, [](U a, U b) { return ((a >> (b & 31) & 1) != 0); }>(
        0x0d, "s_bitcmp1_b32"),
    SC<UL, U, [](UL a, U b) { return ((a >> (b & 63) & 1) == 0); }>(
        0x0e, "s_bitcmp0_b64"),
    SC<UL, U, [](UL a, U b) { return ((a >> (b & 63) & 1) != 0); }>(
        0x0f, "s_bitcmp1_b64"),
    SkipLine(),
    SetGprIdxOnLine(),
    SC<UL, UL, [](UL a, UL b) { return a == b; }>(0x12, "s_cmp_eq_u64"),
    SC<UL, UL, [](UL a, UL b) { return a != b; }>(0x13, "s_cmp_lg_u64"),
};

}  // namespace

OpTable SopcTable() { return {kSopc, sizeof(kSopc) / sizeof(kSopc[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
