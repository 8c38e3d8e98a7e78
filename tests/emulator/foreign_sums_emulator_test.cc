// Sums, scans and histograms of clang's: see foreign/sums.cl.
#include <numeric>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Sums : public Foreign {
 protected:
  void SetUp() override { LoadGroup("sums"); }

  int* Integers(int n) {
    return Filled<int>(static_cast<size_t>(n),
                       [this](size_t) { return Random(2001) - 1000; });
  }
};

// Each wave adds what its lanes gathered; every place of `out` is written.
TEST_P(Sums, AcrossTheLanesOfAWave) {
  const int n = 5003, groups = 3, threads = 192;
  const int* in = Integers(n);
  for (const char* kernel : {"sum_swizzle", "sum_bpermute", "sum_permute",
                             "sum_swaps", "sum_mirrors"}) {
    int* out = Buffer<int>(9);
    Go(kernel, Arguments().Add(in).Add(out).Add(n), groups, threads);
    for (int wave = 0; wave < 9; ++wave) {
      int want = 0;
      for (int i = 0; i < n; ++i) {
        if (i % (groups * threads) / 64 == wave) want += in[i];
      }
      ASSERT_EQ(out[wave], want) << kernel << " wave " << wave;
    }
  }
}

TEST_P(Sums, ByAtomics) {
  const int n = 4001;
  const int* in = Integers(n);
  int* out = Zeros<int>(1);
  Go("sum_atomic", Arguments().Add(in).Add(out).Add(n), 5, 100);
  EXPECT_EQ(*out, std::accumulate(in, in + n, 0));
}

TEST_P(Sums, ByATreeInLds) {
  const int n = 20011;
  const float* in = Filled<float>(
      n, [this](size_t) { return static_cast<float>(Random(64)) * 0.25f; });
  float* out = Buffer<float>(7);
  Go("sum_tree", Arguments().Add(in).Add(out).Add(n), 7, 256);
  // Multiples of a quarter below 2^24: exact in any order.
  EXPECT_EQ(std::accumulate(out, out + 7, 0.0f),
            std::accumulate(in, in + n, 0.0f));
}

TEST_P(Sums, TheLastGroupAddsTheOthersParts) {
  const int n = 30007, groups = 13;
  const int* in = Integers(n);
  int *parts = Buffer<int>(groups), *out = Zeros<int>(1);
  uint32_t* arrived = Zeros<uint32_t>(1);
  Go("sum_last_group",
     Arguments().Add(in).Add(parts).Add(arrived).Add(out).Add(n), groups, 256);
  EXPECT_EQ(*arrived, uint32_t{groups});
  EXPECT_EQ(*out, std::accumulate(in, in + n, 0));
}

TEST_P(Sums, InclusiveScan) {
  const int n = 256 * 4 - 77;
  const int* in = Integers(n);
  int* out = Buffer<int>(n);
  Go("scan_tree", Arguments().Add(in).Add(out).Add(n), 4, 256);
  for (int i = 0, sum = 0; i < n; ++i) {
    sum = (i % 256 == 0 ? 0 : sum) + in[i];
    ASSERT_EQ(out[i], sum) << i;
  }
}

TEST_P(Sums, ExclusiveScanOverWaves) {
  const int n = 320 * 3 - 101;
  const int* in = Integers(n);
  int* out = Buffer<int>(n);
  Go("scan_waves", Arguments().Add(in).Add(out).Add(n), 3, 320);
  for (int i = 0, sum = 0; i < n; ++i) {
    if (i % 320 == 0) sum = 0;
    ASSERT_EQ(out[i], sum) << i;
    sum += in[i];
  }
}

TEST_P(Sums, Histograms) {
  const int n = 9973;
  const uint8_t* in =
      Filled<uint8_t>(n, [this](size_t) { return Random(16) * Random(16); });
  std::vector<uint32_t> want(256);
  for (int i = 0; i < n; ++i) ++want[in[i]];
  for (const char* kernel :
       {"histogram_local", "histogram_global", "histogram_dynamic"}) {
    uint32_t* bins = Zeros<uint32_t>(256);
    LaunchConfig config;
    config.grid[0] = 4;
    config.block[0] = 96;
    Arguments args;
    args.Add(in).Add(bins);
    if (std::string(kernel) == "histogram_dynamic") {
      config.dynamic_lds = 1024;
      args.Add(uint32_t{0});  // where in LDS
    }
    Go(kernel, args.Add(n), config);
    EXPECT_EQ(std::vector<uint32_t>(bins, bins + 256), want) << kernel;
  }
}

INGOT_FOREIGN_VARIANTS(Sums);

}  // namespace
}  // namespace ingot::emulator
