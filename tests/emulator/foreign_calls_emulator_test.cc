// HIP kernels of clang's in C++: see foreign/calls.hip.
#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Calls : public Foreign {
 protected:
  void SetUp() override { LoadGroup("calls"); }
};

TEST_P(Calls, ThroughATable) {
  const int* in = Filled<int>(256, [this](size_t) { return Random(1000); });
  int* out = Buffer<int>(256);
  Go("call_table", Arguments().Add(in).Add(out), 2, 128);
  for (int i = 0; i < 256; ++i) {
    const int x = in[i];
    uint32_t want = 0;
    uint32_t kept[8];
    for (int n = 0; n < 8; ++n)
      kept[(n * 3 + x) & 7] = static_cast<uint32_t>(n * x);
    for (const uint32_t k : kept) want = want * 3 + k;
    const int results[] = {2 * x, x * x, -x, static_cast<int>(want)};
    ASSERT_EQ(out[i], results[x & 3] + 1) << x;
  }
}

TEST_P(Calls, VirtualFunctions) {
  const int* in = Filled<int>(128, [this](size_t) { return Random(16); });
  float* out = Buffer<float>(128);
  Go("call_virtual", Arguments().Add(in).Add(out), 1, 128);
  for (int i = 0; i < 128; ++i) {
    const int x = in[i];
    ASSERT_EQ(static_cast<double>(out[i]),
              (x & 8) != 0 ? x * 6.0 : (x & 7) * 1.5)
        << x;
  }
}

TEST_P(Calls, GlobalsStayFromLaunchToLaunch) {
  int* out = Buffer<int>(64);
  int want[4] = {10, 20, 30, 40};
  for (int launch = 0; launch < 2; ++launch) {
    Go("globals", Arguments().Add(out), 1, 64);
    for (int place = 0; place < 4; ++place) {
      std::vector<int> got, steps;
      for (int i = place; i < 64; i += 4) {
        got.push_back(out[i]);
        steps.push_back(want[place]);
        want[place] += place % 2 == 0 ? 3 : -7;
      }
      std::sort(got.begin(), got.end());
      std::sort(steps.begin(), steps.end());
      EXPECT_EQ(got, steps) << "place " << place << " launch " << launch;
    }
  }
}

TEST_P(Calls, StructuresByValueAndSharedMemoryOfTheLaunch) {
  struct Parameters {
    char step;
    short first;
    double scale;
    int bias[3];
  };
  const Parameters p = {-3, 1000, 0.25, {7, -8, 9}};
  const uint32_t threads = 96, groups = 2;
  double* out = Buffer<double>(threads * groups);
  LaunchConfig config;
  config.grid[0] = groups;
  config.block[0] = threads;
  config.dynamic_lds = threads * 8;
  // 32 bytes, aligned to 8, and the pointer behind them.
  static_assert(sizeof(Parameters) == 32);
  Arguments args;
  for (size_t at = 0; at < sizeof(p); ++at)
    args.Add(reinterpret_cast<const uint8_t*>(&p)[at]);
  Go("rotate", args.Add(out), config);
  for (uint32_t i = 0; i < threads * groups; ++i) {
    const uint32_t source = i / threads * threads + (i % threads + 5) % threads;
    const double value = (1000 - 3 * static_cast<int>(source)) * 0.25;
    ASSERT_EQ(out[i], value + 0 + 1 + 2 + 3 + 4 + p.bias[i % 3]) << i;
  }
}

INGOT_FOREIGN_VARIANTS(Calls);

}  // namespace
}  // namespace ingot::emulator
