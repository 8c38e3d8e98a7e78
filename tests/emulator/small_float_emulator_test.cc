// Every conversion between wide floats and those of 8, 6 and 4 bits, against
// the formats' tables of values: all codes, ties, overflow in both settings of
// FP16_OVFL, scales, seeds, and the parts of the destination that stay.
#include "tests/emulator/single_instruction.h"
#include "tests/emulator/small_float.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;

constexpr U kOverflowMode = 1u << 23;  // FP16_OVFL

// f32 is null.
using Wide = const SmallFloat*;
constexpr Wide kF32 = nullptr;

// Where values come from or go to.
constexpr U kA = 130, kB = 164, kSeed = 198, kScale = 199, kD = 210;

class SmallFloats : public SingleInstruction {
 protected:
  static U Bits(U reg_bits, U from, U bits) {
    return reg_bits >> from & ((1u << bits) - 1);
  }
  // `bits` bits of a lane's registers, from bit `at` on.
  U Field(U reg, int lane, int at, int bits) {
    U code = 0;
    for (int n = 0; n < bits; ++n) {
      const U word = w().v[reg + static_cast<U>((at + n) / 32)][lane];
      code |= (word >> (at + n) % 32 & 1) << n;
    }
    return code;
  }
  void SetField(U reg, int lane, int at, int bits, U code) {
    for (int n = 0; n < bits; ++n) {
      U& word = w().v[reg + static_cast<U>((at + n) / 32)][lane];
      const U to = static_cast<U>(at + n) % 32;
      word = (word & ~(1u << to)) | (code >> n & 1) << to;
    }
  }
  // Only the exponent of a scale counts.
  double SetScale(int lane, int exponent) {
    const U junk = random_() & 0x807fffff;
    w().v[kScale][lane] = junk | static_cast<U>(exponent + 127) << 23;
    return exponent == 128 ? NAN : std::ldexp(1.0, exponent);
  }
  static U NextSeed(U seed) { return seed << 1 ^ (seed >> 31 != 0 ? 0xc5 : 0); }
};

// ---- To small floats ----

struct Pack {
  U op;
  const SmallFloat& to;
  Wide from;
  int count;
  bool scaled, stochastic;
  // f32 values by turns from two sources.
  bool two() const { return from == kF32 && count == 2 && !stochastic; }
  bool both() const { return op == 0x252 || op == 0x253; }
};
const Pack kPacks[] = {{0x2a2, kFp8, kF32, 2, false, false},
                       {0x2a3, kBf8, kF32, 2, false, false},
                       {0x2a4, kFp8, kF32, 1, false, true},
                       {0x2a5, kBf8, kF32, 1, false, true},
                       {0x235, kFp8, kF32, 2, true, false},
                       {0x236, kBf8, kF32, 2, true, false},
                       {0x237, kFp8, kF32, 1, true, true},
                       {0x238, kBf8, kF32, 1, true, true},
                       {0x23d, kFp4, kF32, 2, true, false},
                       {0x23e, kFp4, kF32, 2, true, true},
                       {0x240, kFp8, &kF16, 2, true, false},
                       {0x241, kBf8, &kF16, 2, true, false},
                       {0x242, kFp8, &kF16, 1, true, true},
                       {0x243, kBf8, &kF16, 1, true, true},
                       {0x244, kFp8, &kBf16, 2, true, false},
                       {0x245, kBf8, &kBf16, 2, true, false},
                       {0x246, kFp8, &kBf16, 1, true, true},
                       {0x247, kBf8, &kBf16, 1, true, true},
                       {0x24c, kFp4, &kF16, 2, true, false},
                       {0x24d, kFp4, &kBf16, 2, true, false},
                       {0x24e, kFp4, &kF16, 2, true, true},
                       {0x24f, kFp4, &kBf16, 2, true, true},
                       {0x252, kFp6, kF32, 32, true, false},
                       {0x253, kBf6, kF32, 32, true, false},
                       {0x254, kFp6, kF32, 32, true, true},
                       {0x255, kBf6, kF32, 32, true, true},
                       {0x258, kFp6, &kF16, 32, true, false},
                       {0x259, kFp6, &kBf16, 32, true, false},
                       {0x25a, kBf6, &kF16, 32, true, false},
                       {0x25b, kBf6, &kBf16, 32, true, false},
                       {0x25c, kFp6, &kF16, 32, true, true},
                       {0x25d, kFp6, &kBf16, 32, true, true},
                       {0x25e, kBf6, &kF16, 32, true, true},
                       {0x25f, kBf6, &kBf16, 32, true, true}};

class Packing : public SmallFloats {
 protected:
  // A value near a code, half way between two, or anywhere, under the scale.
  double Interesting(const Pack& p, double scale) {
    static constexpr double kFar[] = {1.01, 1.03, 1.0625, 1.07,
                                      1.25, 2.0,  1e6,    HUGE_VAL};
    const U code = random_() % p.to.LargestCode();
    const double low = p.to.Value(code), step = p.to.Value(code + 1) - low;
    double v = low;
    switch (random_() % 8) {
      case 0:
        v = low + step / 2;
        break;
      case 1:
        v = low + step / 2 * (1 - 0x1p-18);
        break;
      case 2:
        v = low + step / 2 * (1 + 0x1p-18);
        break;
      case 3:
        v = p.to.Largest() * kFar[random_() % 8];
        break;
      case 4:
        v = low + step * (random_() % 65536) / 65536.0;
        break;
      case 5:
        v = random_() % 16 == 0 ? NAN : low + step / 4;
        break;
      default:
        break;
    }
    return (random_() % 2 == 0 ? -v : v) * scale;
  }

  // Puts value n of a lane where the instruction looks for it, as near as the
  // type allows; returns what it then is.
  double PutValue(const Pack& p, int lane, int n, U half, double v) {
    if (p.from == kF32) {
      const U reg = p.two()    ? (n == 0 ? kA : kB)
                    : p.both() ? (n % 2 == 0 ? kA : kB) + static_cast<U>(n) / 2
                               : kA + static_cast<U>(n);
      w().v[reg][lane] = BitsFrom(static_cast<float>(v));
      return static_cast<double>(FloatFrom(w().v[reg][lane]));
    }
    U code = p.from->Nearest(v, false);
    if (code == ~0u) code = 0x7fc0;
    const int at = 16 * (p.count == 1 ? static_cast<int>(half) : n);
    SetField(kA, lane, at, 16, code);
    return p.from->Value(code);
  }

  // The code of |x| when the seed's fraction is added to what rounding drops.
  static U Stochastic(const SmallFloat& f, double x, U seed, bool saturate) {
    const U sign = std::signbit(x) ? 1u << (f.bits() - 1) : 0;
    if (std::isnan(x)) return ~0u;
    const double v = std::fabs(x), top = f.Largest();
    const U code = f.Below(std::fmin(v, top));
    const U at = code == f.LargestCode() ? code - 1 : code;
    const double step = f.Value(at + 1) - f.Value(at);
    const double rest = (v - f.Value(code)) / step;
    const U up = rest + std::ldexp(seed, -32) >= 1 ? 1 : 0;
    if (code + up <= f.LargestCode()) return sign | (code + up);
    if (saturate) return sign | f.LargestCode();
    return f.ieee ? sign | (f.LargestCode() + 1) : ~0u;
  }

  void Check(const Pack& p, U where, bool saturate) {
    const int bits = p.to.bits(), total = bits * p.count;
    const bool many = p.count == 32;
    // op_sel: the half or byte of the destination, the half of the source.
    const U half = where & 1, byte = where >> 2 & 3;
    const int shift = many          ? 0
                      : total == 16 ? 16 * static_cast<int>(byte >> 1)
                                    : 8 * static_cast<int>(byte);
    const U op_sel = many                             ? 0
                     : total == 16                    ? (byte & 2) << 2
                     : p.count == 1 && p.from != kF32 ? byte << 2 | half
                                                      : byte << 2;
    Poison();
    std::vector<double> values(static_cast<size_t>(kLanes * p.count));
    U old[kLanes];
    const int exponents[] = {0, 3, -2, 10, -8};
    for (int l = 0; l < kLanes; ++l) {
      const double scale = p.scaled ? SetScale(l, exponents[random_() % 5]) : 1;
      for (int n = 0; n < p.count; ++n) {
        const double v = PutValue(p, l, n, half, Interesting(p, scale));
        values[static_cast<size_t>(l * p.count + n)] = v / scale;
      }
      old[l] = w().v[kD][l];
    }
    const U second = p.two() || p.both() ? kB : kSeed;
    const bool three = p.two() || p.both() || p.stochastic;
    const Modifiers m{.op_sel = op_sel};
    const Words words = !p.scaled ? Vop3(p.op, kD, V(kA), V(second), 0, m)
                        : three ? Vop3(p.op, kD, V(kA), V(second), V(kScale), m)
                                : Vop3(p.op, kD, V(kA), V(kScale), 0, m);
    ASSERT_TRUE(Run(words)) << std::hex << p.op;
    for (int l = 0; l < kLanes; ++l) {
      U seed = w().v[kSeed][l];
      for (int n = 0; n < p.count; ++n, seed = NextSeed(seed)) {
        const double v = values[static_cast<size_t>(l * p.count + n)];
        const U want = p.stochastic ? Stochastic(p.to, v, seed, saturate)
                                    : p.to.Nearest(v, saturate);
        const U got = Field(kD, l, shift + n * bits, bits);
        if (want != ~0u) {
          ASSERT_EQ(got, want) << Text() << " value " << v << " seed " << seed;
        } else if (p.to.ieee || p.to.one_nan) {
          ASSERT_TRUE(std::isnan(p.to.Value(got))) << Text() << ' ' << v;
        }
      }
      if (!many) {
        const U field = ((1u << total) - 1) << shift;
        ASSERT_EQ(w().v[kD][l] & ~field, old[l] & ~field) << Text();
      }
    }
  }
};

TEST_F(Packing, RoundsEveryWay) {
  for (const Pack& p : kPacks) {
    for (const bool overflow : {false, true}) {
      w().SetMode(kDefaultMode | overflow * kOverflowMode);
      const bool saturate = overflow || p.to.bits() < 8;
      for (U round = 0; round < 32; ++round) {
        Check(p, round % 16, saturate);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// MODE's rounding fields do not count.
TEST_F(Packing, IgnoresTheRoundingMode) {
  for (const Pack& p : kPacks) {
    for (U mode = 1; mode < 4; ++mode) {
      w().SetMode(kDefaultMode | mode | mode << 2);
      Check(p, 0, p.to.bits() < 8);
      if (HasFatalFailure()) return;
    }
  }
}

// Lanes that are off keep everything.
TEST_F(Packing, LanesThatAreOff) {
  for (const Pack& p : kPacks) {
    Poison();
    SetExec(1);
    U old[8];
    for (U n = 0; n < 8; ++n) old[n] = w().v[kD + n][5];
    ASSERT_TRUE(Run(Vop3(p.op, kD, V(kA), V(kB), V(kScale))));
    for (U n = 0; n < 8; ++n) EXPECT_EQ(w().v[kD + n][5], old[n]) << Text();
  }
}

// ---- From small floats ----

struct Unpack {
  U op;
  const SmallFloat& from;
  Wide to;
  int count;
  bool scaled;
};
const Unpack kUnpacks[] = {
    {0x194, kFp8, kF32, 1, false},   {0x195, kBf8, kF32, 1, false},
    {0x196, kFp8, kF32, 2, false},   {0x197, kBf8, kF32, 2, false},
    {0x239, kFp8, kF32, 2, true},    {0x23a, kBf8, kF32, 2, true},
    {0x23b, kFp8, kF32, 1, true},    {0x23c, kBf8, kF32, 1, true},
    {0x23f, kFp4, kF32, 2, true},    {0x248, kFp8, &kF16, 2, true},
    {0x249, kBf8, &kF16, 2, true},   {0x24a, kFp8, &kF16, 1, true},
    {0x24b, kBf8, &kF16, 1, true},   {0x250, kFp4, &kF16, 2, true},
    {0x251, kFp4, &kBf16, 2, true},  {0x256, kFp6, kF32, 32, true},
    {0x257, kBf6, kF32, 32, true},   {0x260, kFp6, &kF16, 32, true},
    {0x261, kFp6, &kBf16, 32, true}, {0x262, kBf6, &kF16, 32, true},
    {0x263, kBf6, &kBf16, 32, true}, {0x269, kFp8, &kBf16, 2, true},
    {0x26a, kBf8, &kBf16, 2, true}};

class Unpacking : public SmallFloats {
 protected:
  void ExpectWide(Wide to, U got, double v, bool overflow) {
    if (to == kF32) {
      const float want = static_cast<float>(v);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(FloatFrom(got))) << Text();
      } else {
        ASSERT_EQ(got, BitsFrom(want)) << Text() << ' ' << v;
      }
      return;
    }
    if (std::isnan(v)) {
      ASSERT_TRUE(std::isnan(to->Value(got))) << Text();
      return;
    }
    // FP16_OVFL keeps true infinities.
    const bool saturate = overflow && to == &kF16 && !std::isinf(v);
    ASSERT_EQ(got, to->Nearest(v, saturate)) << Text() << ' ' << v;
  }

  // All codes, from `first` on, in consecutive places.
  void Check(const Unpack& u, U where, int exponent, U first, bool overflow) {
    Poison();
    const int bits = u.from.bits(), wide = u.to == kF32 ? 32 : 16;
    const int total = bits * u.count;
    const int from = u.count == 32 ? 0
                     : total == 16 ? 16 * static_cast<int>(where & 1)
                                   : 8 * static_cast<int>(where & 3);
    const bool placed = u.op == 0x24a || u.op == 0x24b;
    const int to = placed ? 16 * static_cast<int>(where >> 3) : 0;
    const U op_sel = u.count == 32 ? 0
                     : total == 16 ? where & 1
                     : placed      ? where & 11
                                   : where & 3;
    double scale = 1;
    for (int l = 0; l < kLanes; ++l) {
      if (u.scaled) scale = SetScale(l, exponent);
      for (int n = 0; n < u.count; ++n) {
        SetField(kA, l, from + n * bits, bits,
                 (first + static_cast<U>(l * u.count + n)) % (1u << bits));
      }
    }
    const U old = w().v[kD][9];
    ASSERT_TRUE(Run(Vop3(u.op, kD, V(kA), u.scaled ? V(kScale) : 0, 0,
                         {.op_sel = op_sel})));
    for (int l = 0; l < kLanes; ++l) {
      for (int n = 0; n < u.count; ++n) {
        const U code = Field(kA, l, from + n * bits, bits);
        ExpectWide(u.to, Field(kD, l, to + n * wide, wide),
                   u.from.Value(code) * scale, overflow);
        if (HasFatalFailure()) return;
      }
    }
    if (placed) {
      EXPECT_EQ(Field(kD, 9, 16 - to, 16), Bits(old, 16 - U(to), 16));
    }
  }
};

TEST_F(Unpacking, EveryCodeUnderManyScales) {
  for (const Unpack& u : kUnpacks) {
    for (const bool overflow : {false, true}) {
      w().SetMode(kDefaultMode | overflow * kOverflowMode);
      for (const int exponent : {0, 1, -7, 20, -30, 127, -127, 128}) {
        for (U first = 0; first < 256; first += 64) {
          Check(u, random_() % 16, exponent, first, overflow);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// VOP1's plain encoding takes the lowest byte or pair.
TEST_F(Unpacking, ShortEncoding) {
  Poison();
  for (U l = 0; l < kLanes; ++l) w().v[kA][l] = 0x70533800 | l;
  ASSERT_TRUE(Run(Vop1(0x54, kD, V(kA))));
  for (U l = 0; l < kLanes; ++l)
    ASSERT_EQ(FloatFrom(w().v[kD][l]), kFp8.Value(l)) << Text();
  ASSERT_TRUE(Run(Vop1(0x57, kD, V(kA))));
  for (U l = 0; l < kLanes; ++l) {
    ASSERT_EQ(FloatFrom(w().v[kD][l]), kBf8.Value(l)) << Text();
    ASSERT_EQ(FloatFrom(w().v[kD + 1][l]), 0.5f) << Text();
  }
}

// ---- 16-bit floats ----

TEST_F(SmallFloats, StochasticHalves) {
  for (const U op : {0x2a6u, 0x2a7u}) {
    const SmallFloat& f = op == 0x2a6 ? kF16 : kBf16;
    for (const U high : {0u, 1u}) {
      Poison();
      U old[kLanes], want[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        const U code = f.LargestCode() / 2 + random_() % 4096;
        const double low = f.Value(code), step = f.Value(code + 1) - low;
        const U part = random_() % 16, seed = static_cast<U>(random_());
        w().v[kA][l] =
            BitsFrom(static_cast<float>(-(low + step * part / 16.0)));
        w().v[kSeed][l] = seed;
        const bool up = part / 16.0 + std::ldexp(seed, -32) >= 1;
        want[l] = 0x8000 | (code + up);
        old[l] = w().v[kD][l];
      }
      ASSERT_TRUE(Run(Vop3(op, kD, V(kA), V(kSeed), 0, {.op_sel = high << 3})));
      for (int l = 0; l < kLanes; ++l) {
        ASSERT_EQ(Bits(w().v[kD][l], 16 * high, 16), want[l]) << Text();
        ASSERT_EQ(Bits(w().v[kD][l], 16 - 16 * high, 16),
                  Bits(old[l], 16 - 16 * high, 16));
      }
    }
  }
}

// v_cvt_pk_f16_f32 and v_cvt_pk_bf16_f32 round to nearest; v_cvt_pkrtz_f16_f32
// cuts off, and never reaches infinity from a number.
TEST_F(SmallFloats, PairsOfHalves) {
  for (const U mode : {0u, 5u}) {
    w().SetMode(kDefaultMode | mode);
    for (int round = 0; round < 500; ++round) {
      Poison();  // any bits at all
      for (const U op : {0x267u, 0x268u, 0x296u}) {
        const SmallFloat& f = op == 0x268 ? kBf16 : kF16;
        ASSERT_TRUE(Run(Vop3(op, kD, V(kA), V(kB))));
        for (int l = 0; l < kLanes; ++l) {
          for (const U half : {0u, 1u}) {
            const double v =
                static_cast<double>(FloatFrom(w().v[half == 0 ? kA : kB][l]));
            const U got = Bits(w().v[kD][l], 16 * half, 16);
            if (std::isnan(v)) {
              ASSERT_TRUE(std::isnan(f.Value(got))) << Text();
            } else if (op == 0x296 && std::isfinite(v)) {
              ASSERT_EQ(
                  got, f.Below(std::fabs(v)) | (std::signbit(v) ? 0x8000u : 0u))
                  << Text() << ' ' << v;
            } else {
              ASSERT_EQ(got, f.Nearest(v, false)) << Text() << ' ' << v;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ingot::emulator
