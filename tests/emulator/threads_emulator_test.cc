// Results and statistics are the same for any number of host threads. (Float
// atomics of several workgroups on one place are not tried: their order is
// nobody's promise, here as on hardware.)
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/kernel_fixture.h"

namespace ingot::emulator {
namespace {

struct Outcome {
  std::string bytes;
  Statistics statistics;
};

class Threads : public KernelFixture {
 protected:
  void SetUp() override { Load("kernels_O3.hsaco"); }

  // What `kernel` leaves in `out_bytes` of its output, with so many threads.
  Outcome With(int threads, const std::string& kernel, const void* in,
               uint32_t out_bytes, int n, uint32_t groups) {
    char* out = Allocate<char>(out_bytes);
    std::fill_n(out, out_bytes, 0);
    LaunchConfig config;
    config.grid[0] = groups;
    config.block[0] = 256;
    Options options;
    options.threads = threads;
    const RunResult r =
        Run(kernel, Arguments().Add(in).Add(out).Add(n), config, options);
    EXPECT_EQ(r.status, RunStatus::kOk) << r.report;
    Outcome outcome{std::string(out, out_bytes), r.statistics};
    device_.memory().Free(out);
    return outcome;
  }

  void ExpectSame(const std::string& kernel, const void* in, uint32_t out_bytes,
                  int n, uint32_t groups) {
    const Outcome one = With(1, kernel, in, out_bytes, n, groups);
    EXPECT_GT(one.statistics.total(), 0u);
    EXPECT_NE(one.bytes, std::string(out_bytes, '\0'));
    for (const int threads : {2, 5}) {
      const Outcome many = With(threads, kernel, in, out_bytes, n, groups);
      EXPECT_EQ(many.bytes, one.bytes) << kernel << ", " << threads;
      EXPECT_EQ(many.statistics.waves, one.statistics.waves);
      EXPECT_TRUE(std::equal(std::begin(one.statistics.executed),
                             std::end(one.statistics.executed),
                             std::begin(many.statistics.executed)))
          << kernel << ", " << threads;
    }
  }
};

TEST_F(Threads, SumsOfFloats) {
  const int n = 100000, groups = 24;
  float* in = Allocate<float>(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i % 977) * 0.37f;
  ExpectSame("reduce", in, groups * sizeof(float), n, groups);
}

TEST_F(Threads, RowsOfSoftmax) {
  const int n = 1000, rows = 17;
  float* in = Allocate<float>(n * rows);
  for (int i = 0; i < n * rows; ++i)
    in[i] = static_cast<float>(i % 613) * 0.01f;
  ExpectSame("softmax", in, n * rows * sizeof(float), n, rows);
}

// Integers add up in any order.
TEST_F(Threads, AtomicCounts) {
  const int n = 50000;
  uint8_t* in = Allocate<uint8_t>(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<uint8_t>(i * 37 + i / 91);
  ExpectSame("histogram", in, 256 * sizeof(uint32_t), n, 13);
}

}  // namespace
}  // namespace ingot::emulator
