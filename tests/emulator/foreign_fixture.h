// Runs kernels that another compiler made: the objects of
// tests/data/emulator/foreign, each group of kernels in every variant.
#ifndef TESTS_EMULATOR_FOREIGN_FIXTURE_H_
#define TESTS_EMULATOR_FOREIGN_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/emulator/gzip_file.h"
#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {

inline float OfBf16(uint32_t bits) {
  const uint32_t word = bits << 16;
  float f;
  std::memcpy(&f, &word, sizeof(f));
  return f;
}

// `out` is the layer norm of each row of `in`, both bf16, within a rounding of
// 2^-8 and 1e-5.
inline void ExpectLayerNorm(const uint16_t* in, const float* weight,
                            const float* bias, float eps, int rows, int n,
                            const uint16_t* out) {
  for (int r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int i = 0; i < n; ++i) mean += double(OfBf16(in[r * n + i])) / n;
    for (int i = 0; i < n; ++i)
      variance += std::pow(double(OfBf16(in[r * n + i])) - mean, 2) / n;
    for (int i = 0; i < n; ++i) {
      const double want = (double(OfBf16(in[r * n + i])) - mean) /
                              std::sqrt(variance + double(eps)) *
                              double(weight[i]) +
                          double(bias[i]);
      ASSERT_NEAR(double(OfBf16(out[r * n + i])), want,
                  std::fabs(want) * 0x1p-8 + 1e-5)
          << r << " " << i;
    }
  }
}

// Parameters: the variant, and whether a group's waves run last to first.
class Foreign
    : public KernelFixture,
      public testing::WithParamInterface<std::tuple<const char*, bool>> {
 protected:
  static std::string Variant() { return std::get<0>(GetParam()); }

  void LoadGroup(const std::string& group) {
    LoadNamed(group + "_" + Variant());
  }
  void LoadNamed(const std::string& name) {
    const std::string object =
        ReadGzip("tests/data/emulator/foreign/" + name + ".hsaco.gz");
    LoadError error;
    std::string message;
    program_ = device_.Load(object.data(), object.size(), &error, &message);
    ASSERT_NE(program_, nullptr) << name << ": " << message;
  }

  // Poison between guards, which must stay as they are.
  template <class T>
  T* Buffer(size_t count) {
    const size_t bytes = count * sizeof(T);
    uint8_t* memory = Allocate<uint8_t>(bytes + 2 * kGuard);
    guards_.push_back({memory, bytes});
    return reinterpret_cast<T*>(memory + kGuard);
  }
  // A buffer whose item i is make(i).
  template <class T, class Make>
  T* Filled(size_t count, Make make) {
    T* buffer = Buffer<T>(count);
    for (size_t i = 0; i < count; ++i) buffer[i] = static_cast<T>(make(i));
    return buffer;
  }
  template <class T>
  T* Zeros(size_t count) {
    return Filled<T>(count, [](size_t) { return T{}; });
  }

  // Runs to the end or fails the test.
  void Go(const std::string& kernel, const Arguments& args,
          const LaunchConfig& config, Options options = Options()) {
    options.reverse_waves = std::get<1>(GetParam());
    const RunResult r = Run(kernel, args, config, options);
    ASSERT_EQ(r.status, RunStatus::kOk) << kernel << ": " << r.report;
  }
  void Go(const std::string& kernel, const Arguments& args, uint32_t groups,
          uint32_t threads) {
    LaunchConfig config;
    config.grid[0] = groups;
    config.block[0] = threads;
    Go(kernel, args, config);
  }

  int Random(int below) {
    return static_cast<int>(random_() % static_cast<unsigned>(below));
  }

  void TearDown() override {
    for (const Guarded& g : guards_) {
      const auto poison = [](uint8_t byte) { return byte == 0xa5; };
      EXPECT_TRUE(std::all_of(g.memory, g.memory + kGuard, poison))
          << "written below a buffer of " << g.bytes;
      const uint8_t* end = g.memory + kGuard + g.bytes;
      EXPECT_TRUE(std::all_of(end, end + kGuard, poison))
          << "written above a buffer of " << g.bytes;
    }
  }

  std::mt19937_64 random_{1};

 private:
  static constexpr size_t kGuard = 256;
  struct Guarded {
    const uint8_t* memory;
    size_t bytes;
  };
  std::vector<Guarded> guards_;
};

inline std::string ForeignName(
    const testing::TestParamInfo<std::tuple<const char*, bool>>& info) {
  return std::string(std::get<0>(info.param)) +
         (std::get<1>(info.param) ? "_reversed" : "");
}

// clang's levels, and its other instruction selector.
#define INGOT_FOREIGN_VARIANTS(suite)                                          \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Variants, suite,                                                         \
      testing::Combine(testing::Values("O0", "O1", "O2", "O3", "Os", "gisel"), \
                       testing::Bool()),                                       \
      ForeignName)

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_FOREIGN_FIXTURE_H_
