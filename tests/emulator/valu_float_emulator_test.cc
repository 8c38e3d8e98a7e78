// Float instructions of the vector ALU: NaN and zero rules, modifiers, and the
// MODE fields for denormals, rounding, clamping and overflow. Registers hold
// bits, so that signs of zeros and payloads of NaNs are compared too.
#include <cmath>
#include <limits>

#include "tests/emulator/single_instruction.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;

constexpr U kQuiet = 0x7fc01234, kSignaling = 0x7f801234;
constexpr U kInf = 0x7f800000, kMinusInf = 0xff800000;
constexpr U kDenormal = 0x00012345, kOne = 0x3f800000;

class ValuFloat : public SingleInstruction {
 protected:
  static constexpr U kA = 140, kB = 141, kC = 142, kD = 143;

  void RunWith(const Words& words, U a, U b, U c = 0) {
    Poison();
    for (int l = 0; l < kLanes; ++l) {
      w().v[kA][l] = a;
      w().v[kB][l] = b;
      w().v[kC][l] = c;
    }
    EXPECT_TRUE(Run(words)) << Text();
  }
  // One result of one instruction, the same in every lane.
  U Result(const Words& words, U a, U b = 0, U c = 0) {
    RunWith(words, a, b, c);
    for (int l = 1; l < kLanes; ++l) EXPECT_EQ(w().v[kD][l], w().v[kD][0]);
    return w().v[kD][0];
  }
  U Two(U op, U a, U b, const Modifiers& m = {}) {
    const U plain = Result(Vop3(op + 0x100, kD, V(kA), V(kB), 0, m), a, b);
    if (m.abs + m.neg + m.omod + U{m.clamp} == 0) {
      EXPECT_EQ(Result(Vop2(op, kD, V(kA), kB), a, b), plain) << Text();
    }
    return plain;
  }
  U One(U op, U a, const Modifiers& m = {}) {
    return Result(Vop3(op + 0x140, kD, V(kA), 0, 0, m), a);
  }
  U Three(U op, U a, U b, U c, const Modifiers& m = {}) {
    return Result(Vop3(op, kD, V(kA), V(kB), V(kC), m), a, b, c);
  }
  static U Bits(double v) { return BitsFrom(static_cast<float>(v)); }
};

constexpr U kAdd = 0x01, kMul = 0x05, kMin = 0x0a, kMax = 0x0b;
constexpr U kAddHalf = 0x1f, kMulHalf = 0x22;

TEST_F(ValuFloat, MinAndMaxPreferNumbersAndOrderZeros) {
  EXPECT_EQ(Two(kMin, kQuiet, kOne), kOne);
  EXPECT_EQ(Two(kMin, kOne, kQuiet), kOne);
  EXPECT_EQ(Two(kMax, kQuiet, kOne), kOne);
  EXPECT_EQ(Two(kMax, kOne, kQuiet), kOne);
  EXPECT_EQ(Two(kMin, 0, 0x80000000), 0x80000000u);
  EXPECT_EQ(Two(kMin, 0x80000000, 0), 0x80000000u);
  EXPECT_EQ(Two(kMax, 0, 0x80000000), 0u);
  EXPECT_EQ(Two(kMax, 0x80000000, 0), 0u);
  EXPECT_EQ(Two(kMin, kInf, kMinusInf), kMinusInf);
  EXPECT_EQ(Two(kMax, kInf, kMinusInf), kInf);
  EXPECT_TRUE(std::isnan(FloatFrom(Two(kMax, kQuiet, kQuiet))));
  // A signaling NaN is quieted, not dropped.
  EXPECT_EQ(Two(kMax, kSignaling, kOne), kSignaling | 0x400000);
}

// MODE.IEEE off: a signalling NaN loses as a quiet one does.
TEST_F(ValuFloat, WithoutIeeeEveryNanLoses) {
  constexpr U kHalfSignaling = 0x7c01, kHalfOne = 0x3c00;
  w().SetMode(kDefaultMode & ~0x200u);
  for (const U op : {kMin, kMax}) {
    for (const U nan : {kQuiet, kSignaling}) {
      EXPECT_EQ(Two(op, nan, kOne), kOne);
      EXPECT_EQ(Two(op, kOne, nan), kOne);
      EXPECT_TRUE(std::isnan(FloatFrom(Two(op, nan, kSignaling))));
    }
  }
  EXPECT_EQ(Two(kMin, 0, 0x80000000), 0x80000000u);
  for (const U op : {0x2du, 0x2eu})
    EXPECT_EQ(Two(op, kHalfSignaling, kHalfOne) & 0xffff, kHalfOne);
  for (const U op : {0x1d0u, 0x1d3u, 0x1d6u}) {
    EXPECT_EQ(Three(op, kSignaling, kOne, kOne), kOne);
    EXPECT_EQ(Three(op, kOne, kOne, kSignaling), kOne);
  }
  for (const U op : {0x11u, 0x12u}) {
    EXPECT_EQ(Result(Vop3p(op, kD, V(kA), V(kB)), 0x7c013c00, 0x3c007c01),
              0x3c003c00u);
  }
  w().SetMode(kDefaultMode);
  for (const U op : {0x1d0u, 0x1d3u, 0x1d6u}) {
    EXPECT_EQ(Three(op, kSignaling, kOne, kOne), kOne) << Text();
    EXPECT_EQ(Three(op, kOne, kOne, kSignaling), kSignaling | 0x400000);
  }
  EXPECT_EQ(Result(Vop3p(0x11, kD, V(kA), V(kB)), 0x7c013c00, 0x3c007c01),
            0x7e017e01u);
}

TEST_F(ValuFloat, MinimumAndMaximumOfThreeKeepNans) {
  for (const U op : {0x2a8u, 0x2a9u}) {
    for (int n = 0; n < 3; ++n) {
      U s[3] = {kOne, Bits(2), Bits(-3)};
      s[n] = kQuiet;
      EXPECT_TRUE(std::isnan(FloatFrom(Three(op, s[0], s[1], s[2]))));
    }
  }
  EXPECT_EQ(Three(0x2a8, kOne, Bits(2), Bits(-3)), Bits(-3));
  EXPECT_EQ(Three(0x2a9, kOne, Bits(2), Bits(-3)), Bits(2));
}

TEST_F(ValuFloat, MedianOfThree) {
  constexpr U kMed = 0x1d6;
  EXPECT_EQ(Three(kMed, kOne, Bits(2), Bits(3)), Bits(2));
  EXPECT_EQ(Three(kMed, Bits(3), kOne, Bits(2)), Bits(2));
  EXPECT_EQ(Three(kMed, Bits(2), Bits(3), kOne), Bits(2));
  EXPECT_EQ(Three(kMed, kMinusInf, Bits(7), kInf), Bits(7));
  // With a NaN: the least of the three.
  EXPECT_EQ(Three(kMed, kQuiet, Bits(2), kOne), kOne);
  EXPECT_EQ(Three(kMed, Bits(2), kOne, kQuiet), kOne);
}

TEST_F(ValuFloat, SourceAndResultModifiers) {
  EXPECT_EQ(Two(kAdd, Bits(-3), Bits(5), {.abs = 1, .neg = 1}), Bits(2));
  EXPECT_EQ(Two(kAdd, Bits(-3), Bits(5), {.neg = 2}), Bits(-8));
  EXPECT_EQ(Two(kAdd, kOne, kOne, {.omod = 1}), Bits(4));
  EXPECT_EQ(Two(kAdd, kOne, kOne, {.omod = 2}), Bits(8));
  EXPECT_EQ(Two(kAdd, kOne, kOne, {.omod = 3}), Bits(1));
  EXPECT_EQ(Two(kAdd, kOne, kOne, {.clamp = true}), Bits(1));
  EXPECT_EQ(Two(kAdd, Bits(-1), Bits(0.25), {.clamp = true}), 0u);
  EXPECT_EQ(Two(kAdd, Bits(0.5), Bits(0.25), {.clamp = true}), Bits(0.75));
  EXPECT_EQ(Two(kAdd, Bits(0.25), Bits(0.125), {.omod = 1, .clamp = true}),
            Bits(0.75));
}

TEST_F(ValuFloat, ClampOfNanFollowsDx10Clamp) {
  EXPECT_EQ(Two(kAdd, kQuiet, kOne, {.clamp = true}), 0u);
  w().SetMode(kDefaultMode & ~0x100u);
  EXPECT_TRUE(std::isnan(FloatFrom(Two(kAdd, kQuiet, kOne, {.clamp = true}))));
  EXPECT_EQ(Two(kAdd, kOne, kOne, {.clamp = true}), kOne);
}

// MODE[5:4]: 0 flushes both ways, 1 keeps sources alone, 2 results alone.
TEST_F(ValuFloat, DenormalsOfF32FollowTheMode) {
  const U small = 0x00800000;  // 2^-126
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode((kDefaultMode & ~0x30u) | mode << 4);
    const bool in = (mode & 1) != 0, out = (mode & 2) != 0;
    // A denormal source times 2^100 is normal again.
    EXPECT_EQ(Two(kMul, kDenormal, Bits(std::ldexp(1.0, 100))),
              in ? Bits(static_cast<double>(FloatFrom(kDenormal)) *
                        std::ldexp(1.0, 100))
                 : 0u)
        << mode;
    // Normal sources, a denormal result.
    EXPECT_EQ(Two(kMul, small, Bits(0.5)), out ? 0x00400000u : 0u) << mode;
    EXPECT_EQ(Two(kMul, small | 0x80000000, Bits(0.5)),
              out ? 0x80400000u : 0x80000000u)
        << mode;
    // The f64 and f16 field does not matter here, and this one not there.
    EXPECT_EQ(Two(kMulHalf, 0x0001, 0x3c00) & 0xffff, 1u) << mode;
  }
}

TEST_F(ValuFloat, DenormalsOfF16FollowTheMode) {
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode((kDefaultMode & ~0xc0u) | mode << 6);
    EXPECT_EQ(Two(kMulHalf, 0x0200, 0x6400) & 0xffff,
              (mode & 1) != 0 ? 0x2800u : 0u)
        << mode;
    EXPECT_EQ(Two(kMulHalf, 0x0400, 0x3800) & 0xffff,
              (mode & 2) != 0 ? 0x0200u : 0u)
        << mode;
    EXPECT_EQ(Two(kMul, kDenormal, kOne), kDenormal) << mode;
  }
}

// What only moves bits or looks at them keeps denormals whatever MODE says.
TEST_F(ValuFloat, MovesAndClassesNeverFlush) {
  w().SetMode(kDefaultMode & ~0xf0u);
  w().SetS64(kVcc, ~uint64_t{0});
  EXPECT_EQ(Result(Vop2(0x00, kD, V(kA), kB), kOne, kDenormal), kDenormal);
  EXPECT_EQ(Result(Vop1(0x01, kD, V(kA)), kDenormal), kDenormal);
  // v_cmp_class_f32 vcc: positive denormal is bit 7.
  RunWith(Vopc(0x10, V(kA), kB), kDenormal, 1u << 7);
  EXPECT_EQ(w().S64(kVcc), ~uint64_t{0});
  RunWith(Vopc(0x10, V(kA), kB), kDenormal, 1u << 6);
  EXPECT_EQ(w().S64(kVcc), 0u);
}

TEST_F(ValuFloat, ClassesOfEveryKind) {
  static constexpr U kKinds[] = {kSignaling, kQuiet,     kMinusInf, 0xbf800000,
                                 0x80000001, 0x80000000, 0,         kDenormal,
                                 kOne,       kInf};
  for (U n = 0; n < 10; ++n) {
    for (U bit = 0; bit < 10; ++bit) {
      RunWith(Vopc(0x10, V(kA), kB), kKinds[n], 1u << bit);
      EXPECT_EQ(w().S64(kVcc), n == bit ? ~uint64_t{0} : 0) << n << ' ' << bit;
    }
  }
}

// 1 + 2^-24 lies half way between two floats; a little more and less as well.
TEST_F(ValuFloat, AdditionRoundsAsTheModeSays) {
  static constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                   FE_TOWARDZERO};
  for (U mode = 0; mode < 4; ++mode) {
    for (const U small : {0x33800000u, 0x33800001u, 0x337fffffu, 0xb3000000u}) {
      for (const U one : {kOne, kOne | 0x80000000, kOne + 1}) {
        w().SetMode((kDefaultMode & ~3u) | mode);
        const U got = Two(kAdd, one, small);
        std::fesetround(kModes[mode]);
        volatile float want = FloatFrom(one);
        want = want + FloatFrom(small);
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(got, BitsFrom(want)) << mode;
      }
    }
  }
}

TEST_F(ValuFloat, HalfRoundsAsTheModeSaysAndOverflows) {
  // 1 + 2^-11 is half way; 65504 + 32 overflows.
  static constexpr U kTie[] = {0x3c00, 0x3c01, 0x3c00, 0x3c00};
  static constexpr U kBig[] = {0x7c00, 0x7c00, 0x7bff, 0x7bff};
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode((kDefaultMode & ~0xcu) | mode << 2);
    EXPECT_EQ(Two(kAddHalf, 0x3c00, 0x1000) & 0xffff, kTie[mode]) << mode;
    EXPECT_EQ(Two(kAddHalf, 0x7bff, 0x5000) & 0xffff, kBig[mode]) << mode;
  }
}

// FP16_OVFL: overflow gives the largest half, a true infinity stays one.
TEST_F(ValuFloat, HalfOverflowMaySaturate) {
  w().SetMode(kDefaultMode | 1u << 23);
  EXPECT_EQ(Two(kAddHalf, 0x7bff, 0x7bff) & 0xffff, 0x7bffu);
  EXPECT_EQ(Two(kAddHalf, 0xfbff, 0xfbff) & 0xffff, 0xfbffu);
  EXPECT_EQ(Two(kAddHalf, 0x7c00, 0x3c00) & 0xffff, 0x7c00u);
}

TEST_F(ValuFloat, Ldexp) {
  constexpr U kLdexp = 0x288;
  const auto ldexp = [&](U a, int n) {
    return Result(Vop3(kLdexp, kD, V(kA), V(kB)), a, static_cast<U>(n));
  };
  EXPECT_EQ(ldexp(kOne, 10), Bits(1024));
  EXPECT_EQ(ldexp(kOne, -127), 0x00400000u);
  EXPECT_EQ(ldexp(kOne, 1000), kInf);
  EXPECT_EQ(ldexp(kDenormal, 30),
            BitsFrom(std::ldexp(FloatFrom(kDenormal), 30)));
  EXPECT_EQ(ldexp(0x80000000, 5), 0x80000000u);
  EXPECT_EQ(ldexp(kMinusInf, -500), kMinusInf);
}

TEST_F(ValuFloat, FrexpSplits) {
  constexpr U kMant = 0x34, kExp = 0x33;
  for (const U v : {kOne, Bits(-6.5), Bits(1e-30), kDenormal, kInf - 1}) {
    int e;
    const float m = std::frexp(FloatFrom(v), &e);
    EXPECT_EQ(One(kMant, v), BitsFrom(m));
    EXPECT_EQ(One(kExp, v), static_cast<U>(e));
  }
  EXPECT_EQ(One(kMant, kInf), kInf);
  EXPECT_EQ(One(kExp, kInf), 0u);
  EXPECT_EQ(One(kExp, kQuiet), 0u);
  EXPECT_EQ(One(kExp, 0), 0u);
}

TEST_F(ValuFloat, ConversionsToIntegersSaturate) {
  constexpr U kToI32 = 0x08, kToU32 = 0x07;
  EXPECT_EQ(One(kToI32, Bits(-3.9)), static_cast<U>(-3));
  EXPECT_EQ(One(kToI32, Bits(3e9)), 0x7fffffffu);
  EXPECT_EQ(One(kToI32, Bits(-3e9)), 0x80000000u);
  EXPECT_EQ(One(kToI32, kQuiet), 0u);
  EXPECT_EQ(One(kToI32, kMinusInf), 0x80000000u);
  EXPECT_EQ(One(kToU32, Bits(-1)), 0u);
  EXPECT_EQ(One(kToU32, Bits(5e9)), 0xffffffffu);
  EXPECT_EQ(One(kToU32, Bits(3e9)), 3000000000u);
  EXPECT_EQ(One(kToU32, kQuiet), 0u);
}

// Whatever MODE says about rounding.
TEST_F(ValuFloat, RoundingToIntegers) {
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode(kDefaultMode | mode | mode << 2);
    for (const double v : {0.5, 1.5, 2.5, -0.5, -1.5, -0.25, 0.75, 8388608.0}) {
      EXPECT_EQ(One(0x1c, Bits(v)), Bits(std::trunc(v))) << v;
      EXPECT_EQ(One(0x1d, Bits(v)), Bits(std::ceil(v))) << v;
      EXPECT_EQ(One(0x1e, Bits(v)), Bits(std::nearbyint(v))) << v;
      EXPECT_EQ(One(0x1f, Bits(v)), Bits(std::floor(v))) << v;
      // The sign of a zero depends on the rounding.
      EXPECT_EQ(FloatFrom(One(0x1b, Bits(v))), v - std::floor(v)) << v;
    }
    // v_rndne_f16: 1.5, 2.5, -0.5.
    EXPECT_EQ(One(0x47, 0x3e00) & 0xffff, 0x4000u);
    EXPECT_EQ(One(0x47, 0x4100) & 0xffff, 0x4000u);
    EXPECT_EQ(One(0x47, 0xb800) & 0xffff, 0x8000u);
  }
}

TEST_F(ValuFloat, TranscendentalsAtTheirEdges) {
  constexpr U kExp = 0x20, kLog = 0x21, kRcp = 0x22, kRsq = 0x24, kSqrt = 0x27;
  EXPECT_EQ(One(kRcp, 0x80000000), kMinusInf);
  EXPECT_EQ(One(kRcp, kMinusInf), 0x80000000u);
  EXPECT_EQ(One(kRsq, 0), kInf);
  EXPECT_TRUE(std::isnan(FloatFrom(One(kRsq, Bits(-1)))));
  EXPECT_EQ(One(kSqrt, 0x80000000), 0x80000000u);
  EXPECT_TRUE(std::isnan(FloatFrom(One(kSqrt, Bits(-4)))));
  EXPECT_EQ(One(kLog, 0), kMinusInf);
  EXPECT_EQ(One(kLog, kInf), kInf);
  EXPECT_TRUE(std::isnan(FloatFrom(One(kLog, Bits(-2)))));
  EXPECT_EQ(One(kExp, kMinusInf), 0u);
  EXPECT_EQ(One(kExp, Bits(3)), Bits(8));
  EXPECT_EQ(One(kExp, Bits(200)), kInf);
  // sin and cos count revolutions, up to 256 of them.
  EXPECT_EQ(One(0x29, Bits(0.25)), kOne);
  EXPECT_EQ(One(0x29, Bits(300.25)) & 0x7fffffff, 0u);
  EXPECT_EQ(One(0x2a, Bits(300.25)), kOne);
}

// A quotient as compilers make it: scale, reciprocal, Newton, fmas, fixup.
TEST_F(ValuFloat, DivisionSequenceIsExact) {
  constexpr U kScale = 0x1e0, kFmas = 0x1e2, kFixup = 0x1de;
  const auto divide = [&](U num, U den) {
    const auto fma = [](U a, U b, U c) {
      return BitsFrom(std::fma(FloatFrom(a), FloatFrom(b), FloatFrom(c)));
    };
    const auto negated = [](U a) { return a ^ 0x80000000; };
    const U scaled_den = Result({0xd0000000 | kScale << 16 | 106 << 8 | kD,
                                 V(kB) | V(kB) << 9 | V(kA) << 18},
                                num, den);
    const U scaled_num = Result({0xd0000000 | kScale << 16 | 106 << 8 | kD,
                                 V(kA) | V(kB) << 9 | V(kA) << 18},
                                num, den);
    const uint64_t vcc = w().S64(kVcc);
    U r = One(0x22, scaled_den);
    r = fma(fma(negated(scaled_den), r, kOne), r, r);
    U q = fma(scaled_num, r, 0x80000000);
    q = fma(fma(negated(scaled_den), q, scaled_num), r, q);
    const U rest = fma(negated(scaled_den), q, scaled_num);
    w().SetS64(kVcc, vcc);
    q = Three(kFmas, rest, r, q);
    return Three(kFixup, q, den, num);
  };
  for (int n = 0; n < 2000; ++n) {
    const U num = static_cast<U>(random_()), den = static_cast<U>(random_());
    const float want = FloatFrom(num) / FloatFrom(den);
    const float got = FloatFrom(divide(num, den));
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got));
    } else {
      EXPECT_EQ(BitsFrom(got), BitsFrom(want)) << std::hex << num << ' ' << den;
    }
  }
}

}  // namespace
}  // namespace ingot::emulator
