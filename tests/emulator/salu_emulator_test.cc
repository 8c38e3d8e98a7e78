// Scalar instructions: results and SCC from their definitions, hardware
// registers, forks, and scalar memory.
#include <algorithm>
#include <functional>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;
using I = int32_t;
using UL = uint64_t;

I Signed(U a) { return static_cast<I>(a); }

// A result and the SCC that goes with it; -1 leaves SCC as it was.
struct Outcome {
  UL value;
  int scc;
};
Outcome Logic(UL v) { return {v, v != 0}; }

class Salu : public SingleInstruction {
 protected:
  U Pick() {
    static constexpr U kEdges[] = {0,  1,  31,         32,         63,
                                   64, 7,  0x7fffffff, 0x80000000, 0xffffffff,
                                   8,  16, 0x000b0005, 0x00200000, 0x00ff003f};
    return random_() % 2 == 0 ? kEdges[random_() % 15] : random_();
  }

  struct Op {
    const char* name;
    U code;
    bool wide_result, wide_a, wide_b;
    std::function<Outcome(UL, UL, U)> f;
  };

  void Check(const Op& op, bool two) {
    for (int n = 0; n < 60; ++n) {
      const UL a = Pick() | UL{Pick()} << 32, b = Pick() | UL{Pick()} << 32;
      w().SetS64(10, a);
      w().SetS64(12, n % 5 == 0 ? a : b);
      w().SetS64(20, 0x5a5a5a5a5a5a5a5a);
      w().scc = static_cast<U>(n & 1);
      const UL x = op.wide_a ? a : a & 0xffffffff;
      const UL second = w().S64(12);
      const UL y = op.wide_b ? second : second & 0xffffffff;
      const Outcome want = op.f(x, y, w().scc);
      const U scc = want.scc < 0 ? w().scc : static_cast<U>(want.scc);
      ASSERT_TRUE(Run(two ? Sop2(op.code, 20, 10, 12) : Sop1(op.code, 20, 10)));
      const UL got = op.wide_result ? w().S64(20) : w().s[20];
      ASSERT_EQ(got, op.wide_result ? want.value : want.value & 0xffffffff)
          << op.name << " " << std::hex << x << " " << y;
      ASSERT_EQ(w().scc, scc) << op.name << " " << std::hex << x << " " << y;
    }
  }
};

TEST_F(Salu, TwoSources) {
  const auto add = [](UL a, UL b, UL c) {
    return Outcome{a + b + c, static_cast<int>((a + b + c) >> 32)};
  };
  const auto field = [](UL a, UL b, int bits, bool is_signed) {
    const int offset = static_cast<int>(b) & (bits - 1);
    const int width = std::min(static_cast<int>(b >> 16 & 0x7f), 64);
    if (width == 0) return Logic(0);
    const __int128 value =
        is_signed
            ? static_cast<__int128>(bits == 64
                                        ? static_cast<int64_t>(a)
                                        : int64_t{Signed(static_cast<U>(a))})
            : static_cast<__int128>(a);
    __int128 v = value >> offset & ((static_cast<__int128>(1) << width) - 1);
    if (is_signed && (v >> (width - 1) & 1) != 0)
      v -= static_cast<__int128>(1) << width;
    const UL r = static_cast<UL>(v) & (bits == 64 ? ~UL{0} : 0xffffffffull);
    return Logic(r);
  };
  const Op ops[] = {
      {"s_add_u32", 0x00, 0, 0, 0, [&](UL a, UL b, U) { return add(a, b, 0); }},
      {"s_sub_u32", 0x01, 0, 0, 0,
       [](UL a, UL b, U) { return Outcome{a - b, b > a}; }},
      {"s_add_i32", 0x02, 0, 0, 0,
       [](UL a, UL b, U) {
         const int64_t r =
             int64_t{Signed(static_cast<U>(a))} + Signed(static_cast<U>(b));
         return Outcome{static_cast<UL>(r), r != Signed(static_cast<U>(r))};
       }},
      {"s_sub_i32", 0x03, 0, 0, 0,
       [](UL a, UL b, U) {
         const int64_t r =
             int64_t{Signed(static_cast<U>(a))} - Signed(static_cast<U>(b));
         return Outcome{static_cast<UL>(r), r != Signed(static_cast<U>(r))};
       }},
      {"s_addc_u32", 0x04, 0, 0, 0,
       [&](UL a, UL b, U scc) { return add(a, b, scc); }},
      {"s_subb_u32", 0x05, 0, 0, 0,
       [](UL a, UL b, U scc) { return Outcome{a - b - scc, b + scc > a}; }},
      {"s_min_i32", 0x06, 0, 0, 0,
       [](UL a, UL b, U) {
         const bool first =
             Signed(static_cast<U>(a)) < Signed(static_cast<U>(b));
         return Outcome{first ? a : b, first};
       }},
      {"s_min_u32", 0x07, 0, 0, 0,
       [](UL a, UL b, U) { return Outcome{std::min(a, b), a < b}; }},
      {"s_max_i32", 0x08, 0, 0, 0,
       [](UL a, UL b, U) {
         const bool first =
             Signed(static_cast<U>(a)) >= Signed(static_cast<U>(b));
         return Outcome{first ? a : b, first};
       }},
      {"s_max_u32", 0x09, 0, 0, 0,
       [](UL a, UL b, U) { return Outcome{std::max(a, b), a >= b}; }},
      {"s_cselect_b32", 0x0a, 0, 0, 0,
       [](UL a, UL b, U scc) { return Outcome{scc ? a : b, -1}; }},
      {"s_cselect_b64", 0x0b, 1, 1, 1,
       [](UL a, UL b, U scc) { return Outcome{scc ? a : b, -1}; }},
      {"s_and_b64", 0x0d, 1, 1, 1, [](UL a, UL b, U) { return Logic(a & b); }},
      {"s_or_b32", 0x0e, 0, 0, 0, [](UL a, UL b, U) { return Logic(a | b); }},
      {"s_xor_b64", 0x11, 1, 1, 1, [](UL a, UL b, U) { return Logic(a ^ b); }},
      {"s_andn2_b32", 0x12, 0, 0, 0,
       [](UL a, UL b, U) { return Logic(a & ~b); }},
      {"s_orn2_b64", 0x15, 1, 1, 1,
       [](UL a, UL b, U) { return Logic(a | ~b); }},
      {"s_nand_b64", 0x17, 1, 1, 1,
       [](UL a, UL b, U) { return Logic(~(a & b)); }},
      {"s_nor_b32", 0x18, 0, 0, 0,
       [](UL a, UL b, U) { return Logic(static_cast<U>(~(a | b))); }},
      {"s_xnor_b64", 0x1b, 1, 1, 1,
       [](UL a, UL b, U) { return Logic(~(a ^ b)); }},
      {"s_lshl_b32", 0x1c, 0, 0, 0,
       [](UL a, UL b, U) { return Logic(static_cast<U>(a << (b % 32))); }},
      {"s_lshl_b64", 0x1d, 1, 1, 0,
       [](UL a, UL b, U) { return Logic(a << (b % 64)); }},
      {"s_lshr_b64", 0x1f, 1, 1, 0,
       [](UL a, UL b, U) { return Logic(a >> (b % 64)); }},
      {"s_ashr_i32", 0x20, 0, 0, 0,
       [](UL a, UL b, U) {
         return Logic(static_cast<U>(Signed(static_cast<U>(a)) >> (b % 32)));
       }},
      {"s_ashr_i64", 0x21, 1, 1, 0,
       [](UL a, UL b, U) {
         return Logic(static_cast<UL>(static_cast<int64_t>(a) >> (b % 64)));
       }},
      {"s_bfm_b32", 0x22, 0, 0, 0,
       [](UL a, UL b, U) {
         return Outcome{((UL{1} << (a % 32)) - 1) << (b % 32), -1};
       }},
      {"s_bfm_b64", 0x23, 1, 0, 0,
       [](UL a, UL b, U) {
         return Outcome{((UL{1} << (a % 64)) - 1) << (b % 64), -1};
       }},
      {"s_mul_i32", 0x24, 0, 0, 0,
       [](UL a, UL b, U) { return Outcome{a * b, -1}; }},
      {"s_bfe_u32", 0x25, 0, 0, 0,
       [&](UL a, UL b, U) { return field(a, b, 32, false); }},
      {"s_bfe_i32", 0x26, 0, 0, 0,
       [&](UL a, UL b, U) { return field(a, b, 32, true); }},
      {"s_bfe_u64", 0x27, 1, 1, 0,
       [&](UL a, UL b, U) { return field(a, b, 64, false); }},
      {"s_bfe_i64", 0x28, 1, 1, 0,
       [&](UL a, UL b, U) { return field(a, b, 64, true); }},
      {"s_absdiff_i32", 0x2a, 0, 0, 0,
       [](UL a, UL b, U) {
         const U d = static_cast<U>(a - b);
         return Logic(Signed(d) < 0 ? 0u - d : d);
       }},
      {"s_mul_hi_u32", 0x2c, 0, 0, 0,
       [](UL a, UL b, U) { return Outcome{a * b >> 32, -1}; }},
      {"s_mul_hi_i32", 0x2d, 0, 0, 0,
       [](UL a, UL b, U) {
         return Outcome{static_cast<UL>(int64_t{Signed(static_cast<U>(a))} *
                                            Signed(static_cast<U>(b)) >>
                                        32),
                        -1};
       }},
      {"s_lshl3_add_u32", 0x30, 0, 0, 0,
       [](UL a, UL b, U) {
         const UL r = (a << 3) + b;
         return Outcome{r, r >> 32 != 0};
       }},
      {"s_pack_ll_b32_b16", 0x32, 0, 0, 0,
       [](UL a, UL b, U) { return Outcome{(a & 0xffff) | b << 16, -1}; }},
      {"s_pack_hh_b32_b16", 0x34, 0, 0, 0,
       [](UL a, UL b, U) { return Outcome{a >> 16 | (b & 0xffff0000), -1}; }},
  };
  for (const Op& op : ops) Check(op, true);
}

TEST_F(Salu, OneSource) {
  const auto first = [](UL a, int bits) -> UL {
    for (int n = 0; n < bits; ++n) {
      if ((a >> n & 1) != 0) return static_cast<UL>(n);
    }
    return ~UL{0};
  };
  const Op ops[] = {
      {"s_not_b32", 0x04, 0, 0, 0,
       [](UL a, UL, U) { return Logic(static_cast<U>(~a)); }},
      {"s_wqm_b64", 0x07, 1, 1, 0,
       [](UL a, UL, U) {
         UL r = 0;
         for (int n = 0; n < 64; ++n) r |= UL{(a >> (n & ~3) & 15) != 0} << n;
         return Logic(r);
       }},
      {"s_brev_b64", 0x09, 1, 1, 0,
       [](UL a, UL, U) {
         UL r = 0;
         for (int n = 0; n < 64; ++n) r |= (a >> n & 1) << (63 - n);
         return Outcome{r, -1};
       }},
      {"s_bcnt0_i32_b32", 0x0a, 0, 0, 0,
       [](UL a, UL, U) {
         UL n = 0;
         for (int k = 0; k < 32; ++k) n += (a >> k & 1) == 0;
         return Logic(n);
       }},
      {"s_bcnt1_i32_b64", 0x0d, 0, 1, 0,
       [](UL a, UL, U) {
         UL n = 0;
         for (int k = 0; k < 64; ++k) n += a >> k & 1;
         return Logic(n);
       }},
      {"s_ff0_i32_b64", 0x0f, 0, 1, 0,
       [&](UL a, UL, U) { return Outcome{first(~a, 64), -1}; }},
      {"s_ff1_i32_b32", 0x10, 0, 0, 0,
       [&](UL a, UL, U) { return Outcome{first(a, 32), -1}; }},
      {"s_flbit_i32_b64", 0x13, 0, 1, 0,
       [](UL a, UL, U) {
         for (int n = 0; n < 64; ++n) {
           if ((a >> (63 - n) & 1) != 0) return Outcome{static_cast<UL>(n), -1};
         }
         return Outcome{~UL{0}, -1};
       }},
      {"s_flbit_i32", 0x14, 0, 0, 0,
       [](UL a, UL, U) {
         for (int n = 1; n < 32; ++n) {
           if ((a >> (31 - n) & 1) != a >> 31)
             return Outcome{static_cast<UL>(n), -1};
         }
         return Outcome{~UL{0}, -1};
       }},
      {"s_sext_i32_i8", 0x16, 0, 0, 0,
       [](UL a, UL, U) {
         return Outcome{static_cast<UL>(int64_t{static_cast<int8_t>(a)}), -1};
       }},
      {"s_bitset0_b64", 0x19, 1, 0, 0,
       [](UL a, UL, U) {
         return Outcome{0x5a5a5a5a5a5a5a5a & ~(UL{1} << (a % 64)), -1};
       }},
      {"s_bitset1_b32", 0x1a, 0, 0, 0,
       [](UL a, UL, U) { return Outcome{0x5a5a5a5a | UL{1} << (a % 32), -1}; }},
      {"s_quadmask_b64", 0x29, 1, 1, 0,
       [](UL a, UL, U) {
         UL r = 0;
         for (int n = 0; n < 16; ++n) r |= UL{(a >> (4 * n) & 15) != 0} << n;
         return Logic(r);
       }},
      {"s_abs_i32", 0x30, 0, 0, 0,
       [](UL a, UL, U) {
         const U v = static_cast<U>(a);
         return Logic(Signed(v) < 0 ? 0u - v : v);
       }},
      {"s_bitreplicate_b64_b32", 0x37, 1, 0, 0,
       [](UL a, UL, U) {
         UL r = 0;
         for (int n = 0; n < 32; ++n) r |= (a >> n & 1) * 3 << (2 * n);
         return Outcome{r, -1};
       }},
  };
  for (const Op& op : ops) Check(op, false);
  // 0x1a is s_bitset1_b32 and 0x19 s_bitset0_b64: their second forms too.
}

TEST_F(Salu, SaveExec) {
  const std::function<UL(UL, UL)> fs[] = {
      [](UL s, UL e) { return s & e; },    [](UL s, UL e) { return s | e; },
      [](UL s, UL e) { return s ^ e; },    [](UL s, UL e) { return s & ~e; },
      [](UL s, UL e) { return s | ~e; },   [](UL s, UL e) { return ~(s & e); },
      [](UL s, UL e) { return ~(s | e); }, [](UL s, UL e) { return ~(s ^ e); }};
  for (U n = 0; n < 8; ++n) {
    const UL s = 0xff00ff00f0f0f0f0, e = 0x0ff00ff0ffff0000;
    w().SetS64(10, s);
    SetExec(e);
    ASSERT_TRUE(Run(Sop1(0x20 + n, 12, 10)));
    EXPECT_EQ(w().S64(12), e) << Text();
    EXPECT_EQ(w().exec(), fs[n](s, e)) << Text();
    EXPECT_EQ(w().scc, 1u);
  }
}

TEST_F(Salu, ModeRegister) {
  // s_setreg_imm32_b32 hwreg(MODE, 4, 2), 1 and back out.
  ASSERT_TRUE(Run({0xba000000 | 1u << 11 | 4u << 6 | 1, 1}));
  EXPECT_EQ(w().mode, (kDefaultMode & ~0x30u) | 0x10);
  ASSERT_TRUE(Run(Sopk(0x11, 20, 31u << 11 | 1)));
  EXPECT_EQ(w().s[20], w().mode);
  // STATUS: EXECZ and SCC.
  SetExec(0);
  w().scc = 1;
  ASSERT_TRUE(Run(Sopk(0x11, 20, 31u << 11 | 2)));
  EXPECT_EQ(w().s[20] & 0x201, 0x201u);
  // s_set_gpr_idx_on shows in MODE.
  w().s[10] = 5;
  ASSERT_TRUE(Run(Sopc(0x11, 10, 9)));
  EXPECT_EQ(w().s[kM0] & 0xf0ff, 0x9005u);
  ASSERT_TRUE(Run(Sopk(0x11, 20, 27u << 6 | 1)));
  EXPECT_EQ(w().s[20], 1u);
}

// Half of the lanes branch: the smaller part runs first, then the other.
TEST_F(Salu, Forks) {
  SetExec(0xff);
  w().SetS64(40, 0x3);  // two lanes want the target
  w().pc = 1000;
  ASSERT_TRUE(Run(Sopk(0x10, 40, 50)));  // s_cbranch_i_fork
  EXPECT_EQ(w().pc, 1200u);
  EXPECT_EQ(w().exec(), 0x3u);
  w().s[60] = 0;
  w().pc = 1300;
  ASSERT_TRUE(Run(Sop1(0x2e, 0, 60)));  // s_cbranch_join: the others go on
  EXPECT_EQ(w().pc, 1000u);
  EXPECT_EQ(w().exec(), 0xfcu);
  w().pc = 1304;
  ASSERT_TRUE(Run(Sop1(0x2e, 0, 60)));
  EXPECT_EQ(w().pc, 1304u);
}

TEST_F(Salu, WhatIsNotModelledIsRefusedByName) {
  EXPECT_FALSE(Run(Sop1(0x1f, 0, 10)));
  EXPECT_NE(w().fault.detail.find("s_rfe_b64"), std::string::npos);
  EXPECT_FALSE(Run(Sopc(0x10, 10, 11)));
  EXPECT_NE(w().fault.detail.find("s_setvskip"), std::string::npos);
  EXPECT_FALSE(Run({0xbf8d0001}));  // s_sethalt 1
  EXPECT_TRUE(Run({0xbf8d0000}));
}

Words Smem(U op, U data, U base, U imm, bool glc = false) {
  return {0xc0020000 | op << 18 | U{glc} << 16 | data << 6 | base / 2, imm};
}

TEST_F(Salu, Memory) {
  U memory[64];
  for (U n = 0; n < 64; ++n) memory[n] = n * 0x01010101;
  w().SetS64(10, reinterpret_cast<UL>(memory));
  ASSERT_TRUE(Run(Smem(0x02, 20, 10, 16)));  // s_load_dwordx4
  EXPECT_EQ(w().s[20], memory[4]);
  EXPECT_EQ(w().s[23], memory[7]);
  w().s[24] = 77;
  ASSERT_TRUE(Run(Smem(0x10, 24, 10, 8)));  // s_store_dword
  EXPECT_EQ(memory[2], 77u);
  // s_scratch_load_dword s25, s[10:11], s26 offset:4: s26 counts 64 bytes.
  w().s[26] = 2;
  ASSERT_TRUE(Run({0xc0024000 | 5u << 18 | 25u << 6 | 5, 4u | 26u << 25}));
  EXPECT_EQ(w().s[25], memory[33]);
  w().s[24] = 3;
  ASSERT_TRUE(Run(Smem(0x82, 24, 10, 12, true)));  // s_atomic_add, returning
  EXPECT_EQ(w().s[24], 3 * 0x01010101u);
  EXPECT_EQ(memory[3], 3 * 0x01010101u + 3);
  // Buffers: 16 bytes long, reads beyond are 0 and writes are dropped.
  w().SetS64(12, reinterpret_cast<UL>(memory));
  w().s[14] = 16;
  w().s[15] = 0;
  ASSERT_TRUE(Run(Smem(0x09, 20, 12, 12)));  // s_buffer_load_dwordx2
  EXPECT_EQ(w().s[20], memory[3]);
  EXPECT_EQ(w().s[21], 0u);
  w().s[24] = 99;
  ASSERT_TRUE(Run(Smem(0x18, 24, 12, 16)));  // s_buffer_store_dword
  EXPECT_EQ(memory[4], 4 * 0x01010101u);
  ASSERT_TRUE(Run(Smem(0x18, 24, 12, 4)));
  EXPECT_EQ(memory[1], 99u);
  w().s[24] = 1;
  ASSERT_TRUE(Run(Smem(0x42, 24, 12, 4, true)));  // s_buffer_atomic_add
  EXPECT_EQ(w().s[24], 99u);
  EXPECT_EQ(memory[1], 100u);
}

}  // namespace
}  // namespace ingot::emulator
