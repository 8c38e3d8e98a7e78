// Integer instructions of the vector ALU that only VOP3 has: three sources,
// clamps, halves, truth tables. Expected values are written out from the
// instructions' definitions.
#include "tests/emulator/valu_int_fixture.h"

namespace ingot::emulator {
namespace {

U ByteDifference(U a, U b, int n, bool masked) {
  const I x = static_cast<I>(a >> (8 * n) & 0xff),
          y = static_cast<I>(b >> (8 * n) & 0xff);
  return masked && y == 0 ? 0 : static_cast<U>(std::abs(x - y));
}
U Sad(U a, U b, bool masked) {
  U s = 0;
  for (int n = 0; n < 4; ++n) s += ByteDifference(a, b, n, masked);
  return s;
}
template <class T>
T Middle(T a, T b, T c) {
  T v[3] = {a, b, c};
  std::sort(v, v + 3);
  return v[1];
}

TEST_F(ValuInt, ThreeSources) {
  const Op ops[] = {
      {"v_mad_i32_i24", 0x1c2,
       [](U a, U b, U c) {
         return static_cast<U>(int64_t{Bits24(a)} * Bits24(b)) + c;
       }},
      {"v_mad_u32_u24", 0x1c3,
       [](U a, U b, U c) { return (a & 0xffffff) * (b & 0xffffff) + c; }},
      {"v_bfe_u32", 0x1c8,
       [](U a, U b, U c) {
         return static_cast<U>(a >> (b % 32) & ((UL{1} << (c % 32)) - 1));
       }},
      {"v_bfe_i32", 0x1c9,
       [](U a, U b, U c) {
         const U width = c % 32;
         if (width == 0) return 0u;
         const U field = static_cast<U>(Signed(a) >> (b % 32));
         return static_cast<U>(Signed(field << (32 - width)) >> (32 - width));
       }},
      {"v_bfi_b32", 0x1ca, [](U a, U b, U c) { return (a & b) | (~a & c); }},
      {"v_lerp_u8", 0x1cd,
       [](U a, U b, U c) {
         U r = 0;
         for (int n = 0; n < 32; n += 8)
           r |= ((a >> n & 255) + (b >> n & 255) + (c >> n & 1)) / 2 << n;
         return r;
       }},
      {"v_alignbit_b32", 0x1ce,
       [](U a, U b, U c) {
         return static_cast<U>((UL{a} << 32 | b) >> (c % 32));
       }},
      {"v_alignbyte_b32", 0x1cf,
       [](U a, U b, U c) {
         return static_cast<U>((UL{a} << 32 | b) >> (c % 4 * 8));
       }},
      {"v_min3_i32", 0x1d1,
       [](U a, U b, U c) {
         return static_cast<U>(std::min({Signed(a), Signed(b), Signed(c)}));
       }},
      {"v_min3_u32", 0x1d2, [](U a, U b, U c) { return std::min({a, b, c}); }},
      {"v_max3_i32", 0x1d4,
       [](U a, U b, U c) {
         return static_cast<U>(std::max({Signed(a), Signed(b), Signed(c)}));
       }},
      {"v_max3_u32", 0x1d5, [](U a, U b, U c) { return std::max({a, b, c}); }},
      {"v_med3_i32", 0x1d7,
       [](U a, U b, U c) {
         return static_cast<U>(Middle(Signed(a), Signed(b), Signed(c)));
       }},
      {"v_med3_u32", 0x1d8, [](U a, U b, U c) { return Middle(a, b, c); }},
      {"v_sad_u8", 0x1d9, [](U a, U b, U c) { return Sad(a, b, false) + c; }},
      {"v_sad_hi_u8", 0x1da,
       [](U a, U b, U c) { return (Sad(a, b, false) << 16) + c; }},
      {"v_sad_u16", 0x1db,
       [](U a, U b, U c) {
         const auto d = [](U x, U y) {
           return static_cast<U>(std::abs(Signed(x) - Signed(y)));
         };
         return d(Low16(a), Low16(b)) + d(a >> 16, b >> 16) + c;
       }},
      {"v_sad_u32", 0x1dc,
       [](U a, U b, U c) { return (a > b ? a - b : b - a) + c; }},
      {"v_msad_u8", 0x1e4, [](U a, U b, U c) { return Sad(a, b, true) + c; }},
      {"v_perm_b32", 0x1ed,
       [](U a, U b, U c) {
         U r = 0;
         for (int n = 0; n < 4; ++n) {
           const U s = c >> (8 * n) & 0xff;
           const auto byte = [&](U k) {
             return (k < 4 ? b >> (8 * k) : a >> (8 * (k - 4))) & 0xff;
           };
           U v = 0xff;
           if (s < 8) v = byte(s);
           if (s >= 8 && s < 12) v = (byte(2 * (s - 8) + 1) & 0x80) ? 0xff : 0;
           if (s == 12) v = 0;
           r |= v << (8 * n);
         }
         return r;
       }},
      {"v_mad_u32_u16", 0x1f1,
       [](U a, U b, U c) { return Low16(a) * Low16(b) + c; }},
      {"v_mad_i32_i16", 0x1f2,
       [](U a, U b, U c) { return static_cast<U>(Short(a) * Short(b)) + c; }},
      {"v_xad_u32", 0x1f3, [](U a, U b, U c) { return (a ^ b) + c; }},
      {"v_lshl_add_u32", 0x1fd,
       [](U a, U b, U c) { return (a << (b % 32)) + c; }},
      {"v_add_lshl_u32", 0x1fe,
       [](U a, U b, U c) { return (a + b) << (c % 32); }},
      {"v_add3_u32", 0x1ff, [](U a, U b, U c) { return a + b + c; }},
      {"v_lshl_or_b32", 0x200, [](U a, U b, U c) { return a << (b % 32) | c; }},
      {"v_and_or_b32", 0x201, [](U a, U b, U c) { return (a & b) | c; }},
      {"v_or3_b32", 0x202, [](U a, U b, U c) { return a | b | c; }},
      {"v_mad_u16", 0x204, [](U a, U b, U c) { return Low16(a * b + c); }},
      {"v_mad_i16", 0x205, [](U a, U b, U c) { return Low16(a * b + c); }},
      {"v_mul_lo_u32", 0x285, [](U a, U b, U) { return a * b; }},
      {"v_mul_hi_u32", 0x286,
       [](U a, U b, U) { return static_cast<U>(UL{a} * b >> 32); }},
      {"v_mul_hi_i32", 0x287,
       [](U a, U b, U) {
         return static_cast<U>(int64_t{Signed(a)} * Signed(b) >> 32);
       }},
      {"v_bcnt_u32_b32", 0x28b,
       [](U a, U b, U) {
         U n = b;
         for (; a != 0; a &= a - 1) ++n;
         return n;
       }},
      {"v_bfm_b32", 0x293,
       [](U a, U b, U) {
         return static_cast<U>((UL{1} << (a % 32)) - 1) << (b % 32);
       }},
      {"v_cvt_pk_u16_u32", 0x297,
       [](U a, U b, U) {
         return std::min(a, 65535u) | std::min(b, 65535u) << 16;
       }},
      {"v_cvt_pk_i16_i32", 0x298,
       [](U a, U b, U) {
         return Low16(Saturate(Signed(a), -32768, 32767)) |
                Saturate(Signed(b), -32768, 32767) << 16;
       }},
      {"v_add_i32", 0x29c, [](U a, U b, U) { return a + b; }},
      {"v_sub_i32", 0x29d, [](U a, U b, U) { return a - b; }},
  };
  for (const Op& op : ops) Expect(Vop3(op.code, kD, V(kA), V(kB), V(kC)), op.f);
}

TEST_F(ValuInt, ClampSaturates) {
  const Modifiers clamp{0, 0, 0, 0, true};
  const Op ops[] = {
      {"v_add_u32", 0x134,
       [](U a, U b, U) { return Saturate(int64_t{a} + b, 0, 0xffffffffll); }},
      {"v_sub_u32", 0x135,
       [](U a, U b, U) { return Saturate(int64_t{a} - b, 0, 0xffffffffll); }},
      {"v_add_u16", 0x126,
       [](U a, U b, U) {
         return Saturate(int64_t{Low16(a)} + Low16(b), 0, 65535);
       }},
      {"v_add_i32", 0x29c,
       [](U a, U b, U) {
         return Saturate(int64_t{Signed(a)} + Signed(b), INT32_MIN, INT32_MAX);
       }},
      {"v_sub_i32", 0x29d,
       [](U a, U b, U) {
         return Saturate(int64_t{Signed(a)} - Signed(b), INT32_MIN, INT32_MAX);
       }},
      {"v_add_i16", 0x29e,
       [](U a, U b, U) {
         return Low16(Saturate(Short(a) + Short(b), -32768, 32767));
       }},
      {"v_mad_i16", 0x205,
       [](U a, U b, U c) {
         return Low16(
             Saturate(int64_t{Short(a)} * Short(b) + Short(c), -32768, 32767));
       }},
      {"v_mad_u16", 0x204,
       [](U a, U b, U c) {
         return Saturate(int64_t{Low16(a)} * Low16(b) + Low16(c), 0, 65535);
       }},
  };
  for (const Op& op : ops)
    Expect(Vop3(op.code, kD, V(kA), V(kB), V(kC), clamp), op.f);
}

// Halves chosen by op_sel, the result in the high half, the low one kept.
TEST_F(ValuInt, HighHalves) {
  const Modifiers high{0, 0, 0xb, 0, false};  // src0 and src1 high, vdst high
  Poison();
  FillSources();
  U want[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const U r = Low16((w().v[kA][l] >> 16) * (w().v[kB][l] >> 16) +
                      Low16(w().v[kC][l]));
    want[l] = Low16(w().v[kD][l]) | r << 16;
  }
  ASSERT_TRUE(Run(Vop3(0x204, kD, V(kA), V(kB), V(kC), high)));
  for (int l = 0; l < kLanes; ++l) ASSERT_EQ(w().v[kD][l], want[l]) << l;
}

TEST_F(ValuInt, TruthTables) {
  for (U table = 0; table < 256; ++table) {
    const auto f = [table](U a, U b, U c) {
      U r = 0;
      for (int n = 0; n < 32; ++n) {
        const U row = (a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1);
        r |= (table >> row & 1) << n;
      }
      return r;
    };
    const Modifiers m{table >> 3 & 7, table & 7, 0, table >> 6, false};
    Expect(Vop3(0x234, kD, V(kA), V(kB), V(kC), m), f);
    Expect(Vop3(0x233, kD, V(kA), V(kB), V(kC), m),
           [&](U a, U b, U c) { return Low16(f(a, b, c)); });
  }
}

// 64-bit results: the exact sum and its carry, or bit 64 of a signed one.
TEST_F(ValuInt, MultiplyAdd64) {
  for (const bool is_signed : {false, true}) {
    Poison();
    FillSources();
    SetExec(0xffff0000ffff00ff);
    U low[kLanes], high[kLanes];
    UL carry = 0;
    for (int l = 0; l < kLanes; ++l) {
      const U a = w().v[kA][l], b = w().v[kB][l];
      const UL c = w().v[140][l] | UL{w().v[141][l]} << 32;
      const __int128 sum =
          is_signed
              ? static_cast<__int128>(int64_t{Signed(a)} * Signed(b)) +
                    static_cast<int64_t>(c)
              : static_cast<__int128>(UL{a} * b) + static_cast<__int128>(c);
      low[l] = static_cast<U>(static_cast<UL>(sum));
      high[l] = static_cast<U>(static_cast<UL>(sum) >> 32);
      carry |= UL{static_cast<U>(sum >> 64) & 1} << l;
    }
    const Words words = {
        (is_signed ? 0xd1e90000u : 0xd1e80000u) | 10u << 8 | 150,
        V(kA) | V(kB) << 9 | V(140) << 18};
    w().SetS64(10, ~UL{0});
    ASSERT_TRUE(Run(words));
    EXPECT_EQ(w().S64(10), carry & 0xffff0000ffff00ff);
    for (int l = 0; l < kLanes; ++l) {
      if ((w().exec() >> l & 1) == 0) continue;
      ASSERT_EQ(w().v[150][l], low[l]) << Text() << l;
      ASSERT_EQ(w().v[151][l], high[l]) << Text() << l;
    }
  }
}

}  // namespace
}  // namespace ingot::emulator
