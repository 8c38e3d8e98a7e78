// Code objects of other versions and targets: what a gfx950 runs, and what it
// refuses. The kernels are those of foreign/rows.cl.
#include <cmath>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Versions : public Foreign {};

TEST_P(Versions, Run) {
  LoadGroup("rows");
  const int rows = 3, n = 333;
  const _Float16* in = Filled<_Float16>(rows * n, [this](size_t) {
    return static_cast<_Float16>(static_cast<float>(Random(800)) * 0.01f);
  });
  _Float16* out = Buffer<_Float16>(rows * n);
  Go("softmax", Arguments().Add(in).Add(out).Add(n), rows, 128);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += std::exp(static_cast<double>(in[r * n + i]));
    for (int i = 0; i < n; ++i) {
      const double want = std::exp(static_cast<double>(in[r * n + i])) / sum;
      ASSERT_NEAR(static_cast<double>(out[r * n + i]), want,
                  want * 0x1p-10 + 0x1p-25)
          << r << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Versions,
                         testing::Combine(testing::Values("v4", "v5", "v6",
                                                          "generic", "set"),
                                          testing::Bool()),
                         ForeignName);

// For a processor with another setting, or another processor.
TEST(ForeignTargets, AreRefused) {
  Device device;
  for (const char* name : {"rows_xnack", "rows_nosramecc", "rows_gfx942"}) {
    const std::string object = ReadGzip(
        std::string("tests/data/emulator/foreign/") + name + ".hsaco.gz");
    ASSERT_FALSE(object.empty()) << name;
    LoadError error;
    std::string message;
    EXPECT_EQ(device.Load(object.data(), object.size(), &error, &message),
              nullptr);
    EXPECT_EQ(error, LoadError::kWrongTarget) << name << ": " << message;
  }
}

}  // namespace
}  // namespace ingot::emulator
