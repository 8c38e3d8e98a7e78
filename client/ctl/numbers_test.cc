#include "client/ctl/numbers.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"

namespace ingot::ctl {
namespace {

TEST(NumbersTest, EveryHalfValueSurvives) {
  for (const char* name : {"bf16", "f16"}) {
    const Format& format = *FindFormat(name);
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const uint16_t in = static_cast<uint16_t>(bits);
      const double value =
          Decode(format, reinterpret_cast<const uint8_t*>(&in));
      if (std::isnan(value)) continue;
      uint16_t out = 0;
      Encode(format, value, reinterpret_cast<uint8_t*>(&out));
      ASSERT_EQ(in, out) << name;
    }
  }
}

TEST(NumbersTest, EveryByteSurvives) {
  for (const char* name : {"e4m3fn", "e5m2"}) {
    const Format& format = *FindFormat(name);
    for (uint32_t bits = 0; bits < 256; ++bits) {
      const uint8_t in = static_cast<uint8_t>(bits);
      const double value = Decode(format, &in);
      if (std::isnan(value)) continue;
      uint8_t out = 0;
      Encode(format, value, &out);
      ASSERT_EQ(in, out) << name;
    }
  }
}

TEST(NumbersTest, TheLargestOfEightBits) {
  const Format& e4m3fn = *FindFormat("e4m3fn");
  const uint8_t largest = 0x7e;
  const uint8_t nan = 0x7f;
  EXPECT_EQ(Decode(e4m3fn, &largest), 448);
  EXPECT_TRUE(std::isnan(Decode(e4m3fn, &nan)));
  uint8_t out = 0;
  Encode(e4m3fn, 1000, &out);
  EXPECT_EQ(out, nan);
  Encode(e4m3fn, -440, &out);
  EXPECT_EQ(out, 0xfe);
  const uint8_t infinity = 0x7c;
  EXPECT_TRUE(std::isinf(Decode(*FindFormat("e5m2"), &infinity)));
  const uint8_t below = 0x7b;
  EXPECT_EQ(Decode(*FindFormat("e5m2"), &below), 57344);
}

TEST(NumbersTest, SingleAgreesWithTheHost) {
  const Format& format = *FindFormat("f32");
  for (const double value :
       {1.0, -1.5, 1e-45, 1.4e-45, 3.3e38, 3.5e38, 1.00000006, 0.1, -0.0,
        1.1754943e-38, 5e-46, std::numeric_limits<double>::infinity()}) {
    const float expected = static_cast<float>(value);
    float found = 0;
    Encode(format, value, reinterpret_cast<uint8_t*>(&found));
    EXPECT_EQ(memcmp(&expected, &found, sizeof(found)), 0) << value;
    EXPECT_EQ(Decode(format, reinterpret_cast<const uint8_t*>(&found)),
              static_cast<double>(expected));
  }
}

TEST(NumbersTest, TiesGoToEven) {
  const Format& format = *FindFormat("bf16");
  const auto round = [&](double value) {
    uint8_t bytes[2];
    Encode(format, value, bytes);
    return Decode(format, bytes);
  };
  EXPECT_EQ(round(1.0 + 1.0 / 256), 1.0);
  EXPECT_EQ(round(1.0 + 3.0 / 256), 1.0 + 4.0 / 256);
  EXPECT_EQ(round(1.0 + 255.5 / 256), 2.0);
  EXPECT_TRUE(std::isnan(round(std::nan(""))));
}

TEST(NumbersTest, UnitsAreThoseOfTheFormats) {
  EXPECT_EQ(FindFormat("bf16")->unit(), std::ldexp(1.0, -8));
  EXPECT_EQ(FindFormat("f16")->unit(), std::ldexp(1.0, -11));
  EXPECT_EQ(FindFormat("f32")->unit(), std::ldexp(1.0, -24));
  EXPECT_EQ(FindFormat("f16")->smallest_subnormal(), std::ldexp(1.0, -24));
  EXPECT_EQ(FindFormat("e4m3fn")->unit(), std::ldexp(1.0, -4));
  EXPECT_EQ(FindFormat("e2m1"), nullptr);
}

}  // namespace
}  // namespace ingot::ctl
