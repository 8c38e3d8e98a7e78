// f64 instructions of the vector ALU: every pair of special and ordinary values
// under each rounding mode, comparisons, conversions and the division sequence.
#include <cmath>
#include <functional>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;
using UL = uint64_t;

double DoubleFrom(UL bits) {
  double d;
  std::memcpy(&d, &bits, 8);
  return d;
}
UL BitsFrom(double d) {
  UL bits;
  std::memcpy(&bits, &d, 8);
  return bits;
}

constexpr UL kSign = UL{1} << 63, kInf = UL{0x7ff} << 52;
constexpr UL kQuietBit = UL{1} << 51;
constexpr UL kSignaling = kInf | 0x1234, kQuiet = kSignaling | kQuietBit;
constexpr UL kDenormal = 0x0000123456789abc;

std::vector<UL> Specials() {
  std::vector<UL> all = {0,           1,        kDenormal, (UL{1} << 52) - 1,
                         UL{1} << 52, kInf - 1, kInf,      kQuiet,
                         kSignaling};
  for (const double d : {0.5, 1.0, 1.5, 2.5, 3.0, 0.75, 1e-300, 1e300,
                         2147483647.5, 2147483648.0, 4294967295.5, 1e17 / 3}) {
    all.push_back(BitsFrom(d));
  }
  all.push_back(BitsFrom(1.0) + 1);
  const size_t positive = all.size();
  for (size_t n = 0; n < positive; ++n) all.push_back(all[n] | kSign);
  return all;
}

constexpr int kRounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                             FE_TOWARDZERO};

class ValuDouble : public SingleInstruction {
 protected:
  static constexpr U kA = 140, kB = 142, kC = 144, kD = 146;

  void Put(U reg, int lane, UL bits) {
    w().v[reg][lane] = static_cast<U>(bits);
    w().v[reg + 1][lane] = static_cast<U>(bits >> 32);
  }
  UL Get(U reg, int lane) {
    return w().v[reg][lane] | UL{w().v[reg + 1][lane]} << 32;
  }
  UL Result(const Words& words, UL a, UL b = 0, UL c = 0) {
    constexpr int kLane = 33;
    SetExec(UL{1} << kLane);
    Put(kA, kLane, a);
    Put(kB, kLane, b);
    Put(kC, kLane, c);
    Put(kD, kLane, UL{random_()} << 32 | random_());
    EXPECT_TRUE(Run(words)) << Text();
    return Get(kD, kLane);
  }
  UL Three(U op, UL a, UL b, UL c, const Modifiers& m = {}) {
    return Result(Vop3(op, kD, V(kA), V(kB), V(kC), m), a, b, c);
  }
  UL Two(U op, UL a, UL b, const Modifiers& m = {}) {
    return Result(Vop3(op, kD, V(kA), V(kB), 0, m), a, b);
  }
  UL One(U op, UL a) {
    const UL wide = Result(Vop3(op + 0x140, kD, V(kA)), a);
    EXPECT_EQ(Result(Vop1(op, kD, V(kA)), a), wide) << Text();
    return wide;
  }
  U Narrow(U op, UL a) {  // a result of one dword
    const U wide = static_cast<U>(Result(Vop3(op + 0x140, kD, V(kA)), a));
    EXPECT_EQ(static_cast<U>(Result(Vop1(op, kD, V(kA)), a)), wide) << Text();
    return wide;
  }
  void ExpectSame(UL got, double want) {
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(DoubleFrom(got))) << Text();
      EXPECT_NE(got & kQuietBit, 0u) << Text();
    } else {
      EXPECT_EQ(got, BitsFrom(want)) << Text() << std::hexfloat << want;
    }
  }
};

constexpr U kAdd = 0x280, kMul = 0x281, kMin = 0x282, kMax = 0x283,
            kLdexp = 0x284, kFma = 0x1cc;

TEST_F(ValuDouble, ArithmeticInEveryRoundingMode) {
  const std::vector<UL> values = Specials();
  for (U mode = 0; mode < 4; ++mode) {
    // The field of f16 and f64; that of f32 says something else.
    w().SetMode(kDefaultMode | mode << 2 | (mode ^ 3));
    for (const UL a : values) {
      for (const UL b : values) {
        const UL c = values[random_() % values.size()];
        volatile double x = DoubleFrom(a), y = DoubleFrom(b), z = DoubleFrom(c);
        std::fesetround(kRounding[mode]);
        volatile double sum = x + y, product = x * y, fused = std::fma(x, y, z);
        std::fesetround(FE_TONEAREST);
        ExpectSame(Two(kAdd, a, b), sum);
        ExpectSame(Two(kMul, a, b), product);
        ExpectSame(Three(kFma, a, b, c), fused);
      }
    }
  }
}

TEST_F(ValuDouble, FmacAccumulates) {
  Poison();
  for (int l = 0; l < kLanes; ++l) {
    Put(kA, l, BitsFrom(1.5));
    Put(kB, l, BitsFrom(1.0 * l));
    Put(kD, l, BitsFrom(-2.0));
  }
  SetExec(0xffff0000ffff0000);
  ASSERT_TRUE(Run(Vop2(0x04, kD, V(kA), kB))) << Text();
  for (int l = 0; l < kLanes; ++l) {
    EXPECT_EQ(DoubleFrom(Get(kD, l)), l / 16 % 2 == 1 ? 1.5 * l - 2 : -2.0);
  }
}

TEST_F(ValuDouble, MinAndMax) {
  for (const UL a : Specials()) {
    for (const UL b : Specials()) {
      const double x = DoubleFrom(a), y = DoubleFrom(b);
      const auto want = [&](bool greater) {
        for (const UL v : {a, b}) {
          if (std::isnan(DoubleFrom(v)) && (v & kQuietBit) == 0)
            return v | kQuietBit;
        }
        if (std::isnan(x)) return b;
        if (std::isnan(y)) return a;
        // The order of sign and magnitude puts -0 below 0.
        const bool less = x != y ? x<y : (a & kSign)>(b & kSign);
        return less != greater ? a : b;
      };
      EXPECT_EQ(Two(kMin, a, b), want(false)) << Text();
      EXPECT_EQ(Two(kMax, a, b), want(true)) << Text();
    }
  }
}

TEST_F(ValuDouble, Modifiers) {
  const auto add = [&](double a, double b, const Modifiers& m) {
    return DoubleFrom(Two(kAdd, BitsFrom(a), BitsFrom(b), m));
  };
  EXPECT_EQ(add(-3, 5, {.abs = 1, .neg = 1}), 2);
  EXPECT_EQ(add(-3, 5, {.neg = 2}), -8);
  EXPECT_EQ(add(1, 2, {.omod = 1}), 6);
  EXPECT_EQ(add(1, 2, {.omod = 2}), 12);
  EXPECT_EQ(add(1, 2, {.omod = 3}), 1.5);
  EXPECT_EQ(add(1, 2, {.clamp = true}), 1);
  EXPECT_EQ(add(1, -2, {.clamp = true}), 0);
  EXPECT_EQ(add(0.5, 0.25, {.clamp = true}), 0.75);
  EXPECT_EQ(add(NAN, 1, {.clamp = true}), 0);
}

// MODE[7:6]: bit 0 keeps denormal sources, bit 1 denormal results.
TEST_F(ValuDouble, Denormals) {
  const UL smallest_normal = UL{1} << 52;
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode((kDefaultMode & ~0xf0u) | mode << 6 | (mode ^ 3) << 4);
    const bool in = (mode & 1) != 0, out = (mode & 2) != 0;
    EXPECT_EQ(
        Two(kMul, kDenormal | kSign, BitsFrom(std::ldexp(1.0, 200))),
        in ? BitsFrom(std::ldexp(DoubleFrom(kDenormal | kSign), 200)) : kSign);
    EXPECT_EQ(Two(kMul, smallest_normal, BitsFrom(0.5)),
              out ? smallest_normal / 2 : 0);
    EXPECT_EQ(One(0x38, kDenormal), kDenormal);  // v_mov_b64
  }
}

TEST_F(ValuDouble, ConstantsAndLiterals) {
  EXPECT_EQ(Result(Vop3(kAdd, kD, 240, 242), 0), BitsFrom(1.5));
  EXPECT_EQ(Result(Vop3(kAdd, kD, 128, 248), 0), 0x3fc45f306dc9c882u);
  // Integers are the bits of a double, sign-extended.
  EXPECT_EQ(Result(Vop3(kAdd, kD, 131, 128), 0), 3u);
  EXPECT_TRUE(std::isnan(DoubleFrom(Result(Vop3(kAdd, kD, 193, 128), 0))));
  // A literal is the high half.
  EXPECT_EQ(Result({Vop1(0x17, kD, 255)[0], 0x40040000}, 0), BitsFrom(2.0));
  w().SetS64(40, BitsFrom(-7.25));
  EXPECT_EQ(Result(Vop3(kAdd, kD, S(40), 240), 0), BitsFrom(-6.75));
}

// The low three bits of a comparison's opcode say for which of less, equal and
// greater it holds, the fourth whether for unordered.
TEST_F(ValuDouble, Comparisons) {
  const std::vector<UL> values = Specials();
  for (U n = 0; n < 32; ++n) {
    const bool writes_exec = n >= 16;
    for (const UL exec : {~UL{0}, UL{0xf0f0ff00f00f1234}}) {
      for (int round = 0; round < 20; ++round) {
        Poison();
        UL want = 0;
        for (int l = 0; l < kLanes; ++l) {
          const UL a = values[random_() % values.size()];
          const UL b =
              random_() % 4 == 0 ? a : values[random_() % values.size()];
          Put(kA, l, a);
          Put(kB, l, b);
          const double x = DoubleFrom(a), y = DoubleFrom(b);
          const bool unordered = std::isnan(x) || std::isnan(y);
          const U relation = x < y ? 0 : x == y ? 1 : 2;
          const bool holds =
              unordered ? (n & 8) != 0 : (n >> relation & 1) != 0;
          want |= UL{holds} << l;
        }
        want &= exec;
        SetExec(exec);
        ASSERT_TRUE(Run(Vopc(0x60 + n, V(kA), kB))) << n;
        EXPECT_EQ(w().S64(kVcc), want) << Text();
        EXPECT_EQ(w().exec(), writes_exec ? want : exec) << Text();
        SetExec(exec);
        ASSERT_TRUE(Run(Vop3(0x60 + n, 50, V(kA), V(kB)))) << n;
        EXPECT_EQ(w().S64(50), want) << Text();
        EXPECT_EQ(w().exec(), writes_exec ? want : exec) << Text();
      }
    }
  }
}

TEST_F(ValuDouble, Classes) {
  const UL kinds[] = {
      kSignaling, kQuiet, kInf | kSign, BitsFrom(-1.0), kSign | 1,
      kSign,      0,      kDenormal,    BitsFrom(3.0),  kInf};
  for (U n = 0; n < 10; ++n) {
    for (U bit = 0; bit < 10; ++bit) {
      for (int l = 0; l < kLanes; ++l) {
        Put(kA, l, kinds[n]);
        w().v[kB][l] = 1u << bit;
      }
      ASSERT_TRUE(Run(Vopc(0x12, V(kA), kB)));
      EXPECT_EQ(w().S64(kVcc), n == bit ? ~UL{0} : 0) << n << ' ' << bit;
    }
  }
}

TEST_F(ValuDouble, ToIntegers) {
  for (const UL a : Specials()) {
    const double x = DoubleFrom(a), t = std::trunc(x);
    const int64_t low = INT32_MIN, high = INT32_MAX;
    const double near =
        std::isnan(x) ? 0 : std::fmax(-1e10, std::fmin(t, 1e10));
    const int64_t whole = static_cast<int64_t>(near);
    EXPECT_EQ(Narrow(0x03, a), static_cast<U>(whole < low    ? low
                                              : whole > high ? high
                                                             : whole))
        << x;
    EXPECT_EQ(Narrow(0x15, a),
              static_cast<U>(whole < 0            ? 0
                             : whole > UINT32_MAX ? int64_t{UINT32_MAX}
                                                  : whole))
        << x;
  }
}

TEST_F(ValuDouble, FromNarrowerTypes) {
  for (const U v : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 12345u}) {
    EXPECT_EQ(One(0x04, v), BitsFrom(1.0 * static_cast<int32_t>(v)));
    EXPECT_EQ(One(0x16, v), BitsFrom(1.0 * v));
  }
  for (const U v : {0u, 0x80000000u, 0x3f800000u, 0x00012345u, 0xff7fffffu,
                    0x7f800000u, 0xff800000u, 0x7fc01234u, 0x7f801234u}) {
    ExpectSame(One(0x10, v), static_cast<double>(FloatFrom(v)));
  }
}

// The rounding field of f32 counts, that of f64 does not.
TEST_F(ValuDouble, ToFloat) {
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode(kDefaultMode | mode | (mode ^ 3) << 2);
    std::vector<UL> values = Specials();
    for (const double d :
         {1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50, 1 + 0x3p-24, 0x1.fffffefp127,
          0x1p-140, 0x1.000001p-130, 0x1p-150, 0x1.8p-150, 1e-60}) {
      values.push_back(BitsFrom(d));
      values.push_back(BitsFrom(-d));
    }
    for (const UL a : values) {
      volatile double x = DoubleFrom(a);
      std::fesetround(kRounding[mode]);
      volatile float want = static_cast<float>(x);
      std::fesetround(FE_TONEAREST);
      const U got = Narrow(0x0f, a);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(FloatFrom(got)));
      } else {
        EXPECT_EQ(FloatFrom(got), want) << mode << std::hexfloat << ' ' << x;
      }
    }
  }
}

// Whatever MODE says about rounding.
TEST_F(ValuDouble, ToWholeNumbers) {
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode(kDefaultMode | mode << 2 | mode);
    for (const UL a : Specials()) {
      const double x = DoubleFrom(a);
      ExpectSame(One(0x17, a), std::trunc(x));
      ExpectSame(One(0x18, a), std::ceil(x));
      ExpectSame(One(0x1a, a), std::floor(x));
      const double down = std::floor(x), rest = x - down;
      double nearest = rest < 0.5                ? down
                       : rest > 0.5              ? std::ceil(x)
                       : std::fmod(down, 2) == 0 ? down
                                                 : std::ceil(x);
      if (!std::isfinite(x)) nearest = x;
      ExpectSame(One(0x19, a), std::copysign(nearest, x));
    }
  }
}

TEST_F(ValuDouble, FractionsAndExponents) {
  for (const UL a : Specials()) {
    const double x = DoubleFrom(a);
    double fraction = x - std::floor(x);
    if (fraction >= 1) fraction = std::nextafter(1.0, 0.0);
    ExpectSame(One(0x32, a), fraction);
    if (std::isfinite(x) && x != 0) {
      // By definition: 0.5 <= |mantissa| < 1, and exact.
      const double m = DoubleFrom(One(0x31, a));
      const int e = static_cast<int>(Narrow(0x30, a));
      EXPECT_GE(std::fabs(m), 0.5);
      EXPECT_LT(std::fabs(m), 1);
      EXPECT_EQ(std::ldexp(m, e), x);
    } else {
      EXPECT_EQ(Narrow(0x30, a), 0u);
      ExpectSame(One(0x31, a), x);
    }
    for (const int n :
         {0, 1, -1, 52, -53, 1023, -1074, 2100, -2200, 100000, -100000}) {
      ExpectSame(Two(kLdexp, a, static_cast<U>(n)), std::ldexp(x, n));
    }
  }
}

// Within two units of the last place where the hardware is inexact.
TEST_F(ValuDouble, RootsAndReciprocals) {
  const auto check = [&](U op, UL a, long double want) {
    const double got = DoubleFrom(One(op, a));
    const double near = static_cast<double>(want);
    if (!std::isfinite(near) || near == 0) {
      ExpectSame(BitsFrom(got), near);
    } else {
      EXPECT_LE(std::fabs(got - near), std::fabs(near) * 0x1p-51) << Text();
    }
  };
  for (const UL a : Specials()) {
    const long double x = static_cast<long double>(DoubleFrom(a));
    check(0x25, a, 1 / x);
    check(0x28, a, std::sqrt(x));
    if (x > 0 || std::isnan(x)) check(0x26, a, 1 / std::sqrt(x));
  }
  EXPECT_EQ(One(0x26, 0), kInf);
  EXPECT_TRUE(std::isnan(DoubleFrom(One(0x26, BitsFrom(-1.0)))));
}

// A quotient as compilers make it.
TEST_F(ValuDouble, DivisionSequenceIsExact) {
  const auto scale = [&](U which, UL num, UL den) {
    return Result(
        {0xd1e10000 | 106 << 8 | kD, V(which) | V(kB) << 9 | V(kA) << 18}, num,
        den);
  };
  const auto fma = [](UL a, UL b, UL c) {
    return BitsFrom(std::fma(DoubleFrom(a), DoubleFrom(b), DoubleFrom(c)));
  };
  const auto divide = [&](UL num, UL den) {
    const UL one = BitsFrom(1.0);
    const UL d = scale(kB, num, den), n = scale(kA, num, den);
    const UL vcc = w().S64(kVcc), minus_d = d ^ kSign;
    UL r = One(0x25, d);
    for (int step = 0; step < 2; ++step) r = fma(r, fma(minus_d, r, one), r);
    const UL q = fma(n, r, kSign);
    const UL rest = fma(minus_d, q, n);
    w().SetS64(kVcc, vcc);
    return Three(0x1df, Three(0x1e3, rest, r, q), den, num);
  };
  const auto check = [&](UL num, UL den) {
    ExpectSame(divide(num, den), DoubleFrom(num) / DoubleFrom(den));
  };
  for (const UL a : Specials()) {
    for (const UL b : Specials()) check(a, b);
  }
  for (int n = 0; n < 2000; ++n) {
    const UL num = UL{random_()} << 32 | random_(),
             den = UL{random_()} << 32 | random_();
    check(num, den);
  }
}

// Digits of 2/pi from 53 n on, scaled to where they stand.
TEST_F(ValuDouble, TrigPreop) {
  // 2/pi = 0.A2F9836E 4E441529 FC2757D1 F534DDC0 ... in hexadecimal.
  static constexpr U kDigits[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                  0xf534ddc0, 0xdb629599, 0x3c439041};
  const auto bit = [&](int n) { return kDigits[n / 32] >> (31 - n % 32) & 1; };
  for (U segment = 0; segment < 3; ++segment) {
    UL value = 0;
    const int from = 53 * static_cast<int>(segment);
    for (int n = 0; n < 53; ++n) value = value << 1 | bit(from + n);
    // Arguments below 2^77 use the first digits.
    EXPECT_EQ(Two(0x292, BitsFrom(1.0), segment),
              BitsFrom(std::ldexp(static_cast<double>(value), -53 - from)))
        << segment;
  }
}

}  // namespace
}  // namespace ingot::emulator
