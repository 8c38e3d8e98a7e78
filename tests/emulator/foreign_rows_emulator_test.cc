// Norms and sorts of clang's: see foreign/rows.cl.
#include <cmath>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Rows : public Foreign {
 protected:
  void SetUp() override { LoadGroup("rows"); }
};

TEST_P(Rows, SoftmaxOfHalves) {
  const int rows = 3, n = 777;
  const _Float16* in = Filled<_Float16>(rows * n, [this](size_t) {
    return static_cast<_Float16>(static_cast<float>(Random(4000)) * 0.005f -
                                 10);
  });
  _Float16* out = Buffer<_Float16>(rows * n);
  Go("softmax", Arguments().Add(in).Add(out).Add(n), rows, 256);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(double(in[r * n + i]));
    for (int i = 0; i < n; ++i) {
      const double want = std::exp(double(in[r * n + i])) / sum;
      ASSERT_NEAR(double(out[r * n + i]), want, want * 0x1p-10 + 0x1p-25)
          << r << " " << i;
    }
  }
}

TEST_P(Rows, LayerNormOfBf16) {
  const int rows = 4, n = 1001;
  const float eps = 1e-5f;
  const uint16_t* in = Filled<uint16_t>(rows * n, [this](size_t) {
    return 0x3f80 + Random(256) + (Random(2) << 15);
  });
  const auto small = [this](size_t) {
    return static_cast<float>(Random(200) - 100) * 0.01f;
  };
  const float *weight = Filled<float>(n, small),
              *bias = Filled<float>(n, small);
  uint16_t* out = Buffer<uint16_t>(rows * n);
  Go("layernorm",
     Arguments().Add(in).Add(weight).Add(bias).Add(out).Add(n).Add(eps), rows,
     128);
  ExpectLayerNorm(in, weight, bias, eps, rows, n, out);
}

TEST_P(Rows, BitonicSort) {
  uint64_t* keys = Filled<uint64_t>(3 * 512, [this](size_t i) {
    return i % 7 == 0 ? uint64_t{5} : random_() >> (i % 64);
  });
  std::vector<uint64_t> want(keys, keys + 3 * 512);
  for (int g = 0; g < 3; ++g)
    std::sort(want.begin() + g * 512, want.begin() + (g + 1) * 512);
  Go("sort_bitonic", Arguments().Add(keys), 3, 256);
  EXPECT_EQ(std::vector<uint64_t>(keys, keys + 3 * 512), want);
}

TEST_P(Rows, RadixSortIsStable) {
  uint32_t* keys = Filled<uint32_t>(
      256, [this](size_t) { return static_cast<uint32_t>(Random(50)) << 27; });
  uint32_t* values = Filled<uint32_t>(256, [](size_t i) { return i; });
  std::vector<std::pair<uint32_t, uint32_t>> want;
  for (uint32_t i = 0; i < 256; ++i) want.emplace_back(keys[i], i);
  std::stable_sort(want.begin(), want.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  Go("sort_radix", Arguments().Add(keys).Add(values), 1, 256);
  for (size_t i = 0; i < 256; ++i) {
    ASSERT_EQ(keys[i], want[i].first) << i;
    ASSERT_EQ(values[i], want[i].second) << i;
  }
}

INGOT_FOREIGN_VARIANTS(Rows);

}  // namespace
}  // namespace ingot::emulator
