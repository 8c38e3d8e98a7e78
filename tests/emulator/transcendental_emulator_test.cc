// Reciprocals, roots, exponentials, logarithms, sines: within one unit of the
// last place of the true value, and what they do with denormals.
#include <cmath>
#include <functional>
#include <limits>

#include "tests/emulator/single_instruction.h"
#include "tests/emulator/small_float.h"

namespace ingot::emulator {
namespace {

using U = uint32_t;
using Function = std::function<long double(long double)>;

class Transcendental : public SingleInstruction {
 protected:
  static constexpr U kA = 150, kD = 151;

  std::vector<U> Results(U op, const std::vector<U>& inputs) {
    std::vector<U> out;
    for (size_t first = 0; first < inputs.size(); first += kLanes) {
      Poison();
      for (size_t l = 0; l < kLanes; ++l)
        w().v[kA][l] = inputs[(first + l) % inputs.size()];
      const bool wide = first / kLanes % 2 == 1;  // both encodings
      EXPECT_TRUE(
          Run(wide ? Vop3(op + 0x140, kD, V(kA)) : Vop1(op, kD, V(kA))));
      out.insert(out.end(), w().v[kD], w().v[kD] + kLanes);
    }
    out.resize(inputs.size());
    return out;
  }
};

struct Line {
  U op;
  Function f;
};
const Line kF32Lines[] = {
    {0x22, [](long double x) { return 1 / x; }},
    {0x23, [](long double x) { return 1 / x; }},
    {0x24, [](long double x) { return 1 / std::sqrt(x); }},
    {0x27, [](long double x) { return std::sqrt(x); }},
    {0x20, [](long double x) { return std::exp2(x); }},
    {0x4b, [](long double x) { return std::exp2(x); }},
    {0x21, [](long double x) { return std::log2(x); }},
    {0x4c, [](long double x) { return std::log2(x); }}};

float WithoutDenormal(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, x)
             : x;
}

// Denormal sources count as zero and denormal results become zero, in every
// MODE.
TEST_F(Transcendental, F32WithinOneUlp) {
  std::vector<U> inputs = {0,          0x80000000, 1,          0x80000001,
                           0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
                           0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                           0x7fc01234, 0x7f801234, 0x3f800000, 0xbf800000};
  for (int n = 0; n < 8000; ++n) inputs.push_back(random_());
  // Of a size that exponentials tell apart.
  for (int n = 0; n < 8000; ++n) {
    inputs.push_back(
        BitsFrom((static_cast<int>(random_() % 600001) - 300000) * 0.0005f));
  }
  for (const U mode : {0x3f0u, 0x300u}) {
    w().SetMode(mode);
    for (const Line& line : kF32Lines) {
      const std::vector<U> got = Results(line.op, inputs);
      for (size_t n = 0; n < inputs.size(); ++n) {
        const float x = WithoutDenormal(FloatFrom(inputs[n]));
        const long double exact = line.f(static_cast<long double>(x));
        const float want = WithoutDenormal(static_cast<float>(exact));
        const float v = FloatFrom(got[n]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(v)) << Text() << ' ' << x;
          continue;
        }
        if (want == 0 || std::isinf(want)) {
          ASSERT_EQ(got[n], BitsFrom(want)) << Text() << ' ' << x;
          continue;
        }
        const long double ulp =
            std::ldexp(1.0L, std::max(std::ilogb(want), -126) - 23);
        ASSERT_LE(std::fabs(static_cast<long double>(v) - exact), ulp)
            << Text() << std::hexfloat << ' ' << x << " gives " << v;
      }
    }
  }
}

// f16 has its denormals, where MODE keeps them; every code is tried.
TEST_F(Transcendental, F16WithinOneUlp) {
  const Line lines[] = {{0x3d, kF32Lines[0].f},
                        {0x3e, kF32Lines[3].f},
                        {0x3f, kF32Lines[2].f},
                        {0x40, kF32Lines[6].f},
                        {0x41, kF32Lines[4].f}};
  std::vector<U> inputs;
  for (U code = 0; code < 0x10000; ++code) inputs.push_back(code);
  for (const Line& line : lines) {
    const std::vector<U> got = Results(line.op, inputs);
    for (U code = 0; code < 0x10000; ++code) {
      const double exact = static_cast<double>(
          line.f(static_cast<long double>(kF16.Value(code))));
      const double v = kF16.Value(got[code] & 0xffff);
      ASSERT_EQ(got[code] >> 16, 0u);
      const U want = kF16.Nearest(exact, false);
      if (std::isnan(exact)) {
        ASSERT_TRUE(std::isnan(v)) << Text() << ' ' << code;
      } else if (std::isinf(kF16.Value(want)) || want % 0x8000 == 0) {
        ASSERT_EQ(got[code] & 0xffff, want) << Text() << ' ' << code;
      } else {
        const double ulp =
            std::ldexp(1.0, std::max(std::ilogb(exact), -14) - 10);
        ASSERT_LE(std::fabs(v - exact), ulp) << Text() << ' ' << code;
      }
    }
  }
}

// In revolutions; the hardware's sines are only good to an absolute error.
TEST_F(Transcendental, SinesAndCosines) {
  constexpr double kTurn = 6.283185307179586476925;
  std::vector<U> inputs;
  for (int n = 0; n < 8000; ++n) {
    inputs.push_back(
        BitsFrom((static_cast<int>(random_() % 512001) - 256000) * 0.001f));
  }
  for (const bool cosine : {false, true}) {
    const std::vector<U> got = Results(cosine ? 0x2a : 0x29, inputs);
    for (size_t n = 0; n < inputs.size(); ++n) {
      const double x = static_cast<double>(FloatFrom(inputs[n]));
      const double turn = x - std::floor(x);
      const double want =
          cosine ? std::cos(turn * kTurn) : std::sin(turn * kTurn);
      ASSERT_NEAR(static_cast<double>(FloatFrom(got[n])), want, 0x1p-23)
          << Text() << ' ' << x;
    }
    for (const U special : {0x7f800000u, 0xff800000u, 0x7fc00000u}) {
      EXPECT_TRUE(
          std::isnan(FloatFrom(Results(cosine ? 0x2a : 0x29, {special})[0])));
    }
  }
  std::vector<U> halves;
  for (U code = 0; code < 0x5c00; ++code) halves.push_back(code);  // to 256
  for (const bool cosine : {false, true}) {
    const std::vector<U> got = Results(cosine ? 0x4a : 0x49, halves);
    for (const U code : halves) {
      const double turn = std::fmod(kF16.Value(code), 1.0);
      const double want =
          cosine ? std::cos(turn * kTurn) : std::sin(turn * kTurn);
      ASSERT_NEAR(kF16.Value(got[code] & 0xffff), want, 0x1p-11) << Text();
    }
  }
}

}  // namespace
}  // namespace ingot::emulator
