// Integer instructions of the vector ALU, each in every encoding it has, with
// high registers, lanes off and bytes and halves chosen by SDWA. Expected
// values are written out from the instructions' definitions.
#include "tests/emulator/valu_int_fixture.h"

namespace ingot::emulator {
namespace {

const Op kVop2[] = {
    {"v_mul_i32_i24", 0x06,
     [](U a, U b, U) {
       return static_cast<U>(int64_t{Bits24(a)} * Bits24(b));
     }},
    {"v_mul_hi_i32_i24", 0x07,
     [](U a, U b, U) {
       return static_cast<U>(int64_t{Bits24(a)} * Bits24(b) >> 32);
     }},
    {"v_mul_u32_u24", 0x08,
     [](U a, U b, U) {
       return static_cast<U>(UL{a & 0xffffff} * (b & 0xffffff));
     }},
    {"v_mul_hi_u32_u24", 0x09,
     [](U a, U b, U) {
       return static_cast<U>(UL{a & 0xffffff} * (b & 0xffffff) >> 32);
     }},
    {"v_min_i32", 0x0c,
     [](U a, U b, U) {
       return static_cast<U>(std::min(Signed(a), Signed(b)));
     }},
    {"v_max_i32", 0x0d,
     [](U a, U b, U) {
       return static_cast<U>(std::max(Signed(a), Signed(b)));
     }},
    {"v_min_u32", 0x0e, [](U a, U b, U) { return std::min(a, b); }},
    {"v_max_u32", 0x0f, [](U a, U b, U) { return std::max(a, b); }},
    {"v_lshrrev_b32", 0x10, [](U a, U b, U) { return b >> (a % 32); }},
    {"v_ashrrev_i32", 0x11,
     [](U a, U b, U) { return static_cast<U>(Signed(b) >> (a % 32)); }},
    {"v_lshlrev_b32", 0x12, [](U a, U b, U) { return b << (a % 32); }},
    {"v_and_b32", 0x13, [](U a, U b, U) { return a & b; }},
    {"v_or_b32", 0x14, [](U a, U b, U) { return a | b; }},
    {"v_xor_b32", 0x15, [](U a, U b, U) { return a ^ b; }},
    {"v_add_u16", 0x26, [](U a, U b, U) { return Low16(a + b); }},
    {"v_sub_u16", 0x27, [](U a, U b, U) { return Low16(a - b); }},
    {"v_subrev_u16", 0x28, [](U a, U b, U) { return Low16(b - a); }},
    {"v_mul_lo_u16", 0x29, [](U a, U b, U) { return Low16(a * b); }},
    {"v_lshlrev_b16", 0x2a, [](U a, U b, U) { return Low16(b << (a % 16)); }},
    {"v_lshrrev_b16", 0x2b, [](U a, U b, U) { return Low16(b) >> (a % 16); }},
    {"v_ashrrev_i16", 0x2c,
     [](U a, U b, U) { return Low16(static_cast<U>(Short(b) >> (a % 16))); }},
    {"v_max_u16", 0x2f,
     [](U a, U b, U) { return std::max(Low16(a), Low16(b)); }},
    {"v_max_i16", 0x30,
     [](U a, U b, U) {
       return Low16(static_cast<U>(std::max(Short(a), Short(b))));
     }},
    {"v_min_u16", 0x31,
     [](U a, U b, U) { return std::min(Low16(a), Low16(b)); }},
    {"v_min_i16", 0x32,
     [](U a, U b, U) {
       return Low16(static_cast<U>(std::min(Short(a), Short(b))));
     }},
    {"v_add_u32", 0x34, [](U a, U b, U) { return a + b; }},
    {"v_sub_u32", 0x35, [](U a, U b, U) { return a - b; }},
    {"v_subrev_u32", 0x36, [](U a, U b, U) { return b - a; }},
    {"v_xnor_b32", 0x3d, [](U a, U b, U) { return ~(a ^ b); }},
};

TEST_F(ValuInt, TwoSourcesInBothEncodings) {
  for (const Op& op : kVop2) {
    Expect(Vop2(op.code, kD, V(kA), kB), op.f);
    Expect(Vop3(op.code + 0x100, kD, V(kA), V(kB)), op.f);
  }
}

// src0 a sign-extended byte, src1 the high half; the result in byte 2 of vdst,
// the rest kept.
TEST_F(ValuInt, SdwaChoosesAndKeeps) {
  for (const Op& op : kVop2) {
    Poison();
    FillSources();
    U want[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const U a = static_cast<U>(static_cast<int8_t>(w().v[kA][l] >> 8));
      const U r = op.f(a, w().v[kB][l] >> 16, 0);
      want[l] = (w().v[kD][l] & 0xff00ffff) | (r & 0xff) << 16;
    }
    const U extra = kA | 2u << 8 | 2u << 11 | 1u << 16 | 1u << 19 | 5u << 24;
    ASSERT_TRUE(Run({Vop2(op.code, kD, 249, kB)[0], extra})) << op.name;
    for (int l = 0; l < kLanes; ++l)
      ASSERT_EQ(w().v[kD][l], want[l]) << Text() << " lane " << l;
  }
}

// Lanes take src0 from the lane before them in their row of 16; the first lane
// of a row has none: 0 with bound_ctrl, not written without.
TEST_F(ValuInt, DppRowShift) {
  for (const bool bound : {false, true}) {
    for (const Op& op : kVop2) {
      Poison();
      FillSources();
      U want[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        const bool first = l % 16 == 0;
        const U a = first ? 0 : w().v[kA][l - 1];
        want[l] = first && !bound ? w().v[kD][l] : op.f(a, w().v[kB][l], 0);
      }
      const U extra = kA | 0x111u << 8 | U{bound} << 19 | 0xffu << 24;
      ASSERT_TRUE(Run({Vop2(op.code, kD, 250, kB)[0], extra})) << op.name;
      for (int l = 0; l < kLanes; ++l)
        ASSERT_EQ(w().v[kD][l], want[l]) << Text() << " lane " << l;
    }
  }
}

U CountLeading(U a) {
  for (U n = 0; n < 32; ++n) {
    if ((a >> (31 - n) & 1) != 0) return n;
  }
  return ~0u;
}

TEST_F(ValuInt, OneSource) {
  const Op ops[] = {
      {"v_mov_b32", 0x01, [](U a, U, U) { return a; }},
      {"v_not_b32", 0x2b, [](U a, U, U) { return ~a; }},
      {"v_bfrev_b32", 0x2c,
       [](U a, U, U) {
         U r = 0;
         for (int n = 0; n < 32; ++n) r |= (a >> n & 1) << (31 - n);
         return r;
       }},
      {"v_ffbh_u32", 0x2d, [](U a, U, U) { return CountLeading(a); }},
      {"v_ffbl_b32", 0x2e,
       [](U a, U, U) {
         for (U n = 0; n < 32; ++n) {
           if ((a >> n & 1) != 0) return n;
         }
         return ~0u;
       }},
      {"v_ffbh_i32", 0x2f,
       [](U a, U, U) {
         for (U n = 1; n < 32; ++n) {
           if ((a >> (31 - n) & 1) != a >> 31) return n;
         }
         return ~0u;
       }},
      {"v_cvt_f32_i32", 0x05,
       [](U a, U, U) { return BitsFrom(static_cast<float>(Signed(a))); }},
      {"v_cvt_f32_u32", 0x06,
       [](U a, U, U) { return BitsFrom(static_cast<float>(a)); }},
      {"v_cvt_f32_ubyte0", 0x11,
       [](U a, U, U) { return BitsFrom(static_cast<float>(a & 0xff)); }},
      {"v_cvt_f32_ubyte3", 0x14,
       [](U a, U, U) { return BitsFrom(static_cast<float>(a >> 24)); }},
      {"v_cvt_off_f32_i4", 0x0e,
       [](U a, U, U) {
         const I v = (a & 8) != 0 ? static_cast<I>(a & 15) - 16
                                  : static_cast<I>(a & 15);
         return BitsFrom(static_cast<float>(v) / 16);
       }},
      {"v_sat_pk_u8_i16", 0x4f,
       [](U a, U, U) {
         return Saturate(Short(a), 0, 255) | Saturate(Short(a >> 16), 0, 255)
                                                 << 8;
       }},
      {"v_prng_b32", 0x58,
       [](U a, U, U) { return a << 1 ^ ((a & 0x80000000) != 0 ? 197u : 0u); }},
  };
  for (const Op& op : ops) {
    Expect(Vop1(op.code, kD, V(kA)), op.f);
    Expect(Vop3(op.code + 0x140, kD, V(kA)), op.f);
  }
}

// Inline constants: integers as they are; floats as f16 for 16-bit operands and
// as f32 for wider ones.
TEST_F(ValuInt, InlineConstants) {
  Expect(Vop2(0x34, kD, 193, kB), [](U, U b, U) { return b - 1; });
  Expect(Vop2(0x34, kD, 242, kB), [](U, U b, U) { return b + 0x3f800000; });
  Expect(Vop2(0x26, kD, 242, kB), [](U, U b, U) { return Low16(b + 0x3c00); });
  Expect(Vop3(0x134, kD, V(kA), 208), [](U a, U, U) { return a - 16; });
}

// Carries in and out through an SGPR pair, and saturation.
TEST_F(ValuInt, Carries) {
  for (const bool clamp : {false, true}) {
    Poison();
    FillSources();
    const UL in = 0x123456789abcdef0;
    w().SetS64(20, in);
    UL out = 0;
    U want[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const UL sum = UL{w().v[kA][l]} + w().v[kB][l] + (in >> l & 1);
      out |= (sum >> 32) << l;
      want[l] = clamp && sum >> 32 != 0 ? ~0u : static_cast<U>(sum);
    }
    // v_addc_co_u32 v133, s[22:23], v130, v131, s[20:21]
    ASSERT_TRUE(Run({0xd11c0000u | U{clamp} << 15 | 22u << 8 | kD,
                     V(kA) | V(kB) << 9 | 20u << 18}));
    EXPECT_EQ(w().S64(22), out) << Text();
    for (int l = 0; l < kLanes; ++l) ASSERT_EQ(w().v[kD][l], want[l]) << l;
  }
}

}  // namespace
}  // namespace ingot::emulator
