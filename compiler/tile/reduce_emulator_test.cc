#include "compiler/tile/reduce.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/kernel_harness.h"

namespace ingot::tile {
namespace {

using ::testing::Each;
using testing::RunKernel;

Value In(Builder& b, Type type) {
  return b.Load(type, Offset(b.Arg("in"), b.ThreadX() * type.Bytes()));
}

void Out(Builder& b, Value value) {
  b.Store(value, Offset(b.Arg("out"), b.ThreadX() * value.type().Bytes()));
}

// 2^-k steps make every partial sum exact, so any wrong lane shows.
std::vector<float> Inputs(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) {
    values[i] = static_cast<float>((i * 37 + 11) % 1021) / 8;
  }
  return values;
}

float Total(const std::vector<float>& values) {
  float total = 0;
  for (float value : values) total += value;
  return total;
}

TEST(ReduceTest, LanesOfAVector) {
  for (int lanes : {1, 2, 3, 6, 8}) {
    static int count;
    count = lanes;
    const auto body = [](Builder& b, const KernelSpec&) {
      Values scalars;
      for (int i = 0; i < count; ++i) {
        scalars.push_back(b.Load(kF32, Offset(b.Arg("in"), i * 4)));
      }
      Out(b, ReduceLanes(Pack(scalars), Sum));
      return absl::OkStatus();
    };
    const std::vector<float> in = Inputs(lanes);
    EXPECT_THAT(RunKernel<float>(body, 64, in, 64), Each(Total(in)));
  }
}

TEST(ReduceTest, SumOfAWave) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Out(b, ReduceWave(b, In(b, kF32), Sum));
    return absl::OkStatus();
  };
  const std::vector<float> in = Inputs(64);
  EXPECT_THAT(RunKernel<float>(body, 64, in, 64), Each(Total(in)));
}

TEST(ReduceTest, MaximumWhereverItLies) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Out(b, ReduceWorkgroup(b, In(b, kI32), b.I32(INT32_MIN), Max));
    return absl::OkStatus();
  };
  for (int at : {0, 15, 16, 31, 32, 63, 64, 100, 191}) {
    std::vector<int32_t> in(192, -7);
    in[at] = 3;
    EXPECT_THAT(RunKernel<int32_t>(body, 192, in, 192), Each(3)) << at;
  }
}

TEST(ReduceTest, SumOfEveryWorkgroupSize) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Out(b, ReduceWorkgroup(b, In(b, kF32), b.F32(0), Sum));
    return absl::OkStatus();
  };
  for (uint32_t threads = 64; threads <= 1024; threads += 64) {
    const std::vector<float> in = Inputs(static_cast<int>(threads));
    EXPECT_THAT(RunKernel<float>(body, threads, in, threads), Each(Total(in)))
        << threads;
  }
}

TEST(ScanTest, SumsBeforeEachLane) {
  const auto inclusive = [](Builder& b, const KernelSpec&) {
    Out(b, ScanWaveInclusive(b, In(b, kF32), b.F32(0), Sum));
    return absl::OkStatus();
  };
  const auto exclusive = [](Builder& b, const KernelSpec&) {
    Out(b, ScanWaveExclusive(b, In(b, kF32), b.F32(0), Sum));
    return absl::OkStatus();
  };
  const std::vector<float> in = Inputs(64);
  std::vector<float> with = in;
  for (int i = 1; i < 64; ++i) with[i] += with[i - 1];
  std::vector<float> without(1, 0.0f);
  without.insert(without.end(), with.begin(), with.end() - 1);
  EXPECT_EQ(RunKernel<float>(inclusive, 64, in, 64), with);
  EXPECT_EQ(RunKernel<float>(exclusive, 64, in, 64), without);
}

TEST(ScanTest, MaximaWhereverTheyLie) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Out(b, ScanWaveExclusive(b, In(b, kI32), b.I32(-100), Max));
    return absl::OkStatus();
  };
  for (int at : {0, 1, 14, 15, 16, 31, 32, 47, 48, 62, 63}) {
    std::vector<int32_t> in(64, -7);
    in[at] = 3;
    std::vector<int32_t> wanted(64, -7);
    wanted[0] = -100;
    for (int i = at + 1; i < 64; ++i) wanted[i] = 3;
    EXPECT_EQ(RunKernel<int32_t>(body, 64, in, 64), wanted) << at;
  }
}

TEST(ReduceTest, TwiceInOneKernel) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value first = ReduceWorkgroup(b, In(b, kF32), b.F32(0), Sum);
    Value second = ReduceWorkgroup(b, first, b.F32(0), Sum);
    Out(b, second);
    return absl::OkStatus();
  };
  const std::vector<float> in(128, 0.5f);
  EXPECT_THAT(RunKernel<float>(body, 128, in, 128), Each(64.0f * 128));
}

}  // namespace
}  // namespace ingot::tile
