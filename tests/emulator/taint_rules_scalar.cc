// Scalar instructions. SCC is the flag; a rule that leaves it alone keeps what
// it was.
#include "tests/emulator/taint_rules.h"

namespace ingot::emulator::taint {
namespace {

Bits Amount(Bits by, int width) { return Low(by, width == 64 ? 6 : 5); }

// SCC: the result is not 0.
Bits Logical(Lane& l, Bits result) {
  l.flag = NotZero(result);
  return result;
}
template <uint32_t kTable>
Bits Table(Lane& l) {
  return Logical(l, Logic(kTable, l.s[0], l.s[1], l.s[2], l.width));
}
Bits Left(Lane& l) {
  return Logical(l, ShiftLeft(l.s[0], Amount(l.s[1], l.width), l.width));
}
Bits Right(Lane& l) {
  return Logical(l, ShiftRight(l.s[0], Amount(l.s[1], l.width), l.width));
}
Bits RightSigned(Lane& l) {
  return Logical(l, ShiftRightSigned(l.s[0], Amount(l.s[1], l.width), l.width));
}
template <bool kSigned>
Bits BitField(Lane& l) {
  const int bits = l.width == 64 ? 6 : 5;
  if ((l.s[1].undef & (Mask(bits) | 0x7f0000)) != 0)
    return Logical(l, Mixed(l.s[0].most(), 0, l.width));
  const int at = static_cast<int>(l.s[1].value & Mask(bits));
  const int size = static_cast<int>(l.s[1].value >> 16 & 0x7f);
  if (size == 0) return Logical(l, {});
  const Bits shifted = kSigned ? ShiftRightSigned(l.s[0], Known(at), l.width)
                               : ShiftRight(l.s[0], Known(at), l.width);
  if (size >= l.width) return Logical(l, shifted);
  const Bits field = Low(shifted, size);
  return Logical(l, kSigned ? Extend(field, size, l.width) : field);
}

template <bool kSigned>
Bits AddFlag(Lane& l) {
  const Bits wide = Add(Add(l.s[0], l.s[1], 33), l.carry, 33);
  l.flag =
      kSigned ? Truth(false, (wide.undef >> 31 & 1) != 0) : Field(wide, 32, 1);
  return Low(wide, 32);
}
template <bool kSigned>
Bits SubtractFlag(Lane& l) {
  const Bits wide = Subtract(Subtract(l.s[0], l.s[1], 33), l.carry, 33);
  l.flag =
      kSigned ? Truth(false, (wide.undef >> 31 & 1) != 0) : Field(wide, 32, 1);
  return Low(wide, 32);
}
template <LaneRule kRule>
Bits WithoutCarry(Lane& l) {
  l.carry = {};
  return kRule(l);
}
template <int kShift>
Bits ShiftAdd(Lane& l) {
  const Bits sum =
      Add({l.s[0].value << kShift, l.s[0].undef << kShift}, l.s[1], 64);
  l.flag = NotZero(Field(sum, 32, 32));
  return Low(sum, 32);
}
Bits Product(Lane& l) { return Multiply(l.s[0], l.s[1], l.width); }
Bits Whole(Lane& l) { return Mixed(l.s[0].undef | l.s[1].undef, 0, l.width); }
Bits WholeLogical(Lane& l) { return Logical(l, Whole(l)); }

template <bool kMost, bool kSigned>
Bits Extreme(Lane& l) {
  const Bits a = Biased(l.s[0], 32, kSigned), b = Biased(l.s[1], 32, kSigned);
  l.flag = kMost ? Less(b, a) : Less(a, b);
  return Select(l.flag, l.s[0], l.s[1]);
}
Bits Choose(Lane& l) { return Select(l.carry, l.s[0], l.s[1]); }
Bits MoveIf(Lane& l) { return Select(l.carry, l.s[0], l.old); }

Bits PackLowLow(Lane& l) { return Insert(Low(l.s[0], 16), 16, l.s[1], 16); }
Bits PackLowHigh(Lane& l) {
  return Insert(Low(l.s[0], 16), 16, Field(l.s[1], 16, 16), 16);
}
Bits PackHighHigh(Lane& l) {
  return Insert(Field(l.s[0], 16, 16), 16, Field(l.s[1], 16, 16), 16);
}

Bits Move(Lane& l) { return l.s[0]; }
Bits Inverted(Lane& l) { return Logical(l, Not(l.s[0], l.width)); }
Bits Reversed(Lane& l) {
  const auto reverse = [&l](uint64_t x) {
    uint64_t r = 0;
    for (int n = 0; n < l.width; ++n) r |= (x >> n & 1) << (l.width - 1 - n);
    return r;
  };
  return {reverse(l.s[0].value), reverse(l.s[0].undef)};
}
// Any bit of four makes four, or one.
template <bool kWhole>
Bits Quads(Lane& l) {
  Bits out;
  for (int q = 0; q < l.width; q += 4) {
    const Bits any = NotZero(Field(l.s[0], q, 4));
    out = kWhole ? Insert(out, q, Extend(any, 1, 4), 4)
                 : Insert(out, q / 4, any, 1);
  }
  return Logical(l, out);
}
template <int kFrom, bool kOnes>
Bits CountBits(Lane& l) {
  return Logical(l, Count(kOnes ? l.s[0] : Not(l.s[0], kFrom)));
}
template <int kFrom, bool kOnes>
Bits FindFirst(Lane& l) {
  return LowestOne(kOnes ? l.s[0] : Not(l.s[0], kFrom), 32);
}
template <int kFrom>
Bits FindLast(Lane& l) {
  return LeadingZeros(l.s[0], kFrom, 32);
}
template <int kFrom>
Bits SignExtended(Lane& l) {
  return Extend(Low(l.s[0], kFrom), kFrom, 32);
}
template <bool kSet>
Bits SetBit(Lane& l) {
  const Bits bit = ShiftLeft(Known(1), Amount(l.s[0], l.width), l.width);
  return Logic(kSet ? kA | kB : kA & ~kB, l.old, bit, {}, l.width);
}
Bits Replicated(Lane& l) {
  Bits out;
  for (int n = 0; n < 32; ++n)
    out = Insert(out, 2 * n, Extend(Field(l.s[0], n, 1), 1, 2), 2);
  return out;
}

// Comparisons, with src0 or the destination on the left.
Bits Equality(Lane& l) {
  l.flag = Equal(l.s[0], l.s[1]);
  return {};
}
template <bool kOrEqual, bool kSwapped, bool kSigned>
Bits Order(Lane& l) {
  const Bits a = Biased(l.s[kSwapped ? 1 : 0], 32, kSigned),
             b = Biased(l.s[kSwapped ? 0 : 1], 32, kSigned);
  l.flag = kOrEqual ? LessOrEqual(a, b) : Less(a, b);
  return {};
}
template <int kWidth>
Bits TestBit(Lane& l) {
  const Bits at = Amount(l.s[1], kWidth);
  l.flag = at.undef != 0 ? Truth(false, true)
                         : Field(l.s[0], static_cast<int>(at.value), 1);
  return {};
}
Bits Immediate(const Lane& l, bool is_signed) {
  return Known(
      static_cast<uint32_t>(is_signed ? l.inst->imm : l.inst->imm & 0xffff));
}
template <LaneRule kRule, bool kSigned>
Bits WithImmediate(Lane& l) {
  l.s[0] = l.old;
  l.s[1] = Immediate(l, kSigned);
  return kRule(l);
}
Bits MoveImmediateIf(Lane& l) {
  return Select(l.carry, Immediate(l, true), l.old);
}

template <uint32_t kTable>
Bits NewExec(Lane& l) {
  return Table<kTable>(l);
}

struct Line {
  const char* names;
  LaneRule rule;
  How how = How::kScalar;
};

constexpr uint32_t kNotA = ~kA & 0xff, kNotB = ~kB & 0xff;

constexpr Line kLines[] = {
    {"s_add_u32", &WithoutCarry<&AddFlag<false>>},
    {"s_sub_u32", &WithoutCarry<&SubtractFlag<false>>},
    {"s_add_i32", &WithoutCarry<&AddFlag<true>>},
    {"s_sub_i32", &WithoutCarry<&SubtractFlag<true>>},
    {"s_addc_u32", &AddFlag<false>},
    {"s_subb_u32", &SubtractFlag<false>},
    {"s_min_i32", &Extreme<false, true>},
    {"s_min_u32", &Extreme<false, false>},
    {"s_max_i32", &Extreme<true, true>},
    {"s_max_u32", &Extreme<true, false>},
    {"s_cselect_b32 s_cselect_b64", &Choose},
    {"s_and_b32 s_and_b64", &Table<kA & kB>},
    {"s_or_b32 s_or_b64", &Table<kA | kB>},
    {"s_xor_b32 s_xor_b64", &Table<kA ^ kB>},
    {"s_andn2_b32 s_andn2_b64", &Table<kA & kNotB>},
    {"s_orn2_b32 s_orn2_b64", &Table<kA | kNotB>},
    {"s_nand_b32 s_nand_b64", &Table<~(kA& kB) & 0xff>},
    {"s_nor_b32 s_nor_b64", &Table<~(kA | kB) & 0xff>},
    {"s_xnor_b32 s_xnor_b64", &Table<~(kA ^ kB) & 0xff>},
    {"s_lshl_b32 s_lshl_b64", &Left},
    {"s_lshr_b32 s_lshr_b64", &Right},
    {"s_ashr_i32 s_ashr_i64", &RightSigned},
    {"s_bfm_b32 s_bfm_b64", &Whole},
    {"s_mul_i32", &Product},
    {"s_bfe_u32 s_bfe_u64", &BitField<false>},
    {"s_bfe_i32 s_bfe_i64", &BitField<true>},
    {"s_absdiff_i32 s_abs_i32", &WholeLogical},
    {"s_mul_hi_u32 s_mul_hi_i32", &Whole},
    {"s_lshl1_add_u32", &ShiftAdd<1>},
    {"s_lshl2_add_u32", &ShiftAdd<2>},
    {"s_lshl3_add_u32", &ShiftAdd<3>},
    {"s_lshl4_add_u32", &ShiftAdd<4>},
    {"s_pack_ll_b32_b16", &PackLowLow},
    {"s_pack_lh_b32_b16", &PackLowHigh},
    {"s_pack_hh_b32_b16", &PackHighHigh},
    // One source
    {"s_mov_b32 s_mov_b64", &Move},
    {"s_cmov_b32 s_cmov_b64", &MoveIf},
    {"s_not_b32 s_not_b64", &Inverted},
    {"s_wqm_b32 s_wqm_b64", &Quads<true>},
    {"s_quadmask_b32 s_quadmask_b64", &Quads<false>},
    {"s_brev_b32 s_brev_b64", &Reversed},
    {"s_bcnt0_i32_b32", &CountBits<32, false>},
    {"s_bcnt0_i32_b64", &CountBits<64, false>},
    {"s_bcnt1_i32_b32", &CountBits<32, true>},
    {"s_bcnt1_i32_b64", &CountBits<64, true>},
    {"s_ff0_i32_b32", &FindFirst<32, false>},
    {"s_ff0_i32_b64", &FindFirst<64, false>},
    {"s_ff1_i32_b32", &FindFirst<32, true>},
    {"s_ff1_i32_b64", &FindFirst<64, true>},
    {"s_flbit_i32_b32", &FindLast<32>},
    {"s_flbit_i32_b64", &FindLast<64>},
    {"s_flbit_i32 s_flbit_i32_i64", &Whole},
    {"s_sext_i32_i8", &SignExtended<8>},
    {"s_sext_i32_i16", &SignExtended<16>},
    {"s_bitset0_b32 s_bitset0_b64", &SetBit<false>},
    {"s_bitset1_b32 s_bitset1_b64", &SetBit<true>},
    {"s_bitreplicate_b64_b32", &Replicated},
    {"s_getpc_b64 s_call_b64 s_movk_i32 s_getreg_b32", nullptr, How::kDefines},
    {"s_setpc_b64 s_swappc_b64", nullptr, How::kJump},
    {"s_movrels_b32 s_movrels_b64", nullptr, How::kMoveRelFrom},
    {"s_movreld_b32 s_movreld_b64", nullptr, How::kMoveRelTo},
    {"s_set_gpr_idx_on s_set_gpr_idx_idx s_set_gpr_idx_mode", nullptr,
     How::kGprIndex},
    {"s_setreg_b32", nullptr, How::kSetMode},
    // EXEC: the source, then EXEC
    {"s_and_saveexec_b64", &NewExec<kA & kB>, How::kSaveExec},
    {"s_or_saveexec_b64", &NewExec<kA | kB>, How::kSaveExec},
    {"s_xor_saveexec_b64", &NewExec<kA ^ kB>, How::kSaveExec},
    {"s_andn2_saveexec_b64", &NewExec<kA & kNotB>, How::kSaveExec},
    {"s_orn2_saveexec_b64", &NewExec<kA | kNotB>, How::kSaveExec},
    {"s_nand_saveexec_b64", &NewExec<~(kA& kB) & 0xff>, How::kSaveExec},
    {"s_nor_saveexec_b64", &NewExec<~(kA | kB) & 0xff>, How::kSaveExec},
    {"s_xnor_saveexec_b64", &NewExec<~(kA ^ kB) & 0xff>, How::kSaveExec},
    {"s_andn1_saveexec_b64", &NewExec<kNotA & kB>, How::kSaveExec},
    {"s_orn1_saveexec_b64", &NewExec<kNotA | kB>, How::kSaveExec},
    {"s_andn1_wrexec_b64", &NewExec<kNotA & kB>, How::kWriteExec},
    {"s_andn2_wrexec_b64", &NewExec<kA & kNotB>, How::kWriteExec},
    // Comparisons
    {"s_cmp_eq_i32 s_cmp_lg_i32 s_cmp_eq_u32 s_cmp_lg_u32 s_cmp_eq_u64 "
     "s_cmp_lg_u64",
     &Equality},
    {"s_cmp_gt_i32", &Order<false, true, true>},
    {"s_cmp_ge_i32", &Order<true, true, true>},
    {"s_cmp_lt_i32", &Order<false, false, true>},
    {"s_cmp_le_i32", &Order<true, false, true>},
    {"s_cmp_gt_u32", &Order<false, true, false>},
    {"s_cmp_ge_u32", &Order<true, true, false>},
    {"s_cmp_lt_u32", &Order<false, false, false>},
    {"s_cmp_le_u32", &Order<true, false, false>},
    {"s_bitcmp0_b32 s_bitcmp1_b32", &TestBit<32>},
    {"s_bitcmp0_b64 s_bitcmp1_b64", &TestBit<64>},
    {"s_cmpk_eq_i32 s_cmpk_lg_i32", &WithImmediate<&Equality, true>},
    {"s_cmpk_eq_u32 s_cmpk_lg_u32", &WithImmediate<&Equality, false>},
    {"s_cmpk_gt_i32", &WithImmediate<&Order<false, true, true>, true>},
    {"s_cmpk_ge_i32", &WithImmediate<&Order<true, true, true>, true>},
    {"s_cmpk_lt_i32", &WithImmediate<&Order<false, false, true>, true>},
    {"s_cmpk_le_i32", &WithImmediate<&Order<true, false, true>, true>},
    {"s_cmpk_gt_u32", &WithImmediate<&Order<false, true, false>, false>},
    {"s_cmpk_ge_u32", &WithImmediate<&Order<true, true, false>, false>},
    {"s_cmpk_lt_u32", &WithImmediate<&Order<false, false, false>, false>},
    {"s_cmpk_le_u32", &WithImmediate<&Order<true, false, false>, false>},
    {"s_cmovk_i32", &MoveImmediateIf},
    {"s_addk_i32", &WithImmediate<&WithoutCarry<&AddFlag<true>>, true>},
    {"s_mulk_i32", &WithImmediate<&Product, true>},
    // Program control
    {"s_cbranch_scc0 s_cbranch_scc1", nullptr, How::kBranchScc},
    {"s_cbranch_vccz s_cbranch_vccnz", nullptr, How::kBranchVcc},
    {"s_cbranch_g_fork s_cbranch_i_fork s_cbranch_join", nullptr, How::kFork},
    // EXEC is never undefined: what would make it so is reported.
    {"s_cbranch_execz s_cbranch_execnz", nullptr, How::kNothing},
    {"s_nop s_endpgm s_branch s_wakeup s_barrier s_setkill s_waitcnt "
     "s_sethalt s_sleep s_setprio s_sendmsg s_trap s_icache_inv "
     "s_incperflevel s_decperflevel s_ttracedata s_cbranch_cdbgsys "
     "s_cbranch_cdbguser s_cbranch_cdbgsys_or_user "
     "s_cbranch_cdbgsys_and_user s_endpgm_saved s_set_gpr_idx_off "
     "s_setreg_imm32_b32 s_sendmsghalt s_endpgm_ordered_ps_done "
     "s_set_valu_coexec_mode s_rfe_b64 s_rfe_restore_b64 s_setvskip",
     nullptr, How::kNothing},
};

}  // namespace

void AddScalarRules(Rules* rules) {
  for (const Line& line : kLines)
    Each(rules, line.names, Rule{line.how, 0, line.rule});
}

}  // namespace ingot::emulator::taint
