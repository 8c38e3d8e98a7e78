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
