// Packed and mixed instructions and dot products, with every choice of halves,
// signs, and saturation.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;
using I = int32_t;

I Short(U a) { return static_cast<int16_t>(a); }

class Packed : public SingleInstruction {
 protected:
  static constexpr U kA = 160, kB = 162, kC = 164, kD = 166;
  void Fill() {
    static constexpr U kEdges[] = {0, 1, 0x7fff, 0x8000, 0xffff, 0x8001};
    Poison();
    for (const U reg : {kA, kB, kC}) {
      for (int l = 0; l < kLanes; ++l) {
        for (int shift : {0, 16}) {
          if (random_() % 3 != 0) continue;
          U& word = w().v[reg][l];
          word = (word & ~(0xffffu << shift)) | kEdges[random_() % 6] << shift;
        }
      }
    }
  }
  // Halves that are small multiples of 1/8: sums and products are exact.
  static U Half(double v) {
    if (v == 0) return std::signbit(v) ? 0x8000 : 0;
    int e;
    const double m = std::frexp(std::fabs(v), &e);
    return (std::signbit(v) ? 0x8000u : 0u) | static_cast<U>(e + 14) << 10 |
           (static_cast<U>(std::ldexp(m, 11)) & 0x3ff);
  }
  double Small() { return (static_cast<int>(random_() % 33) - 16) / 8.0; }
};

U PickHalf(U word, bool high) { return high ? word >> 16 : word & 0xffff; }

struct Op {
  const char* name;
  U code;
  std::function<U(U, U, U)> f;
};

const Op kInts[] = {
    {"v_pk_mad_i16", 0x00, [](U a, U b, U c) { return a * b + c; }},
    {"v_pk_mul_lo_u16", 0x01, [](U a, U b, U) { return a * b; }},
    {"v_pk_add_i16", 0x02, [](U a, U b, U) { return a + b; }},
    {"v_pk_sub_i16", 0x03, [](U a, U b, U) { return a - b; }},
    {"v_pk_lshlrev_b16", 0x04, [](U a, U b, U) { return b << a % 16; }},
    {"v_pk_lshrrev_b16", 0x05, [](U a, U b, U) { return b >> a % 16; }},
    {"v_pk_ashrrev_i16", 0x06,
     [](U a, U b, U) { return static_cast<U>(Short(b) >> a % 16); }},
    {"v_pk_max_i16", 0x07,
     [](U a, U b, U) { return static_cast<U>(std::max(Short(a), Short(b))); }},
    {"v_pk_min_i16", 0x08,
     [](U a, U b, U) { return static_cast<U>(std::min(Short(a), Short(b))); }},
    {"v_pk_mad_u16", 0x09, [](U a, U b, U c) { return a * b + c; }},
    {"v_pk_add_u16", 0x0a, [](U a, U b, U) { return a + b; }},
    {"v_pk_sub_u16", 0x0b, [](U a, U b, U) { return a - b; }},
    {"v_pk_max_u16", 0x0c, [](U a, U b, U) { return std::max(a, b); }},
    {"v_pk_min_u16", 0x0d, [](U a, U b, U) { return std::min(a, b); }},
};

TEST_F(Packed, IntegersWithEveryChoiceOfHalves) {
  for (const Op& op : kInts) {
    for (U choice = 0; choice < 64; ++choice) {
      const U low = choice & 7, high = choice >> 3;
      Fill();
      U want[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        const U s[3] = {w().v[kA][l], w().v[kB][l], w().v[kC][l]};
        const auto at = [&](U sel) {
          return op.f(PickHalf(s[0], sel & 1), PickHalf(s[1], sel & 2),
                      PickHalf(s[2], sel & 4)) &
                 0xffff;
        };
        want[l] = at(low) | at(high) << 16;
      }
      ASSERT_TRUE(Run(Vop3p(op.code, kD, V(kA), V(kB), V(kC), low, high)));
      for (int l = 0; l < kLanes; ++l)
        ASSERT_EQ(w().v[kD][l], want[l]) << op.name << ' ' << Text();
    }
  }
}

TEST_F(Packed, IntegersSaturate) {
  const auto check = [&](U op, const std::function<I(U, U, U)>& f, I low,
                         I high) {
    Fill();
    U want[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      want[l] = 0;
      for (const bool h : {false, true}) {
        const I v = f(PickHalf(w().v[kA][l], h), PickHalf(w().v[kB][l], h),
                      PickHalf(w().v[kC][l], h));
        want[l] |= (static_cast<U>(std::clamp(v, low, high)) & 0xffff)
                   << (h ? 16 : 0);
      }
    }
    ASSERT_TRUE(Run(Vop3p(op, kD, V(kA), V(kB), V(kC), 0, 7, 0, 0, true)));
    for (int l = 0; l < kLanes; ++l)
      ASSERT_EQ(w().v[kD][l], want[l]) << Text() << " lane " << l;
  };
  const auto wide = [](U a) { return static_cast<I>(a); };
  check(0x02, [](U a, U b, U) { return Short(a) + Short(b); }, -32768, 32767);
  check(0x03, [](U a, U b, U) { return Short(a) - Short(b); }, -32768, 32767);
  check(0x0a, [&](U a, U b, U) { return wide(a) + wide(b); }, 0, 65535);
  check(0x0b, [&](U a, U b, U) { return wide(a) - wide(b); }, 0, 65535);
}

TEST_F(Packed, HalvesWithSigns) {
  using F = std::function<double(double, double, double)>;
  const std::pair<U, F> ops[] = {
      {0x0e, [](double a, double b, double c) { return a * b + c; }},
      {0x0f, [](double a, double b, double) { return a + b; }},
      {0x10, [](double a, double b, double) { return a * b; }},
      {0x11, [](double a, double b, double) { return std::min(a, b); }},
      {0x12, [](double a, double b, double) { return std::max(a, b); }}};
  for (const auto& [code, f] : ops) {
    for (int n = 0; n < 200; ++n) {
      const U low = random_() % 8, high = random_() % 8;
      const U neg_low = random_() % 8, neg_high = random_() % 8;
      double s[3][2];
      Poison();
      const U regs[] = {kA, kB, kC};
      for (int k = 0; k < 3; ++k) {
        // Never zero, so that signs of zeros do not matter.
        for (double& v : s[k]) v = Small() + 0.0625;
        for (auto& word : w().v[regs[k]])
          word = Half(s[k][0]) | Half(s[k][1]) << 16;
      }
      const auto at = [&](U sel, U neg) {
        double v[3];
        for (int k = 0; k < 3; ++k)
          v[k] = s[k][sel >> k & 1] * ((neg >> k & 1) != 0 ? -1 : 1);
        return f(v[0], v[1], v[2]);
      };
      const double want[] = {at(low, neg_low), at(high, neg_high)};
      ASSERT_TRUE(Run(
          Vop3p(code, kD, V(kA), V(kB), V(kC), low, high, neg_low, neg_high)));
      for (int half = 0; half < 2; ++half) {
        if (want[half] == 0) continue;
        ASSERT_EQ(PickHalf(w().v[kD][17], half != 0), Half(want[half]))
            << Text();
      }
    }
  }
}

// op_sel_hi says which sources are halves, op_sel which half.
TEST_F(Packed, MixedFma) {
  for (int n = 0; n < 400; ++n) {
    const U sel = random_() % 8, is_half = random_() % 8;
    const U neg = random_() % 8, abs = random_() % 8;
    double v[3];
    Poison();
    const U regs[] = {kA, kB, kC};
    for (int k = 0; k < 3; ++k) {
      v[k] = Small() + 0.0625;
      for (auto& word : w().v[regs[k]]) {
        word = (is_half >> k & 1) == 0 ? BitsFrom(static_cast<float>(v[k]))
               : (sel >> k & 1) != 0   ? Half(v[k]) << 16 | 0x1234
                                       : Half(v[k]) | 0x43210000;
      }
      if ((abs >> k & 1) != 0) v[k] = std::fabs(v[k]);
      if ((neg >> k & 1) != 0) v[k] = -v[k];
    }
    const double want = v[0] * v[1] + v[2];
    if (want == 0) continue;
    for (const U op : {0x20u, 0x21u, 0x22u}) {
      const U old = w().v[kD][9];
      ASSERT_TRUE(
          Run(Vop3p(op, kD, V(kA), V(kB), V(kC), sel, is_half, neg, abs)));
      const U got = w().v[kD][9];
      if (op == 0x20) {
        ASSERT_EQ(got, BitsFrom(static_cast<float>(want))) << Text();
        continue;
      }
      const bool high = op == 0x22;
      ASSERT_EQ(PickHalf(got, high), Half(want)) << Text();
      ASSERT_EQ(PickHalf(got, !high), PickHalf(old, !high)) << Text();
    }
  }
}

// Sums of products of fields, signed or not, plus src2.
TEST_F(Packed, IntegerDotProducts) {
  struct Dot {
    U code;
    int bits;
    bool is_signed;
  };
  for (const Dot d :
       {Dot{0x26, 16, true}, Dot{0x27, 16, false}, Dot{0x28, 8, true},
        Dot{0x29, 8, false}, Dot{0x2a, 4, true}, Dot{0x2b, 4, false}}) {
    for (const bool clamp : {false, true}) {
      Fill();
      U want[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        const U c = w().v[kC][l];
        int64_t sum = d.is_signed ? int64_t{static_cast<I>(c)} : int64_t{c};
        for (int at = 0; at < 32; at += d.bits) {
          const auto field = [&](U word) {
            const U raw = word << (32 - d.bits - at);
            return d.is_signed ? int64_t{static_cast<I>(raw) >> (32 - d.bits)}
                               : int64_t{raw >> (32 - d.bits)};
          };
          sum += field(w().v[kA][l]) * field(w().v[kB][l]);
        }
        const int64_t low = d.is_signed ? INT32_MIN : 0;
        const int64_t high = d.is_signed ? INT32_MAX : int64_t{UINT32_MAX};
        want[l] = static_cast<U>(clamp ? std::clamp(sum, low, high) : sum);
      }
      ASSERT_TRUE(
          Run(Vop3p(d.code, kD, V(kA), V(kB), V(kC), 0, 7, 0, 0, clamp)));
      for (int l = 0; l < kLanes; ++l)
        ASSERT_EQ(w().v[kD][l], want[l]) << Text() << " lane " << l;
    }
  }
}

// Pairs of f32: op_sel and op_sel_hi choose words of a register pair.
TEST_F(Packed, PairsOfF32) {
  for (U choice = 0; choice < 64; ++choice) {
    const U low = choice & 7, high = choice >> 3;
    for (const U op : {0x30u, 0x31u, 0x32u, 0x33u}) {
      double s[3][2];
      Poison();
      const U regs[] = {kA, kB, kC};
      for (int k = 0; k < 3; ++k) {
        for (int half = 0; half < 2; ++half) {
          s[k][half] = Small() + 0.0625;
          for (auto& word : w().v[regs[k] + static_cast<U>(half)])
            word = BitsFrom(static_cast<float>(s[k][half]));
        }
      }
      // v_pk_mov_b32 takes the low word of src0 and the high word of src1.
      const auto at = [&](U sel, int half) {
        const double a = s[0][sel & 1], b = s[1][sel >> 1 & 1];
        if (op == 0x30) return a * b + s[2][sel >> 2 & 1];
        if (op == 0x31) return a * b;
        if (op == 0x32) return a + b;
        return half == 0 ? s[0][low & 1] : s[1][low >> 1 & 1];
      };
      ASSERT_TRUE(
          Run(Vop3p(op, kD, V(kA), V(kB), op == 0x30 ? V(kC) : 0, low, high)));
      for (int half = 0; half < 2; ++half) {
        const float got = FloatFrom(w().v[kD + static_cast<U>(half)][40]);
        ASSERT_EQ(got, static_cast<float>(at(half == 0 ? low : high, half)))
            << Text() << ' ' << half;
      }
    }
  }
}

}  // namespace
}  // namespace ingot::emulator
