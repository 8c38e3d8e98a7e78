// Activation functions, executed, against f64.
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/tile/activation.h"
#include "gtest/gtest.h"
#include "tests/support/epilogue_reference.h"
#include "tests/support/kernel_harness.h"

namespace ingot::tile {
namespace {

constexpr uint32_t kThreads = 256;

absl::Status Write(Builder& b, absl::string_view name) {
  INGOT_ASSIGN_OR_RETURN(const Activation activation, ActivationOf(name));
  b.For(b.ThreadX() * 4, b.Arg("n"), kThreads * 4, {},
        [&](Value i, absl::Span<const Value>) -> Values {
          const Value x = b.Load(Vec(kF32, 4), Offset(b.Arg("in"), i * 4));
          b.Store(Activate(activation, x), Offset(b.Arg("out"), i * 4));
          return {};
        });
  return b.status();
}

#define INGOT_BODY(name)                                    \
  absl::Status Body_##name(Builder& b, const KernelSpec&) { \
    return Write(b, #name);                                 \
  }
INGOT_BODY(none)
INGOT_BODY(relu)
INGOT_BODY(gelu_tanh)
INGOT_BODY(gelu_erf)
INGOT_BODY(silu)
#undef INGOT_BODY

struct Case {
  const char* name;
  BodyFunction body;
};

class ActivationTest : public ::testing::TestWithParam<Case> {
 protected:
  std::vector<float> Run(std::vector<float> x) {
    const size_t size = x.size();
    x.resize((size + 3) / 4 * 4);
    std::vector<float> y = testing::RunKernel<float, float>(
        GetParam().body, kThreads, x, x.size(), static_cast<int64_t>(x.size()));
    y.resize(size);
    return y;
  }
};

// operators.md leaves 4 units of 2^-24 |x| for a whole product of one term, of
// which scaling, c and bias take one each.
TEST_P(ActivationTest, IsCloseToTheFunction) {
  std::vector<float> x;
  for (int i = -60000; i <= 60000; ++i) x.push_back(i / 4096.0f);
  for (int exponent = -126; exponent < 128; ++exponent) {
    for (const float mantissa : {1.0f, 1.37f, 1.93f}) {
      x.push_back(std::ldexp(mantissa, exponent));
      x.push_back(-x.back());
    }
  }
  const std::vector<float> y = Run(x);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double wanted = testing::ActivationValue(GetParam().name, x[i]);
    const double unit = std::ldexp(1.0, -24) * std::fabs(x[i]);
    const double error = std::fabs(y[i] - wanted) / unit;
    if (x[i] == 0) continue;  // SpecialValues
    EXPECT_LE(error, 3) << GetParam().name << "(" << x[i] << "): found " << y[i]
                        << ", wanted " << wanted;
    worst = std::max(worst, error);
  }
  RecordProperty("worst_units", std::to_string(worst));
}

TEST_P(ActivationTest, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> y = Run({std::nanf(""), infinity, -infinity, 0.0f,
                                    -0.0f, std::numeric_limits<float>::max(),
                                    -std::numeric_limits<float>::max()});
  const bool none = GetParam().name == std::string("none");
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], infinity);
  EXPECT_EQ(y[2], none ? -infinity : 0.0f);
  EXPECT_EQ(y[3], 0.0f);
  EXPECT_EQ(y[4], 0.0f);
  EXPECT_EQ(y[5], std::numeric_limits<float>::max());
  EXPECT_EQ(y[6], none ? -std::numeric_limits<float>::max() : 0.0f);
}

INSTANTIATE_TEST_SUITE_P(All, ActivationTest,
                         ::testing::Values(Case{"none", &Body_none},
                                           Case{"relu", &Body_relu},
                                           Case{"gelu_tanh", &Body_gelu_tanh},
                                           Case{"gelu_erf", &Body_gelu_erf},
                                           Case{"silu", &Body_silu}),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace ingot::tile
