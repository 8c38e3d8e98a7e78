// Conversions to and from the small floats, and MODE. Expected values come from
// the formats' definitions: every code's value is enumerated, and rounding is
// done by searching the nearest.
#include <cfenv>
#include <cmath>
#include <random>

#include "tests/emulator/kernel_fixture.h"
#include "tests/emulator/small_float.h"

namespace ingot::emulator {
namespace {

float FloatFrom(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
uint32_t BitsFrom(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}

class Convert : public KernelFixture {
 protected:
  static constexpr uint32_t kLanesTotal = 4096;

  void SetUp() override {
    Load("convert.hsaco");
    in_ = Allocate<uint32_t>(kLanesTotal * 4);
    out_ = Allocate<uint32_t>(kLanesTotal * 4);
    std::memset(in_, 0, kLanesTotal * 16);
  }
  void Go(const std::string& kernel, uint32_t lanes = kLanesTotal) {
    LaunchConfig config;
    config.grid[0] = lanes / 64;
    config.block[0] = 64;
    const RunResult r = Run(kernel, Arguments().Add(in_).Add(out_), config);
    ASSERT_EQ(r.status, RunStatus::kOk) << r.report;
  }

  // Interesting f32 values: near codes of the format and ties between them.
  void FillValues(const SmallFloat& f) {
    std::mt19937 random(7);
    const double extra[] = {0.0,
                            -0.0,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            1e-30,
                            -1e-30,
                            3e38,
                            f.Largest(),
                            f.Largest() * 1.01,
                            f.Largest() * 1.25,
                            -f.Largest() * 1.5,
                            1e-45};
    for (uint32_t l = 0; l < kLanesTotal; ++l) {
      for (int n = 0; n < 2; ++n) {
        const uint32_t half = 1u << (f.bits() - 1),
                       code = random() % (half - 1);
        double v = f.Value(code);
        const double next = f.Value(code + 1);
        if (random() % 3 == 0 && std::isfinite(next)) v = (v + next) / 2;
        if (random() % 3 == 0)
          v *= 1 + (static_cast<int>(random() % 200) - 100) * 1e-3;
        if (random() % 2 == 0) v = -v;
        if (l < std::size(extra)) v = extra[l];
        in_[4 * l + static_cast<uint32_t>(n)] = BitsFrom(static_cast<float>(v));
      }
      in_[4 * l + 2] = BitsFrom(1.0f);
    }
  }
  float In(uint32_t lane, int n) const {
    return FloatFrom(in_[4 * lane + static_cast<uint32_t>(n)]);
  }

  void ExpectCode(const SmallFloat& f, uint32_t got, double v, bool saturate,
                  uint32_t lane) {
    const uint32_t want = f.Nearest(v, saturate);
    if (want == ~0u) {
      EXPECT_TRUE(std::isnan(f.Value(got)))
          << "lane " << lane << " value " << v << " code " << got;
    } else {
      EXPECT_EQ(got, want) << "lane " << lane << " value " << v;
    }
  }

  uint32_t* in_ = nullptr;
  uint32_t* out_ = nullptr;
};

TEST_F(Convert, EveryByteHasItsValue) {
  for (uint32_t l = 0; l < 256; ++l) in_[4 * l] = l | (255 - l) << 8 | l << 16;
  for (const bool fp8 : {true, false}) {
    Go(fp8 ? "fp8_to_f32" : "bf8_to_f32", 256);
    const SmallFloat& f = fp8 ? kFp8 : kBf8;
    for (uint32_t l = 0; l < 256; ++l) {
      for (uint32_t n = 0; n < 2; ++n) {
        const double want = f.Value(n == 0 ? l : 255 - l),
                     got = static_cast<double>(FloatFrom(out_[4 * l + n]));
        EXPECT_TRUE(want == got || (std::isnan(want) && std::isnan(got))) << l;
        if (!std::isnan(want)) {
          EXPECT_EQ(std::signbit(want), std::signbit(got)) << l;
        }
      }
    }
  }
  Go("byte2_to_f32", 256);
  for (uint32_t l = 0; l < 126; ++l)
    EXPECT_EQ(FloatFrom(out_[4 * l]), kFp8.Value(l));
}

TEST_F(Convert, BytesAreRoundedToNearestEven) {
  for (const bool fp8 : {true, false}) {
    const SmallFloat& f = fp8 ? kFp8 : kBf8;
    for (const bool saturate : {false, true}) {
      FillValues(f);
      Go(std::string(fp8 ? "f32_to_fp8" : "f32_to_bf8") +
         (saturate ? "_saturated" : ""));
      for (uint32_t l = 0; l < kLanesTotal; ++l) {
        for (int n = 0; n < 2; ++n) {
          ExpectCode(f, out_[4 * l] >> (8 * n) & 0xff,
                     static_cast<double>(In(l, n)), saturate, l);
        }
        ASSERT_EQ(out_[4 * l] >> 16, 0u);
      }
    }
  }
  FillValues(kFp8);
  Go("f32_to_fp8_high");
  for (uint32_t l = 64; l < 128; ++l) {
    EXPECT_EQ(out_[4 * l] & 0xffff, 0u);
    ExpectCode(kFp8, out_[4 * l] >> 16 & 0xff, static_cast<double>(In(l, 0)),
               false, l);
  }
}

TEST_F(Convert, OverflowModeClampsF16) {
  const float values[] = {1e6f, -1e6f, 65504.0f, 65519.0f, 65520.0f, INFINITY};
  const uint32_t want[] = {0x7bff, 0xfbff, 0x7bff, 0x7bff, 0x7bff, 0x7c00};
  for (uint32_t n = 0; n < 6; ++n) in_[4 * n] = BitsFrom(values[n]);
  Go("f32_to_f16_saturated", 64);
  for (uint32_t n = 0; n < 6; ++n) EXPECT_EQ(out_[4 * n], want[n]) << values[n];
}

// The random number decides between the two neighbours, in proportion.
TEST_F(Convert, StochasticRoundingIsFair) {
  const double v = 1.0 + 0.125 * 0.25;  // a quarter of the way to the next fp8
  std::mt19937 random(3);
  for (uint32_t l = 0; l < kLanesTotal; ++l) {
    in_[4 * l] = BitsFrom(static_cast<float>(v));
    in_[4 * l + 1] = static_cast<uint32_t>(random());
  }
  Go("sr_fp8");
  int up = 0;
  for (uint32_t l = 0; l < kLanesTotal; ++l) {
    EXPECT_EQ(out_[4 * l] & 0xffff00ff, 0u);
    const double got = kFp8.Value(out_[4 * l] >> 8 & 0xff);
    EXPECT_TRUE(got == 1.0 || got == 1.125);
    up += got == 1.125;
  }
  EXPECT_NEAR(up, kLanesTotal / 4, kLanesTotal / 20);
  for (uint32_t l = 0; l < kLanesTotal; ++l) in_[4 * l] = BitsFrom(1.5f);
  Go("sr_bf16");
  for (uint32_t l = 0; l < kLanesTotal; ++l) EXPECT_EQ(out_[4 * l], 0x3fc0u);
}

TEST_F(Convert, ScalesDivideDownAndMultiplyUp) {
  FillValues(kFp4);
  // Only the exponent counts: 6.5 acts as 4.
  for (uint32_t l = 0; l < kLanesTotal; ++l)
    in_[4 * l + 2] = BitsFrom(l % 2 == 0 ? 6.5f : 0.25f);
  Go("scale_f32_to_fp4");
  for (uint32_t l = 16; l < kLanesTotal; ++l) {
    const double scale = l % 2 == 0 ? 4.0 : 0.25;
    EXPECT_EQ(out_[4 * l] & 0xffff00ff, 0u);
    ExpectCode(kFp4, out_[4 * l] >> 8 & 15,
               static_cast<double>(In(l, 0)) / scale, true, l);
    ExpectCode(kFp4, out_[4 * l] >> 12 & 15,
               static_cast<double>(In(l, 1)) / scale, true, l);
  }
  for (uint32_t l = 0; l < 256; ++l) {
    in_[4 * l] = l << 8;
    in_[4 * l + 1] = BitsFrom(9.0f);
  }
  Go("scale_fp4_to_f32", 256);
  for (uint32_t l = 0; l < 256; ++l) {
    EXPECT_EQ(FloatFrom(out_[4 * l]), 8 * kFp4.Value(l & 15));
    EXPECT_EQ(FloatFrom(out_[4 * l + 1]), 8 * kFp4.Value(l >> 4));
  }
}

TEST_F(Convert, ScaledBytes) {
  FillValues(kFp8);
  Go("scale_f32_to_fp8");
  for (uint32_t l = 16; l < kLanesTotal; ++l) {
    EXPECT_EQ(out_[4 * l] & 0xffff, 0u);
    ExpectCode(kFp8, out_[4 * l] >> 16 & 0xff, static_cast<double>(In(l, 0)),
               false, l);
    ExpectCode(kFp8, out_[4 * l] >> 24, static_cast<double>(In(l, 1)), false,
               l);
  }
  for (uint32_t l = 0; l < 126; ++l) {
    in_[4 * l] = l | l << 24;
    in_[4 * l + 1] = BitsFrom(0.5f);
  }
  Go("scale_bf8_to_f32_byte3", 64);
  for (uint32_t l = 0; l < 64; ++l)
    EXPECT_EQ(FloatFrom(out_[4 * l]), 0.5 * kBf8.Value(l));
  Go("scale_fp8_to_f16", 64);
  for (uint32_t l = 0; l < 64; ++l) {
    EXPECT_EQ(kF16.Value(out_[4 * l] & 0xffff), 0.5 * kFp8.Value(l));
  }
  // f16 1.5 and -3 by 0.5 are fp4 3 and -6.
  in_[0] = 0x3e00 | 0xc200u << 16;
  in_[1] = BitsFrom(0.5f);
  Go("scale_f16_to_fp4", 64);
  EXPECT_EQ(out_[0], 0x5u | 0xfu << 4);
}

TEST_F(Convert, ThirtyTwoValuesToFp6AndBack) {
  std::mt19937 random(5);
  for (uint32_t n = 0; n < 64 * 32; ++n) {
    in_[n] = BitsFrom(
        static_cast<float>(static_cast<int>(random() % 4000) - 2000) * 0.01f);
  }
  Go("scale_many", 64);
  for (uint32_t l = 0; l < 64; ++l) {
    for (uint32_t n = 0; n < 32; ++n) {
      // Even elements come from the first sixteen registers, odd from the rest.
      const float v =
          FloatFrom(in_[32 * l + (n % 2 == 0 ? n / 2 : 16 + n / 2)]);
      const double want =
          2 * kFp6.Value(kFp6.Nearest(static_cast<double>(v) / 2, true));
      EXPECT_EQ(static_cast<double>(FloatFrom(out_[32 * l + n])), want)
          << "value " << v;
    }
  }
}

TEST_F(Convert, ModeRounds) {
  std::mt19937 random(9);
  for (uint32_t n = 0; n < 64; ++n) {
    in_[4 * n] = BitsFrom(static_cast<float>(random() % 100000) * 1e-3f);
    in_[4 * n + 1] = BitsFrom(static_cast<float>(random() % 100000) * -1e-6f);
  }
  for (const bool up : {true, false}) {
    Go(up ? "add_f32_up" : "add_f32_down", 64);
    for (uint32_t l = 0; l < 64; ++l) {
      // The exact sum fits a double.
      const double exact =
          static_cast<double>(In(l, 0)) + static_cast<double>(In(l, 1));
      float want = static_cast<float>(exact);
      if (up && static_cast<double>(want) < exact)
        want = std::nextafter(want, INFINITY);
      if (!up && static_cast<double>(want) > exact)
        want = std::nextafter(want, -INFINITY);
      EXPECT_EQ(FloatFrom(out_[4 * l]), want) << l;
    }
  }
  in_[0] = 0x3c01;  // (1 + 2^-10)^2 truncates to 1 + 2^-9
  in_[1] = 0x3c01;
  in_[4] = 0x7bff;  // overflow toward zero stays finite
  in_[5] = 0x7bff;
  Go("mul_f16_zero", 64);
  EXPECT_EQ(out_[0], 0x3c02u);
  EXPECT_EQ(out_[4], 0x7bffu);
}

TEST_F(Convert, ModeFlushesDenormals) {
  in_[0] = 0x00400000;
  in_[1] = 0x00400000;
  in_[4] = 0x80800000;  // the sum of two normal numbers is denormal
  in_[5] = 0x00a00000;
  Go("add_f32_flushed", 64);
  EXPECT_EQ(out_[0], 0u);
  EXPECT_EQ(out_[4], 0u);
}

}  // namespace
}  // namespace ingot::emulator
