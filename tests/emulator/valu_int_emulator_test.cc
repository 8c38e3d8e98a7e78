// Integer instructions of the vector ALU, each in every encoding it has, with
// high registers, lanes off and bytes and halves chosen by SDWA. Expected
// values are written out from the instructions' definitions.
#include <algorithm>
#include <functional>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;
using I = int32_t;
using UL = uint64_t;
using Fn = std::function<U(U, U, U)>;

I Signed(U a) { return static_cast<I>(a); }
U Low16(U a) { return a & 0xffff; }
I Short(U a) { return static_cast<int16_t>(a); }
I Bits24(U a) { return (Signed(a << 8)) >> 8; }
U Saturate(int64_t v, int64_t low, int64_t high) {
  return static_cast<U>(std::clamp(v, low, high));
}

struct Op {
  const char* name;
  uint32_t code;
  Fn f;
};

class ValuInt : public SingleInstruction {
 protected:
  static constexpr U kA = 130, kB = 131, kC = 132, kD = 133;

  void FillSources() {
    static constexpr U kEdges[] = {
        0,          1,          2,          31,        32,     0x7f,
        0x80,       0xff,       0x7fff,     0x8000,    0xffff, 0x10000,
        0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
    for (const U reg : {kA, kB, kC}) {
      for (int l = 0; l < kLanes; ++l)
        w().v[reg][l] = random_() % 3 == 0 ? kEdges[random_() % 16] : random_();
    }
  }

  // Lanes that are on hold f of what the sources held, the others keep vdst.
  void Expect(const Words& words, const Fn& f,
              const std::function<U(U, int)>& select = nullptr) {
    for (const UL exec : {~UL{0}, UL{0x8000f00ff00f0001}, UL{0}}) {
      Poison();
      FillSources();
      SetExec(exec);
      U want[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        U s[3] = {w().v[kA][l], w().v[kB][l], w().v[kC][l]};
        for (int n = 0; n < 3 && select; ++n) s[n] = select(s[n], n);
        want[l] = (exec >> l & 1) != 0 ? f(s[0], s[1], s[2]) : w().v[kD][l];
      }
      ASSERT_TRUE(Run(words)) << Text();
      for (int l = 0; l < kLanes; ++l)
        ASSERT_EQ(w().v[kD][l], want[l]) << Text() << " lane " << l;
    }
  }
};

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

// Inline constants: integers as they are; floats as f16 for 16-bit operands and
// as f32 for wider ones.
TEST_F(ValuInt, InlineConstants) {
  Expect(Vop2(0x34, kD, 193, kB), [](U, U b, U) { return b - 1; });
  Expect(Vop2(0x34, kD, 242, kB), [](U, U b, U) { return b + 0x3f800000; });
  Expect(Vop2(0x26, kD, 242, kB), [](U, U b, U) { return Low16(b + 0x3c00); });
  Expect(Vop3(0x134, kD, V(kA), 208), [](U a, U, U) { return a - 16; });
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
