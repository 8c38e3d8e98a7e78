// OpenCL-C kernels from clang at every optimisation level, against the host.
#include <cmath>
#include <random>

#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {
namespace {

class Foreign : public KernelFixture, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    Load("kernels_O" + std::to_string(GetParam()) + ".hsaco");
  }

  void Go(const std::string& kernel, const Arguments& args, uint32_t groups,
          uint32_t threads, uint32_t groups_y = 1, uint32_t threads_y = 1) {
    const LaunchConfig config{
        {groups, groups_y, 1}, {threads, threads_y, 1}, 0};
    for (const bool reverse : {false, true}) {
      Options options;
      options.reverse_waves = reverse;
      const RunResult r = Run(kernel, args, config, options);
      ASSERT_EQ(r.status, RunStatus::kOk) << r.report;
      if (kernel == "histogram") break;  // adds to its output
    }
  }

  std::mt19937_64 random_{1};
};

TEST_P(Foreign, VectorAdd) {
  const int n = 10007;
  float *a = Allocate<float>(n), *b = Allocate<float>(n),
        *c = Allocate<float>(n);
  for (int i = 0; i < n; ++i)
    a[i] = static_cast<float>(i) * 0.5f, b[i] = static_cast<float>(i) * 1.25f;
  Go("vadd", Arguments().Add(a).Add(b).Add(c).Add(n), 40, 256);
  for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
}

TEST_P(Foreign, Reduction) {
  const int n = 100000;
  float *a = Allocate<float>(n), *out = Allocate<float>(8);
  double want = 0, got = 0;
  for (int i = 0; i < n; ++i)
    want += static_cast<double>(a[i] = static_cast<float>(random_() % 1000) *
                                       0.01f);
  Go("reduce", Arguments().Add(a).Add(out).Add(n), 8, 256);
  for (int i = 0; i < 8; ++i) got += static_cast<double>(out[i]);
  EXPECT_NEAR(got, want, 1e-5 * want);
}

TEST_P(Foreign, Histogram) {
  const int n = 50000;
  auto* in = Allocate<uint8_t>(n);
  auto* bins = Allocate<uint32_t>(256);
  std::memset(bins, 0, 1024);
  std::vector<uint32_t> want(256);
  for (int i = 0; i < n; ++i)
    ++want[in[i] = static_cast<uint8_t>(random_() % 200)];
  Go("histogram", Arguments().Add(in).Add(bins).Add(n), 6, 128);
  EXPECT_EQ(std::vector<uint32_t>(bins, bins + 256), want);
}

TEST_P(Foreign, Softmax) {
  const int n = 1000, rows = 5;
  float *in = Allocate<float>(n * rows), *out = Allocate<float>(n * rows);
  for (int i = 0; i < n * rows; ++i)
    in[i] = static_cast<float>(random_() % 2000) * 0.01f - 10;
  Go("softmax", Arguments().Add(in).Add(out).Add(n), rows, 256);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += std::exp(static_cast<double>(in[r * n + i]));
    for (int i = 0; i < n; ++i) {
      const double want = std::exp(static_cast<double>(in[r * n + i])) / sum;
      ASSERT_NEAR(static_cast<double>(out[r * n + i]), want, 1e-5 * want)
          << r << " " << i;
    }
  }
}

TEST_P(Foreign, Transpose) {
  const int w = 50, h = 37;
  float *in = Allocate<float>(w * h), *out = Allocate<float>(w * h);
  for (int i = 0; i < w * h; ++i) in[i] = static_cast<float>(i);
  Go("transpose", Arguments().Add(in).Add(out).Add(w).Add(h), 4, 16, 3, 16);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) ASSERT_EQ(out[x * h + y], in[y * w + x]);
  }
}

TEST_P(Foreign, ScratchArrays) {
  int *index = Allocate<int>(256), *out = Allocate<int>(512);
  for (int i = 0; i < 256; ++i) index[i] = static_cast<int>(random_() % 1000);
  Go("scratchy", Arguments().Add(index).Add(out).Add(512), 2, 256);
  for (int g = 0; g < 512; ++g) {
    int a[64], sum = 0;
    for (int i = 0; i < 64; ++i) a[i] = i * 3 + g;
    for (int i = 0; i < 16; ++i) {
      const int j = index[(g + i) & 255] & 63, k = a[j];
      a[(j * 7) & 63] = k + 1;
    }
    for (int i = 0; i < 64; ++i) sum += a[i] * (i + 1);
    ASSERT_EQ(out[g], sum) << g;
  }
}

int64_t IntegerModel(int64_t sx, int64_t sy) {
  const uint64_t x = static_cast<uint64_t>(sx), y = static_cast<uint64_t>(sy);
  uint64_t r = x * y + static_cast<uint64_t>(sx / (sy | 1)) +
               static_cast<uint64_t>(sx % (sy | 1)) + x / (y | 3);
  r ^= static_cast<uint64_t>(
      int64_t{static_cast<int32_t>(sx) / (static_cast<int32_t>(sy) | 1)});
  r += static_cast<uint32_t>(x) % (static_cast<uint32_t>(y) | 5);
  const int s = static_cast<int>(y & 63);
  r = r << s | r >> ((64 - s) & 63);
  return static_cast<int64_t>(
      r + static_cast<uint64_t>(__builtin_popcountll(x)) +
      static_cast<uint64_t>(y != 0 ? __builtin_clzll(y) : 64));
}

TEST_P(Foreign, SixtyFourBitIntegers) {
  const int n = 512;
  int64_t *a = Allocate<int64_t>(n), *b = Allocate<int64_t>(n),
          *out = Allocate<int64_t>(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<int64_t>(random_() >> (random_() % 60)) *
           (i % 3 == 0 ? -1 : 1);
    b[i] = static_cast<int64_t>(random_() >> (random_() % 60));
  }
  Go("ints", Arguments().Add(a).Add(b).Add(out), 8, 64);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out[i], IntegerModel(a[i], b[i])) << a[i] << " " << b[i];
}

TEST_P(Foreign, FloatsDivideAndTakeRoots) {
  const int n = 512;
  double *a = Allocate<double>(n), *out = Allocate<double>(n);
  for (int i = 0; i < n; ++i) {
    a[i] = (static_cast<double>(random_() % 2000000) - 1000000) *
           (i > 400 ? 1e-43 : 1e-3);
  }
  Go("floats", Arguments().Add(a).Add(out), 8, 64);
  for (int i = 0; i < n; ++i) {
    const double x = a[i];
    const float f = static_cast<float>(x);
    const _Float16 h = static_cast<_Float16>(f);
    double want = x / 3.7 + std::sqrt(std::fabs(x));
    want += static_cast<double>(f / 1.3f) +
            static_cast<double>(std::sqrt(std::fabs(f))) +
            static_cast<double>(static_cast<float>(
                static_cast<_Float16>(h * static_cast<_Float16>(1.5f))));
    want += std::floor(x) + std::trunc(x);
    ASSERT_NEAR(out[i], want, 1e-6 * std::fabs(want) + 1e-44) << "x = " << x;
  }
}

TEST_P(Foreign, MatrixCore) {
  const int m = 64, n = 48, k = 128;
  uint16_t *a = Allocate<uint16_t>(m * k), *b = Allocate<uint16_t>(n * k);
  float* c = Allocate<float>(m * n);
  const auto fill = [this](uint16_t* p, int count,
                           std::vector<double>* values) {
    for (int i = 0; i < count; ++i) {
      const int v = static_cast<int>(random_() % 17) - 8;  // exact in bf16
      values->push_back(v);
      const float f = static_cast<float>(v);
      uint32_t bits;
      std::memcpy(&bits, &f, 4);
      p[i] = static_cast<uint16_t>(bits >> 16);
    }
  };
  std::vector<double> va, vb;
  fill(a, m * k, &va);
  fill(b, n * k, &vb);
  Go("mfma", Arguments().Add(a).Add(b).Add(c).Add(k), m / 16, 64, n / 16);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int q = 0; q < k; ++q)
        want += va[static_cast<size_t>(i * k + q)] *
                vb[static_cast<size_t>(j * k + q)];
      ASSERT_EQ(static_cast<double>(c[i * n + j]), want) << i << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Foreign, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace ingot::emulator
