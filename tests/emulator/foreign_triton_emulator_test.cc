// Triton's code objects: see foreign/triton/build.py. Their last two arguments
// point to scratch memory that these kernels do not use.
#include <cmath>
#include <fstream>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Triton : public Foreign {
 protected:
  // Loads a kernel and runs it with what Triton said of its launch.
  void Launch(const std::string& name, Arguments args, uint32_t groups_x,
              uint32_t groups_y = 1) {
    std::ifstream list("tests/data/emulator/foreign/triton/kernels.txt");
    std::string found, symbol;
    uint32_t warps = 0, lds = 0;
    while (list >> found >> symbol >> warps >> lds && found != name) {
    }
    ASSERT_EQ(found, name);
    LoadNamed("triton/" + name);
    LaunchConfig config;
    config.grid[0] = groups_x;
    config.grid[1] = groups_y;
    config.block[0] = warps * 64;
    config.dynamic_lds = lds;
    Go(symbol, args.Add(uint64_t{0}).Add(uint64_t{0}), config);
  }

  // Small whole numbers, exact in each of the types; `code` makes the bits.
  template <class T, class Code>
  T* Small(size_t count, std::vector<double>* values, Code code) {
    return Filled<T>(count, [&](size_t) {
      const int value = Random(9) - 4;
      values->push_back(value);
      return code(value);
    });
  }

  template <class T, class Code>
  void Matmul(const std::string& name, Code code) {
    const int m = 150, n = 70, k = 200;
    std::vector<double> a, b;
    const T* pa = Small<T>(m * k, &a, code);
    const T* pb = Small<T>(n * k, &b, code);
    float* d = Buffer<float>(m * n);
    Launch(name, Arguments().Add(pa).Add(pb).Add(d).Add(m).Add(n).Add(k), 3, 3);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double want = 0;
        for (int x = 0; x < k; ++x)
          want += a[static_cast<size_t>(i * k + x)] *
                  b[static_cast<size_t>(j * k + x)];
        ASSERT_EQ(static_cast<double>(d[i * n + j]), want)
            << name << " " << i << " " << j;
      }
    }
  }
};

TEST_P(Triton, VectorAdd) {
  const int n = 5001;
  const auto value = [this](size_t) { return static_cast<float>(Random(999)); };
  const float *x = Filled<float>(n, value), *y = Filled<float>(n, value);
  float* out = Buffer<float>(n);
  Launch("vector_add", Arguments().Add(x).Add(y).Add(out).Add(n), 5);
  for (int i = 0; i < n; ++i) ASSERT_EQ(out[i], x[i] + y[i]) << i;
}

TEST_P(Triton, Softmax) {
  const int rows = 3, n = 781;
  const float* x = Filled<float>(rows * n, [this](size_t) {
    return static_cast<float>(Random(2000)) * 0.01f - 10;
  });
  float* out = Buffer<float>(rows * n);
  Launch("softmax", Arguments().Add(x).Add(out).Add(n), rows);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(double(x[r * n + i]));
    for (int i = 0; i < n; ++i) {
      const double want = std::exp(double(x[r * n + i])) / sum;
      ASSERT_NEAR(double(out[r * n + i]), want, want * 1e-5) << r << " " << i;
    }
  }
}

TEST_P(Triton, LayerNorm) {
  const int rows = 3, n = 1501;
  const float eps = 1e-5f;
  const uint16_t* x = Filled<uint16_t>(rows * n, [this](size_t) {
    return 0x3f80 + Random(256) + (Random(2) << 15);
  });
  const auto small = [this](size_t) {
    return static_cast<float>(Random(200) - 100) * 0.01f;
  };
  const float *weight = Filled<float>(n, small),
              *bias = Filled<float>(n, small);
  uint16_t* out = Buffer<uint16_t>(rows * n);
  Launch("layer_norm",
         Arguments().Add(x).Add(weight).Add(bias).Add(out).Add(n).Add(eps),
         rows);
  ExpectLayerNorm(x, weight, bias, eps, rows, n, out);
}

TEST_P(Triton, ColumnSums) {
  const int rows = 203, n = 51;
  const int* x =
      Filled<int>(rows * n, [this](size_t) { return Random(1000) - 500; });
  int* out = Zeros<int>(n);
  Launch("column_sums", Arguments().Add(x).Add(out).Add(rows).Add(n), 4);
  for (int i = 0; i < n; ++i) {
    int want = 0;
    for (int r = 0; r < rows; ++r) want += x[r * n + i];
    ASSERT_EQ(out[i], want) << i;
  }
}

// -4 to 4 as fp8 (e4m3) and bf8 (e5m2).
constexpr uint8_t kFp8[] = {0xc8, 0xc4, 0xc0, 0xb8, 0, 0x38, 0x40, 0x44, 0x48};
constexpr uint8_t kBf8[] = {0xc4, 0xc2, 0xc0, 0xbc, 0, 0x3c, 0x40, 0x42, 0x44};

TEST_P(Triton, Matmuls) {
  Matmul<uint16_t>("matmul_bf16", [](int v) {
    const float f = static_cast<float>(v);
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof(bits));
    return bits >> 16;
  });
  Matmul<_Float16>("matmul_f16", [](int v) { return v; });
  Matmul<uint8_t>("matmul_fp8", [](int v) { return kFp8[v + 4]; });
  Matmul<uint8_t>("matmul_bf8", [](int v) { return kBf8[v + 4]; });
}

TEST_P(Triton, ScaledMatmulOfFourBits) {
  static constexpr double kFp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const int m = 64, n = 128, k = 256;
  const auto codes = [this](size_t count) {
    return Filled<uint8_t>(count, [this](size_t) { return random_(); });
  };
  const auto scales = [this](size_t count) {
    return Filled<uint8_t>(count, [this](size_t) { return 125 + Random(5); });
  };
  const uint8_t *a = codes(m * k / 2), *b = codes(n * k / 2),
                *sa = scales(m * k / 32), *sb = scales(n * k / 32);
  float* d = Buffer<float>(m * n);
  Launch("scaled_matmul",
         Arguments().Add(a).Add(sa).Add(b).Add(sb).Add(d).Add(n).Add(k), 1, 2);
  const auto value = [](const uint8_t* codes, const uint8_t* scales, int at) {
    const int code = codes[at / 2] >> 4 * (at % 2) & 15;
    const double v = std::ldexp(kFp4[code & 7], scales[at / 32] - 127);
    return code > 7 ? -v : v;
  };
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int x = 0; x < k; ++x)
        want += value(a, sa, i * k + x) * value(b, sb, j * k + x);
      ASSERT_EQ(double(d[i * n + j]), want) << i << " " << j;
    }
  }
}

TEST_P(Triton, CausalAttention) {
  const int n = 150, width = 64;
  const float scale = 0.125f;
  const auto values = [this] {
    return Filled<uint16_t>(n * width, [this](size_t) {
      return 0x3e00 + Random(0x180) + (Random(2) << 15);
    });
  };
  const uint16_t *q = values(), *k = values(), *v = values();
  float* out = Buffer<float>(n * width);
  Launch("attention",
         Arguments().Add(q).Add(k).Add(v).Add(out).Add(n).Add(scale), 3, 1);
  for (int i = 0; i < n; ++i) {
    std::vector<double> p;
    double sum = 0;
    for (int j = 0; j <= i; ++j) {
      double s = 0;
      for (int x = 0; x < width; ++x)
        s +=
            double(OfBf16(q[i * width + x])) * double(OfBf16(k[j * width + x]));
      p.push_back(std::exp(s * double(scale)));
      sum += p.back();
    }
    for (int x = 0; x < width; ++x) {
      double want = 0, size = 0;
      for (int j = 0; j <= i; ++j) {
        const double term =
            p[static_cast<size_t>(j)] / sum * double(OfBf16(v[j * width + x]));
        want += term;
        size += std::fabs(term);
      }
      // The probabilities are rounded to bf16 before they meet V.
      ASSERT_NEAR(double(out[i * width + x]), want, size * 0x1p-8 + 1e-6)
          << i << " " << x;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Objects, Triton,
                         testing::Combine(testing::Values("triton"),
                                          testing::Bool()),
                         ForeignName);

}  // namespace
}  // namespace ingot::emulator
