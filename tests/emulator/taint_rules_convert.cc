// Conversions: which bits of the source each part of the result depends on.
#include "tests/emulator/taint_rules.h"

namespace ingot::emulator::taint {
namespace {

Bits All(Lane& l) {
  return Mixed(l.s[0].undef | l.s[1].undef | l.s[2].undef, 0, l.width);
}
template <int kAt, int kBits>
Bits Part(Lane& l) {
  return Mixed(Field(l.s[0], kAt, kBits).undef, 0, l.width);
}
// A byte that op_sel names.
Bits SelectedByte(Lane& l) {
  return Mixed(Field(l.s[0], 8 * (l.inst->op_sel & 3), 8).undef, 0, l.width);
}
Bits SelectedPair(Lane& l) {
  const int at = (l.inst->op_sel & 1) != 0 ? 16 : 0;
  Bits out;
  for (int n = 0; n < 2; ++n) {
    const uint64_t undef = Field(l.s[0], at + 8 * n, 8).undef;
    out = Insert(out, 32 * n, Mixed(undef, 0, 32), 32);
  }
  return out;
}
// src0 to the low half, src1 to the high one.
Bits TwoHalves(Lane& l) {
  return Insert(Mixed(l.s[0].undef, 0, 16), 16, Mixed(l.s[1].undef, 0, 16), 16);
}
Bits PackHalves(Lane& l) { return Insert(l.s[0], 16, l.s[1], 16); }
Bits InsertByte(Lane& l) {
  if ((l.s[1].undef & 3) != 0) return Anything(0, 32);
  return Insert(l.s[2], static_cast<int>(8 * (l.s[1].value & 3)),
                Mixed(l.s[0].undef, 0, 8), 8);
}
Bits SaturatedBytes(Lane& l) {
  return Insert(Mixed(Field(l.s[0], 0, 16).undef, 0, 8), 8,
                Mixed(Field(l.s[0], 16, 16).undef, 0, 8), 8);
}

void Vector(Rules* rules, std::string_view names, LaneRule rule,
            uint8_t halves = 0) {
  Each(rules, names, Rule{How::kVector, halves, rule});
}
void Packed(Rules* rules, std::string_view names, const Elements& elements) {
  Rule rule{How::kElements};
  rule.elements = elements;
  Each(rules, names, rule);
}

// The conversions under a scale: `kWide` elements to narrow ones and back.
void AddScaled(Rules* rules) {
  const auto pack = [&](std::string_view names, uint8_t count, uint8_t from,
                        uint8_t to, bool two, bool seed) {
    Packed(rules, names,
           {.count = count,
            .from_bits = from,
            .to_bits = to,
            .from_selected = count == 1 && from == 16,
            .to_selected = count <= 2,
            .two_sources = two,
            .seed = seed,
            .scale = true});
  };
  const auto unpack = [&](std::string_view names, uint8_t count, uint8_t from,
                          uint8_t to, bool to_selected = false) {
    Packed(rules, names,
           {.count = count,
            .from_bits = from,
            .to_bits = to,
            .from_selected = count <= 2,
            .to_selected = to_selected,
            .scale = true});
  };
#define INGOT_S "v_cvt_scalef32_"
  pack(INGOT_S "pk_fp8_f32 " INGOT_S "pk_bf8_f32", 2, 32, 8, true, false);
  pack(INGOT_S "pk_fp4_f32", 2, 32, 4, true, false);
  pack(INGOT_S "sr_pk_fp4_f32", 2, 32, 4, false, true);
  pack(INGOT_S "sr_fp8_f32 " INGOT_S "sr_bf8_f32", 1, 32, 8, false, true);
  pack(INGOT_S "sr_fp8_f16 " INGOT_S "sr_bf8_f16 " INGOT_S
               "sr_fp8_bf16 " INGOT_S "sr_bf8_bf16",
       1, 16, 8, false, true);
  pack(INGOT_S "pk_fp8_f16 " INGOT_S "pk_bf8_f16 " INGOT_S
               "pk_fp8_bf16 " INGOT_S "pk_bf8_bf16",
       2, 16, 8, false, false);
  pack(INGOT_S "pk_fp4_f16 " INGOT_S "pk_fp4_bf16", 2, 16, 4, false, false);
  pack(INGOT_S "sr_pk_fp4_f16 " INGOT_S "sr_pk_fp4_bf16", 2, 16, 4, false,
       true);
  pack(INGOT_S "2xpk16_fp6_f32 " INGOT_S "2xpk16_bf6_f32", 32, 32, 6, true,
       false);
  pack(INGOT_S "sr_pk32_fp6_f32 " INGOT_S "sr_pk32_bf6_f32", 32, 32, 6, false,
       true);
  pack(INGOT_S "pk32_fp6_f16 " INGOT_S "pk32_fp6_bf16 " INGOT_S
               "pk32_bf6_f16 " INGOT_S "pk32_bf6_bf16",
       32, 16, 6, false, false);
  pack(INGOT_S "sr_pk32_fp6_f16 " INGOT_S "sr_pk32_fp6_bf16 " INGOT_S
               "sr_pk32_bf6_f16 " INGOT_S "sr_pk32_bf6_bf16",
       32, 16, 6, false, true);
  unpack(INGOT_S "pk_f32_fp8 " INGOT_S "pk_f32_bf8", 2, 8, 32);
  unpack(INGOT_S "pk_f32_fp4", 2, 4, 32);
  unpack(INGOT_S "f32_fp8 " INGOT_S "f32_bf8", 1, 8, 32);
  unpack(INGOT_S "f16_fp8 " INGOT_S "f16_bf8", 1, 8, 16, true);
  unpack(INGOT_S "pk_f16_fp8 " INGOT_S "pk_f16_bf8 " INGOT_S
                 "pk_bf16_fp8 " INGOT_S "pk_bf16_bf8",
         2, 8, 16);
  unpack(INGOT_S "pk_f16_fp4 " INGOT_S "pk_bf16_fp4", 2, 4, 16);
  unpack(INGOT_S "pk32_f32_fp6 " INGOT_S "pk32_f32_bf6", 32, 6, 32);
  unpack(INGOT_S "pk32_f16_fp6 " INGOT_S "pk32_bf16_fp6 " INGOT_S
                 "pk32_f16_bf6 " INGOT_S "pk32_bf16_bf6",
         32, 6, 16);
#undef INGOT_S
}

}  // namespace

void AddConversionRules(Rules* rules) {
  Vector(rules,
         "v_cvt_i32_f64 v_cvt_f64_i32 v_cvt_f32_i32 v_cvt_f32_u32 "
         "v_cvt_u32_f32 v_cvt_i32_f32 v_cvt_rpi_i32_f32 v_cvt_flr_i32_f32 "
         "v_cvt_f32_f64 v_cvt_f64_f32 v_cvt_u32_f64 v_cvt_f64_u32",
         &All);
  Vector(rules, "v_cvt_f16_f32", &All, kHDst);
  Vector(rules, "v_cvt_f32_f16 v_cvt_f32_bf16", &All, kH0);
  Vector(rules,
         "v_cvt_f16_u16 v_cvt_f16_i16 v_cvt_u16_f16 v_cvt_i16_f16 "
         "v_cvt_norm_i16_f16 v_cvt_norm_u16_f16",
         &All, kH0 | kHDst);
  Vector(rules, "v_cvt_off_f32_i4", &Part<0, 4>);
  Vector(rules, "v_cvt_f32_ubyte0", &Part<0, 8>);
  Vector(rules, "v_cvt_f32_ubyte1", &Part<8, 8>);
  Vector(rules, "v_cvt_f32_ubyte2", &Part<16, 8>);
  Vector(rules, "v_cvt_f32_ubyte3", &Part<24, 8>);
  Vector(rules, "v_cvt_f32_fp8 v_cvt_f32_bf8", &SelectedByte);
  Vector(rules, "v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8", &SelectedPair);
  Vector(rules,
         "v_cvt_pk_f16_f32 v_cvt_pk_bf16_f32 v_cvt_pknorm_i16_f32 "
         "v_cvt_pknorm_u16_f32 v_cvt_pkrtz_f16_f32 v_cvt_pk_u16_u32 "
         "v_cvt_pk_i16_i32",
         &TwoHalves);
  Vector(rules, "v_cvt_pknorm_i16_f16 v_cvt_pknorm_u16_f16", &TwoHalves,
         kH0 | kH1);
  Vector(rules, "v_pack_b32_f16", &PackHalves, kH0 | kH1);
  Vector(rules, "v_cvt_pk_u8_f32", &InsertByte);
  Vector(rules, "v_sat_pk_u8_i16", &SaturatedBytes);
  Packed(rules, "v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32",
         {.count = 2,
          .from_bits = 32,
          .to_bits = 8,
          .to_selected = true,
          .two_sources = true});
  Packed(rules, "v_cvt_sr_fp8_f32 v_cvt_sr_bf8_f32",
         {.count = 1,
          .from_bits = 32,
          .to_bits = 8,
          .to_selected = true,
          .seed = true});
  Packed(rules, "v_cvt_sr_f16_f32 v_cvt_sr_bf16_f32",
         {.count = 1,
          .from_bits = 32,
          .to_bits = 16,
          .to_selected = true,
          .seed = true});
  // The byte of vdst is chosen by src1.
  Packed(rules, "v_cvt_pkaccum_u8_f32",
         {.count = 1, .from_bits = 32, .to_bits = 8, .to_counted = true});
  // The shift amount of these is src2, and counts for both.
  Packed(rules, "v_ashr_pk_i8_i32 v_ashr_pk_u8_i32",
         {.count = 2,
          .from_bits = 32,
          .to_bits = 8,
          .to_selected = true,
          .two_sources = true,
          .amount = true});
  AddScaled(rules);
}

}  // namespace ingot::emulator::taint
