// f32 to 8- and 4-bit floats, executed, against the formats' own numbers: the
// nearest of them, found by looking at all.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compiler/tile/narrow.h"
#include "compiler/tile/reduce.h"
#include "gtest/gtest.h"
#include "tests/support/kernel_harness.h"
#include "tests/support/mx_format.h"

namespace ingot::tile {
namespace {

using testing::MxCode;
using testing::MxScale;
using testing::MxValue;

constexpr uint32_t kThreads = 64;
// A kernel takes eight numbers a thread and round, and writes for them 16
// bytes: codes, and in the last four the scale where there is one.
constexpr size_t kGroup = 8;
constexpr size_t kGroupBytes = 16;

absl::Status ForEachGroup(Builder& b,
                          absl::FunctionRef<void(Value x, Value out)> body) {
  b.For(b.ThreadX() * 8, b.Arg("n"), kThreads * 8, {},
        [&](Value i, absl::Span<const Value>) -> Values {
          Value x =
              b.Load(Vec(kF32, 8), Offset(b.Arg("in"), i * 4), {.align = 16});
          body(x, Offset(b.Arg("out"), i * 2));
          return {};
        });
  return b.status();
}

absl::Status Plain(Builder& b, const KernelSpec&) {
  return ForEachGroup(b, [&](Value x, Value out) { b.Store(ToE4M3(x), out); });
}

absl::Status OneByOne(Builder& b, const KernelSpec&) {
  return ForEachGroup(b, [&](Value x, Value out) {
    for (int lane = 0; lane < 8; ++lane) {
      b.Store(ToE4M3(Extract(x, lane)), Offset(out, lane));
    }
  });
}

absl::Status InBlocks(Builder& b, MxFormat format) {
  return ForEachGroup(b, [&](Value x, Value out) {
    Value scale = MxScaleOf(format, ReduceLanes(Abs(x), Maximum));
    b.Store(ToMx(format, x, scale), out);
    b.Store(scale, Offset(out, 12));
  });
}
absl::Status MxFp8(Builder& b, const KernelSpec&) {
  return InBlocks(b, MxFormat::kE4M3);
}
absl::Status MxFp4(Builder& b, const KernelSpec&) {
  return InBlocks(b, MxFormat::kE2M1);
}

std::vector<uint8_t> Narrowed(BodyFunction body, const std::vector<float>& in) {
  return testing::RunKernel<uint8_t, float>(body, kThreads, in,
                                            in.size() / kGroup * kGroupBytes,
                                            static_cast<int64_t>(in.size()));
}

// The code of the number nearest to `x`, the even one of two.
uint32_t Nearest(const std::string& dtype, double x) {
  const uint32_t codes = dtype == "e2m1" ? 16 : 256;
  uint32_t best = std::signbit(x) ? codes / 2 : 0;
  for (uint32_t code = best; code < best + codes / 2; ++code) {
    const double distance = std::fabs(MxValue(dtype, code) - x);
    const double least = std::fabs(MxValue(dtype, best) - x);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return best;
}

// Every number of e4m3fn, what lies halfway to the next, and a little to each
// side of that; up to 464, which is halfway to what would come after 448.
std::vector<float> AroundE4M3() {
  std::vector<float> all;
  for (uint32_t code = 0; code < 127; ++code) {
    const double low = MxValue("e4m3fn", code);
    const double high = code == 126 ? 480 : MxValue("e4m3fn", code + 1);
    const float half = static_cast<float>((low + high) / 2);
    for (float x : {static_cast<float>(low), std::nextafter(half, 0.0f), half,
                    std::nextafter(half, 1000.0f)}) {
      if (x > 464) continue;
      all.push_back(x);
      all.push_back(-x);
    }
  }
  while (all.size() % kGroup != 0) all.push_back(0);
  return all;
}

TEST(NarrowTest, E4M3IsTheNearest) {
  const std::vector<float> in = AroundE4M3();
  for (BodyFunction body : {Plain, OneByOne}) {
    const std::vector<uint8_t> out = Narrowed(body, in);
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(out[i / kGroup * kGroupBytes + i % kGroup],
                Nearest("e4m3fn", in[i]))
          << in[i];
    }
  }
}

TEST(NarrowTest, E4M3HasNoInfinity) {
  const float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {464.1f,    -465,       1e30f,         -1e30f,
                                 kInfinity, -kInfinity, std::nanf(""), 464};
  const std::vector<uint8_t> out = Narrowed(Plain, in);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(std::isnan(MxValue("e4m3fn", out[i]))) << in[i];
  }
  EXPECT_EQ(MxValue("e4m3fn", out[7]), 448);
}

struct Block {
  const char* dtype;
  BodyFunction body;
  int emax;
};

class NarrowBlockTest : public ::testing::TestWithParam<Block> {
 protected:
  void Check(const std::vector<float>& in) {
    const std::vector<uint8_t> out = Narrowed(GetParam().body, in);
    const std::string dtype = GetParam().dtype;
    for (size_t group = 0; group < in.size() / kGroup; ++group) {
      const float* x = &in[group * kGroup];
      const uint8_t* codes = &out[group * kGroupBytes];
      double most = 0;
      for (size_t i = 0; i < kGroup; ++i) {
        most = std::max(most, std::fabs(static_cast<double>(x[i])));
      }
      int scale = 0;
      if (most > 0) {
        scale = std::max(0, std::ilogb(most) - GetParam().emax + 127);
      }
      ASSERT_EQ(codes[12], scale) << most;
      for (size_t i = 0; i < kGroup; ++i) {
        const double wanted = x[i] / MxScale(static_cast<uint8_t>(scale));
        ASSERT_EQ(MxCode(dtype, codes, static_cast<int64_t>(i)),
                  Nearest(dtype, wanted))
            << x[i] << " under " << scale;
      }
    }
  }
};

TEST_P(NarrowBlockTest, EveryMagnitude) {
  std::mt19937 random(20260401);
  std::normal_distribution<float> normal;
  std::vector<float> in;
  for (int exponent = -126; exponent <= 126; ++exponent) {
    for (size_t i = 0; i < 4 * kGroup; ++i) {
      in.push_back(std::ldexp(normal(random), exponent));
    }
  }
  Check(in);
}

// What a scale makes too large becomes the largest; what lies halfway between
// two codes goes to the even one.
TEST_P(NarrowBlockTest, LimitsAndTies) {
  const std::string dtype = GetParam().dtype;
  const uint32_t codes = dtype == "e2m1" ? 7 : 126;
  std::vector<float> in;
  for (float most : {1.0f, 1.5f, 1.75f, 1.99f}) {
    for (uint32_t code = 0; code < codes; ++code) {
      const float half = static_cast<float>(
          (MxValue(dtype, code) + MxValue(dtype, code + 1)) / 2);
      in.push_back(std::ldexp(most, GetParam().emax));
      in.insert(in.end(), {half, -half, std::nextafter(half, 0.0f),
                           std::nextafter(half, 1000.0f),
                           -std::ldexp(most, GetParam().emax), 0.0f, -0.0f});
    }
  }
  Check(in);
}

TEST_P(NarrowBlockTest, ZerosAndWhatIsNotFinite) {
  const float kInfinity = std::numeric_limits<float>::infinity();
  Check(std::vector<float>(kGroup, 0.0f));
  for (float special : {kInfinity, -kInfinity, std::nanf("")}) {
    std::vector<float> in(kGroup, 1.0f);
    in[3] = special;
    EXPECT_EQ(Narrowed(GetParam().body, in)[12], 255);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, NarrowBlockTest,
                         ::testing::Values(Block{"e4m3fn", MxFp8, 8},
                                           Block{"e2m1", MxFp4, 2}));

}  // namespace
}  // namespace ingot::tile
