// Vector arithmetic: what each opcode makes of undefined bits of its sources.
#include <string>

#include "tests/emulator/taint_rules.h"

namespace ingot::emulator::taint {
namespace {

constexpr uint8_t kHalves = kH0 | kH1 | kH2 | kHDst;

uint64_t AnyUndef(const Lane& l) {
  return l.s[0].undef | l.s[1].undef | l.s[2].undef | l.carry.undef;
}
// All float arithmetic, and what mixes its bits as badly.
Bits Whole(Lane& l) {
  l.flag = Truth(false, AnyUndef(l) != 0);
  return Mixed(AnyUndef(l), 0, l.width);
}

Bits Move(Lane& l) { return Low(l.s[0], l.width); }

template <uint32_t kTable>
Bits Table(Lane& l) {
  return Logic(kTable, l.s[0], l.s[1], l.s[2], l.width);
}
// The table is spread over modifier fields.
Bits Bitop3(Lane& l) {
  const Inst& i = *l.inst;
  const uint32_t table = uint32_t{i.omod} << 6 | uint32_t{i.abs} << 3 | i.neg;
  return Logic(table, l.s[0], l.s[1], l.s[2], l.width);
}

// Amounts are taken modulo the width, which is a power of two.
Bits Amount(Bits by, int width) {
  return Low(by, width == 64 ? 6 : width == 32 ? 5 : 4);
}
Bits ShiftLeftBy(Lane& l) {
  return ShiftLeft(l.s[1], Amount(l.s[0], l.width), l.width);
}
Bits ShiftRightBy(Lane& l) {
  return ShiftRight(l.s[1], Amount(l.s[0], l.width), l.width);
}
Bits ShiftRightSignedBy(Lane& l) {
  return ShiftRightSigned(l.s[1], Amount(l.s[0], l.width), l.width);
}

Bits AddTwo(Lane& l) { return Add(l.s[0], l.s[1], l.width); }
Bits SubtractTwo(Lane& l) { return Subtract(l.s[0], l.s[1], l.width); }
Bits SubtractReversed(Lane& l) { return Subtract(l.s[1], l.s[0], l.width); }

// One bit more than the width is the carry or borrow.
Bits WithCarry(Lane& l, Bits wide) {
  l.flag = Field(wide, l.width, 1);
  return Low(wide, l.width);
}
Bits AddCarry(Lane& l) {
  const int wide = l.width + 1;
  return WithCarry(l, Add(Add(l.s[0], l.s[1], wide), l.carry, wide));
}
Bits SubtractBorrow(Lane& l) {
  const int wide = l.width + 1;
  return WithCarry(l, Subtract(Subtract(l.s[0], l.s[1], wide), l.carry, wide));
}
Bits SubtractReversedBorrow(Lane& l) {
  const int wide = l.width + 1;
  return WithCarry(l, Subtract(Subtract(l.s[1], l.s[0], wide), l.carry, wide));
}

Bits MultiplyTwo(Lane& l) { return Multiply(l.s[0], l.s[1], l.width); }
Bits MultiplyAdd(Lane& l) {
  return Add(Multiply(l.s[0], l.s[1], l.width), l.s[2], l.width);
}
Bits Unsigned24(Bits a) { return Low(a, 24); }
Bits Signed24(Bits a) { return Extend(Low(a, 24), 24, 64); }
template <auto kWiden, bool kAdd>
Bits Multiply24(Lane& l) {
  const Bits product = Multiply(kWiden(l.s[0]), kWiden(l.s[1]), l.width);
  return kAdd ? Add(product, l.s[2], l.width) : product;
}
// The upper half of a product: all of it, unless a factor is 0.
template <int kBits>
Bits MultiplyHigh(Lane& l) {
  const Bits a = Low(l.s[0], kBits), b = Low(l.s[1], kBits);
  const bool zero = a.most() == 0 || b.most() == 0;
  return Mixed(zero ? 0 : a.undef | b.undef, 0, l.width);
}
template <bool kSigned>
Bits MultiplyAdd64(Lane& l) {
  const auto widen = [](Bits a) { return kSigned ? Extend(a, 32, 64) : a; };
  const Bits product = Multiply(widen(l.s[0]), widen(l.s[1]), 64);
  l.flag = Truth(false, AnyUndef(l) != 0);
  return Add(product, l.s[2], 64);
}
// Factors of 16 bits, a sum of 32.
template <bool kSigned>
Bits MultiplyAdd16(Lane& l) {
  const auto widen = [](Bits a) { return kSigned ? Extend(a, 16, 64) : a; };
  return Add(Multiply(widen(l.s[0]), widen(l.s[1]), 32), l.s[2], 32);
}

Bits Add3(Lane& l) {
  return Add(Add(l.s[0], l.s[1], l.width), l.s[2], l.width);
}
Bits ShiftAdd(Lane& l) {
  return Add(ShiftLeft(l.s[0], Amount(l.s[1], l.width), l.width), l.s[2],
             l.width);
}
Bits ShiftAdd64(Lane& l) {
  return Add(ShiftLeft(l.s[0], Low(l.s[1], 3), 64), l.s[2], 64);
}
Bits AddShift(Lane& l) {
  return ShiftLeft(Add(l.s[0], l.s[1], l.width), Amount(l.s[2], l.width),
                   l.width);
}
Bits ShiftOr(Lane& l) {
  return Or(ShiftLeft(l.s[0], Amount(l.s[1], l.width), l.width), l.s[2],
            l.width);
}
Bits XorAdd(Lane& l) {
  return Add(Logic(kA ^ kB, l.s[0], l.s[1], {}, l.width), l.s[2], l.width);
}

template <bool kSigned>
Bits BitField(Lane& l) {
  const Bits at = Low(l.s[1], 5), width = Low(l.s[2], 5);
  if ((at.undef | width.undef) != 0) return Mixed(l.s[0].most(), 0, l.width);
  const int bits = static_cast<int>(width.value);
  if (bits == 0) return {};
  const Bits field = Field(l.s[0], static_cast<int>(at.value), bits);
  if (!kSigned) return field;
  const int run = 32 - static_cast<int>(at.value);
  return Extend(field, run < bits ? run : bits, l.width);
}
Bits BitFieldMask(Lane& l) {
  return Mixed((l.s[0].undef | l.s[1].undef) & 31, 0, l.width);
}
template <int kUnit>
Bits Align(Lane& l) {
  const Bits by = Low(l.s[2], kUnit == 8 ? 2 : 5);
  const Bits both = Insert(l.s[1], 32, l.s[0], 32);
  const Bits bits{by.value * kUnit, by.undef};
  return Low(ShiftRight(both, bits, 64), 32);
}
Bits Permute(Lane& l) {
  const Bits both = Insert(l.s[1], 32, l.s[0], 32);
  Bits out;
  for (int n = 0; n < 4; ++n) {
    const Bits select = Field(l.s[2], 8 * n, 8);
    Bits byte;
    if (select.undef != 0) {
      byte = Anything(0, 8);
    } else if (select.value < 8) {
      byte = Field(both, static_cast<int>(8 * select.value), 8);
    } else if (select.value < 12) {
      const int sign = static_cast<int>(16 * (select.value - 8) + 15);
      byte = Extend(Field(both, sign, 1), 1, 8);
    }
    out = Insert(out, 8 * n, byte, 8);
  }
  return out;
}

// The mask's bit chooses src1.
Bits ConditionalMove(Lane& l) { return Select(l.carry, l.s[1], l.s[0]); }

template <bool kSigned>
Bits Smaller(Lane& l) {
  return Minimum(l.s[0], l.s[1], l.width, kSigned);
}
template <bool kSigned>
Bits Larger(Lane& l) {
  return Maximum(l.s[0], l.s[1], l.width, kSigned);
}
// One of three, whichever it is.
Bits OneOfThree(Lane& l) {
  const Bits unknown{0, AnyUndef(l) != 0 ? 1u : 0u};
  if (unknown.undef == 0) return {};
  return Select(unknown, Select(unknown, l.s[0], l.s[1]), l.s[2]);
}

Bits Reversed(Lane& l) {
  const auto reverse = [](uint64_t x) {
    uint64_t r = 0;
    for (int n = 0; n < 32; ++n) r |= (x >> n & 1) << (31 - n);
    return r;
  };
  return {reverse(l.s[0].value), reverse(l.s[0].undef)};
}
Bits FindLow(Lane& l) { return LowestOne(l.s[0], l.width); }
Bits FindHigh(Lane& l) { return LeadingZeros(l.s[0], 32, l.width); }
Bits CountAndAdd(Lane& l) { return Add(Count(l.s[0]), l.s[1], l.width); }
// Counts the mask's lanes below this one.
template <int kHigh>
Bits CountBelow(Lane& l) {
  const uint64_t below = Mask(l.lane) >> (32 * kHigh) & 0xffffffff;
  const Bits mask{l.s[0].value & below, l.s[0].undef & below};
  return Add(Count(mask), l.s[1], l.width);
}

Bits PkFmac(Lane& l) {
  Bits out;
  for (int n = 0; n < 32; n += 16) {
    const uint64_t undef =
        (l.s[0].undef | l.s[1].undef | l.s[2].undef) >> n & 0xffff;
    out = Insert(out, n, Mixed(undef, 0, 16), 16);
  }
  return out;
}

template <bool kOrEqual, bool kSwapped, bool kSigned>
Bits Order(Lane& l) {
  const Bits a = Biased(l.s[kSwapped ? 1 : 0], l.width, kSigned),
             b = Biased(l.s[kSwapped ? 0 : 1], l.width, kSigned);
  return kOrEqual ? LessOrEqual(a, b) : Less(a, b);
}
Bits Same(Lane& l) { return Equal(l.s[0], l.s[1]); }
Bits Constant(Lane&) { return {}; }

template <bool kSigned>
void AddOrders(Rules* rules, std::string_view type, uint8_t halves) {
  static constexpr struct {
    const char* relation;
    LaneRule rule;
  } kOrders[] = {
      {"f", &Constant},
      {"lt", &Order<false, false, kSigned>},
      {"eq", &Same},
      {"le", &Order<true, false, kSigned>},
      {"gt", &Order<false, true, kSigned>},
      {"ne", &Same},
      {"ge", &Order<true, true, kSigned>},
      {"t", &Constant},
  };
  for (const auto& order : kOrders) {
    for (const char* stem : {"v_cmp_", "v_cmpx_"}) {
      rules->emplace(
          std::string(stem) + order.relation + "_" + std::string(type),
          Rule{How::kCompare, halves, order.rule});
    }
  }
}

void AddComparisons(Rules* rules) {
  AddOrders<true>(rules, "i16", kH0 | kH1);
  AddOrders<false>(rules, "u16", kH0 | kH1);
  AddOrders<true>(rules, "i32", 0);
  AddOrders<false>(rules, "u32", 0);
  AddOrders<true>(rules, "i64", 0);
  AddOrders<false>(rules, "u64", 0);
  for (const char* relation :
       {"f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt",
        "nle", "neq", "nlt", "tru", "class"}) {
    const std::string_view r = relation;
    const LaneRule rule = r == "f" || r == "tru" ? &Constant : &Whole;
    for (const char* stem : {"v_cmp_", "v_cmpx_"}) {
      for (const char* type : {"f16", "f32", "f64"}) {
        const bool half = std::string_view(type) == "f16";
        const uint8_t halves = !half          ? 0
                               : r == "class" ? uint8_t{kH0}
                                              : uint8_t{kH0 | kH1};
        rules->emplace(std::string(stem) + relation + "_" + type,
                       Rule{How::kCompare, halves, rule});
      }
    }
  }
}

// One line a rule, with the opcodes that follow it.
struct Line {
  const char* names;
  LaneRule rule;
  uint8_t halves = 0;
  How how = How::kVector;
};

constexpr Line kLines[] = {
    {"v_mov_b32 v_mov_b64 v_accvgpr_mov_b32 v_accvgpr_read_b32 "
     "v_accvgpr_write_b32",
     &Move},
    {"v_cndmask_b32", &ConditionalMove},
    // Bits
    {"v_not_b32", &Table<~kA & 0xff>},
    {"v_and_b32", &Table<kA & kB>},
    {"v_or_b32", &Table<kA | kB>},
    {"v_xor_b32", &Table<kA ^ kB>},
    {"v_xnor_b32", &Table<~(kA ^ kB) & 0xff>},
    {"v_bfi_b32", &Table<(kA & kB) | (~kA & kC)>},
    {"v_and_or_b32", &Table<(kA & kB) | kC>},
    {"v_or3_b32", &Table<kA | kB | kC>},
    {"v_bitop3_b32 v_bitop3_b16", &Bitop3},
    {"v_lshlrev_b32 v_lshlrev_b64", &ShiftLeftBy},
    {"v_lshrrev_b32 v_lshrrev_b64", &ShiftRightBy},
    {"v_ashrrev_i32 v_ashrrev_i64", &ShiftRightSignedBy},
    {"v_lshlrev_b16", &ShiftLeftBy, kHalves},
    {"v_lshrrev_b16", &ShiftRightBy, kHalves},
    {"v_ashrrev_i16", &ShiftRightSignedBy, kHalves},
    {"v_lshl_or_b32", &ShiftOr},
    {"v_bfe_u32", &BitField<false>},
    {"v_bfe_i32", &BitField<true>},
    {"v_bfm_b32", &BitFieldMask},
    {"v_alignbit_b32", &Align<1>},
    {"v_alignbyte_b32", &Align<8>},
    {"v_perm_b32", &Permute},
    {"v_bfrev_b32", &Reversed},
    {"v_ffbl_b32", &FindLow},
    {"v_ffbh_u32", &FindHigh},
    {"v_bcnt_u32_b32", &CountAndAdd},
    {"v_mbcnt_lo_u32_b32", &CountBelow<0>},
    {"v_mbcnt_hi_u32_b32", &CountBelow<1>},
    // Integers
    {"v_add_u32 v_add_i32", &AddTwo},
    {"v_sub_u32 v_sub_i32", &SubtractTwo},
    {"v_subrev_u32", &SubtractReversed},
    {"v_add_u16 v_add_i16", &AddTwo, kHalves},
    {"v_sub_u16 v_sub_i16", &SubtractTwo, kHalves},
    {"v_subrev_u16", &SubtractReversed, kHalves},
    {"v_add_co_u32 v_addc_co_u32", &AddCarry},
    {"v_sub_co_u32 v_subb_co_u32", &SubtractBorrow},
    {"v_subrev_co_u32 v_subbrev_co_u32", &SubtractReversedBorrow},
    {"v_add3_u32", &Add3},
    {"v_lshl_add_u32", &ShiftAdd},
    {"v_lshl_add_u64", &ShiftAdd64},
    {"v_add_lshl_u32", &AddShift},
    {"v_xad_u32", &XorAdd},
    {"v_mul_lo_u32", &MultiplyTwo},
    {"v_mul_lo_u16", &MultiplyTwo, kHalves},
    {"v_mad_u16 v_mad_i16 v_mad_legacy_u16 v_mad_legacy_i16", &MultiplyAdd,
     kHalves},
    {"v_mad_u32_u16", &MultiplyAdd16<false>, kH0 | kH1},
    {"v_mad_i32_i16", &MultiplyAdd16<true>, kH0 | kH1},
    {"v_mul_u32_u24", &Multiply24<Unsigned24, false>},
    {"v_mul_i32_i24", &Multiply24<Signed24, false>},
    {"v_mad_u32_u24", &Multiply24<Unsigned24, true>},
    {"v_mad_i32_i24", &Multiply24<Signed24, true>},
    {"v_mul_hi_u32_u24 v_mul_hi_i32_i24", &MultiplyHigh<24>},
    {"v_mul_hi_u32 v_mul_hi_i32", &MultiplyHigh<32>},
    {"v_mad_u64_u32", &MultiplyAdd64<false>},
    {"v_mad_i64_i32", &MultiplyAdd64<true>},
    {"v_min_u32", &Smaller<false>},
    {"v_min_i32", &Smaller<true>},
    {"v_max_u32", &Larger<false>},
    {"v_max_i32", &Larger<true>},
    {"v_min_u16", &Smaller<false>, kHalves},
    {"v_min_i16", &Smaller<true>, kHalves},
    {"v_max_u16", &Larger<false>, kHalves},
    {"v_max_i16", &Larger<true>, kHalves},
    {"v_min3_u32 v_min3_i32 v_max3_u32 v_max3_i32 v_med3_u32 v_med3_i32",
     &OneOfThree},
    {"v_min3_u16 v_min3_i16 v_max3_u16 v_max3_i16 v_med3_u16 v_med3_i16",
     &OneOfThree, kHalves},
    {"v_sad_u8 v_sad_hi_u8 v_sad_u16 v_sad_u32 v_msad_u8 v_lerp_u8 v_prng_b32 "
     "v_ffbh_i32",
     &Whole},
    {"v_dot2c_i32_i16 v_dot4c_i32_i8 v_dot8c_i32_i4", &Whole},
    // Floats
    {"v_trunc_f64 v_ceil_f64 v_rndne_f64 v_floor_f64 v_fract_f32 v_trunc_f32 "
     "v_ceil_f32 v_rndne_f32 v_floor_f32 v_exp_f32 v_log_f32 v_rcp_f32 "
     "v_rcp_iflag_f32 v_rsq_f32 v_rcp_f64 v_rsq_f64 v_sqrt_f32 v_sqrt_f64 "
     "v_sin_f32 v_cos_f32 v_frexp_exp_i32_f64 v_frexp_mant_f64 v_fract_f64 "
     "v_frexp_exp_i32_f32 v_frexp_mant_f32 v_exp_legacy_f32 v_log_legacy_f32",
     &Whole},
    {"v_add_f32 v_sub_f32 v_subrev_f32 v_mul_f32 v_min_f32 v_max_f32 "
     "v_fmac_f32 v_fmac_f64 v_fmamk_f32 v_fmaak_f32 v_mul_legacy_f32 "
     "v_ldexp_f32 v_ldexp_f64 v_add_f64 v_mul_f64 v_min_f64 v_max_f64 "
     "v_trig_preop_f64 v_dot2c_f32_bf16 v_dot2c_f32_f16",
     &Whole},
    {"v_fma_f32 v_fma_f64 v_min3_f32 v_max3_f32 v_med3_f32 v_minimum3_f32 "
     "v_maximum3_f32 v_cubeid_f32 v_cubesc_f32 v_cubetc_f32 v_cubema_f32 "
     "v_div_fixup_f32 v_div_fixup_f64 v_div_scale_f32 v_div_scale_f64 "
     "v_div_fmas_f32 v_div_fmas_f64",
     &Whole},
    {"v_rcp_f16 v_sqrt_f16 v_rsq_f16 v_log_f16 v_exp_f16 v_frexp_mant_f16 "
     "v_frexp_exp_i16_f16 v_floor_f16 v_ceil_f16 v_trunc_f16 v_rndne_f16 "
     "v_fract_f16 v_sin_f16 v_cos_f16 v_add_f16 v_sub_f16 v_subrev_f16 "
     "v_mul_f16 v_mac_f16 v_madmk_f16 v_madak_f16 v_max_f16 v_min_f16 "
     "v_ldexp_f16 v_mad_f16 v_mad_legacy_f16 v_fma_f16 v_fma_legacy_f16 "
     "v_min3_f16 v_max3_f16 v_med3_f16 v_div_fixup_f16 "
     "v_div_fixup_legacy_f16",
     &Whole, kHalves},
    {"v_pk_fmac_f16", &PkFmac},
    // Packed
    {"v_pk_mad_i16 v_pk_mad_u16", &MultiplyAdd, 0, How::kPacked16},
    {"v_pk_mul_lo_u16", &MultiplyTwo, 0, How::kPacked16},
    {"v_pk_add_i16 v_pk_add_u16", &AddTwo, 0, How::kPacked16},
    {"v_pk_sub_i16 v_pk_sub_u16", &SubtractTwo, 0, How::kPacked16},
    {"v_pk_lshlrev_b16", &ShiftLeftBy, 0, How::kPacked16},
    {"v_pk_lshrrev_b16", &ShiftRightBy, 0, How::kPacked16},
    {"v_pk_ashrrev_i16", &ShiftRightSignedBy, 0, How::kPacked16},
    {"v_pk_max_i16", &Larger<true>, 0, How::kPacked16},
    {"v_pk_min_i16", &Smaller<true>, 0, How::kPacked16},
    {"v_pk_max_u16", &Larger<false>, 0, How::kPacked16},
    {"v_pk_min_u16", &Smaller<false>, 0, How::kPacked16},
    {"v_pk_fma_f16 v_pk_add_f16 v_pk_mul_f16 v_pk_min_f16 v_pk_max_f16 "
     "v_pk_minimum3_f16 v_pk_maximum3_f16",
     &Whole, 0, How::kPacked16},
    {"v_pk_fma_f32 v_pk_mul_f32 v_pk_add_f32", &Whole, 0, How::kPacked32},
    {"v_pk_mov_b32", nullptr, 0, How::kPackedMove},
    {"v_dot2_f32_bf16 v_dot2_f32_f16 v_dot2_i32_i16 v_dot2_u32_u16 "
     "v_dot4_i32_i8 v_dot4_u32_u8 v_dot8_i32_i4 v_dot8_u32_u4",
     nullptr, 0, How::kTuple},
    {"v_fma_mix_f32 v_fma_mixlo_f16 v_fma_mixhi_f16", nullptr, 0, How::kMix},
    {"v_qsad_pk_u16_u8 v_mqsad_pk_u16_u8 v_mqsad_u32_u8", nullptr, 0,
     How::kTuple},
    // Lanes
    {"v_readfirstlane_b32", nullptr, 0, How::kReadFirstLane},
    {"v_readlane_b32", nullptr, 0, How::kReadLane},
    {"v_writelane_b32", nullptr, 0, How::kWriteLane},
    {"v_swap_b32", nullptr, 0, How::kSwap},
    {"v_permlane16_swap_b32 v_permlane32_swap_b32", nullptr, 0,
     How::kPermlaneSwap},
    {"v_nop v_clrexcp", nullptr, 0, How::kNothing},
};

}  // namespace

void AddVectorRules(Rules* rules) {
  for (const Line& line : kLines)
    Each(rules, line.names, Rule{line.how, line.halves, line.rule});
  AddComparisons(rules);
}

}  // namespace ingot::emulator::taint
