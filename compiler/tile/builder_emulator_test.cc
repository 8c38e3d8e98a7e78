// What the builder's operations do, executed.
#include <cmath>
#include <numeric>

#include "compiler/tile/builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/kernel_harness.h"

namespace ingot::tile {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::RunKernel;

Value In(Builder& b, Type type) {
  return b.Load(type, Offset(b.Arg("in"), b.ThreadX() * type.Bytes()));
}

void Out(Builder& b, Value value) {
  b.Store(value, Offset(b.Arg("out"), b.ThreadX() * value.type().Bytes()));
}

void OutAt(Builder& b, int index, Value value) {
  b.Store(value, Offset(b.Arg("out"), index * value.type().Bytes()));
}

std::vector<int32_t> Iota(size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(BuilderEmulatorTest, IntegerArithmetic) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value a = b.Load(kI32, b.Arg("in"));
    const Value results[] = {a + 3, a - 9,         a * -2,       a / 3,  a % 3,
                             a & 6, a | 8,         a ^ 5,        a << 2, a >> 1,
                             -a,    Min(a, a - 9), Max(a, a - 9)};
    int index = 0;
    for (Value result : results) OutAt(b, index++, result);
    return absl::OkStatus();
  };
  EXPECT_THAT(RunKernel<int32_t>(body, 64, std::vector<int32_t>{7}, 13),
              ElementsAre(10, -2, -14, 2, 1, 6, 15, 2, 28, 3, -7, -2, 7));
}

TEST(BuilderEmulatorTest, DivisionAndShiftAreUnsignedComparisonsSigned) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value a = b.Load(kI32, b.Arg("in"));
    OutAt(b, 0, a / 16);
    OutAt(b, 1, a >> 28);
    OutAt(b, 2, Convert(a < 0, kI32));
    OutAt(b, 3, Convert(ULt(a, b.I32(0)), kI32));
    OutAt(b, 4, Convert(a >= 0, kI32));
    return absl::OkStatus();
  };
  EXPECT_THAT(RunKernel<int32_t>(body, 64, std::vector<int32_t>{-1}, 5),
              ElementsAre(0x0fffffff, 15, 1, 0, 0));
}

TEST(BuilderEmulatorTest, FloatArithmetic) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value a = b.Load(kF32, b.Arg("in"));
    const Value results[] = {Fma(a, a, b.F32(1)),
                             a / 2.0,
                             -a,
                             Abs(-a),
                             Rcp(a),
                             Rsq(a),
                             Sqrt(a),
                             Exp2(a),
                             Log2(a)};
    int index = 0;
    for (Value result : results) OutAt(b, index++, result);
    return absl::OkStatus();
  };
  EXPECT_THAT(RunKernel<float>(body, 64, std::vector<float>{4}, 9),
              ElementsAre(17, 2, -4, 4, 0.25f, 0.5f, 2, 16, 2));
}

TEST(BuilderEmulatorTest, ComparisonsWithNanAreFalse) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value nan = b.Load(kF32, b.Arg("in"));
    Value one = b.F32(1);
    const Value results[] = {nan<one, nan <= one, nan> one, nan >= one,
                             nan == nan, nan != nan};
    int index = 0;
    for (Value result : results) OutAt(b, index++, Convert(result, kI32));
    return absl::OkStatus();
  };
  EXPECT_THAT(RunKernel<int32_t>(body, 64, std::vector<float>{NAN}, 6),
              ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(BuilderEmulatorTest, Conversions) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value a = b.Load(Vec(kF32, 2), b.Arg("in"));
    OutAt(b, 0, Bitcast(Convert(a, kBF16), kI32));
    OutAt(b, 1, Bitcast(Convert(a, kF16), kI32));
    OutAt(b, 2, Convert(Extract(a, 1), kI32));
    OutAt(b, 3, Bitcast(Convert(b.I32(-3), kF32), kI32));
    Value byte = Convert(b.Load(kI32, b.Arg("in")), kI8);
    OutAt(b, 4, Convert(byte, kI32));
    OutAt(b, 5, SignExtend(byte, kI32));
    return absl::OkStatus();
  };
  // 1 + 2^-8 is halfway between neighbours of bf16: to the even one.
  const std::vector<float> in = {1.00390625f, -2.5f};
  EXPECT_THAT(RunKernel<int32_t>(body, 64, in, 6),
              ElementsAre(static_cast<int32_t>(0xc0203f80),
                          static_cast<int32_t>(0xc1003c04), -2,
                          static_cast<int32_t>(0xc0400000), 0, 0));
}

TEST(BuilderEmulatorTest, Lanes) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value v = b.Load(Vec(kI32, 4), b.Arg("in"));
    OutAt(b, 0, Extract(v, 2));
    OutAt(b, 1, Extract(Insert(v, b.I32(50), 1), 1));
    OutAt(b, 1, Shuffle(v, v + 100, {3, 4}));
    OutAt(b, 2, Slice(v, 2, 2));
    OutAt(b, 3, Slice(Concat(Slice(v, 0, 2), Slice(v, 2, 2)), 1, 2));
    OutAt(b, 8, Extract(Splat(b.I32(9), 3), 2));
    return absl::OkStatus();
  };
  const auto out =
      RunKernel<int32_t>(body, 64, std::vector<int32_t>{10, 20, 30, 40}, 9);
  EXPECT_EQ(out[0], 30);
  EXPECT_EQ(out[2], 40);
  EXPECT_EQ(out[3], 110);
  EXPECT_EQ(out[4], 30);
  EXPECT_EQ(out[6], 20);
  EXPECT_EQ(out[8], 9);
}

TEST(BuilderEmulatorTest, IfPicksASide) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value lane = b.ThreadX();
    const Values picked = b.If(
        lane < 10, [&]() -> Values { return {lane * 2, b.F32(1)}; },
        [&]() -> Values { return {lane, b.F32(2)}; });
    b.If(lane != 5, [&] { Out(b, picked[0] + Convert(picked[1], kI32)); });
    return absl::OkStatus();
  };
  const auto out = RunKernel<int32_t>(body, 64, Iota(1), 64);
  EXPECT_EQ(out[3], 7);
  EXPECT_EQ(out[5], static_cast<int32_t>(0xa5a5a5a5));
  EXPECT_EQ(out[20], 22);
}

TEST(BuilderEmulatorTest, ForRunsFromZeroTimesOn) {
  const auto body = [](Builder& b, const KernelSpec&) {
    const Values sum =
        b.For(b.I32(0), b.Arg("n"), 3, {b.I32(1000)},
              [&](Value i, absl::Span<const Value> carried) -> Values {
                return {carried[0] + i};
              });
    OutAt(b, 0, sum[0]);
    return absl::OkStatus();
  };
  for (const auto& [n, want] : std::vector<std::pair<int, int>>{
           {0, 1000}, {1, 1000}, {4, 1003}, {10, 1018}}) {
    EXPECT_EQ(RunKernel<int32_t>(body, 64, Iota(1), 1, n)[0], want) << n;
  }
}

TEST(BuilderEmulatorTest, RepeatRunsAtLeastOnceAndNests) {
  const auto body = [](Builder& b, const KernelSpec&) {
    const Values result = b.Repeat(
        {b.I32(0), b.I32(0)}, [&](absl::Span<const Value> outer) -> Round {
          const Values inner = b.Repeat(
              {b.I32(0), outer[1]}, [&](absl::Span<const Value> v) -> Round {
                return {v[0] + 1 < 4, {v[0] + 1, v[1] + 1}};
              });
          return {outer[0] + 1 < b.Arg("n"), {outer[0] + 1, inner[1]}};
        });
    OutAt(b, 0, result[1]);
    return absl::OkStatus();
  };
  EXPECT_EQ(RunKernel<int32_t>(body, 64, Iota(1), 1, 0)[0], 4);
  EXPECT_EQ(RunKernel<int32_t>(body, 64, Iota(1), 1, 5)[0], 20);
}

TEST(BuilderEmulatorTest, BuffersAreBounded) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value in = b.Buffer(b.Arg("in"), b.I64(32));
    Value out = b.Buffer(b.Arg("out"), b.I64(160));
    Value offset = b.ThreadX() * 4;
    Value loaded = b.BufferLoad(kI32, in, offset, b.I32(0));
    b.BufferStore(loaded + 1, out, offset, b.I32(0), kStream);
    return absl::OkStatus();
  };
  const auto out = RunKernel<int32_t>(body, 64, Iota(64), 64);
  EXPECT_EQ(out[7], 8);
  EXPECT_EQ(out[8], 1);  // beyond the input: 0
  EXPECT_EQ(out[39], 1);
  EXPECT_EQ(out[40], static_cast<int32_t>(0xa5a5a5a5));  // dropped
}

TEST(BuilderEmulatorTest, LdsExchangesBetweenWaves) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value lds = b.Lds("exchange", 256 * 4, 4);
    Value t = b.ThreadX();
    b.Store(In(b, kI32), Offset(lds, t * 4));
    b.SyncWorkgroup();
    Out(b, b.Load(kI32, Offset(lds, (b.I32(255) - t) * 4)));
    return absl::OkStatus();
  };
  const auto out = RunKernel<int32_t>(body, 256, Iota(256), 256);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], 255 - i);
}

// A wave fetches 1 KiB into LDS, both from `kAt` on, and puts it out.
template <int kAt>
absl::Status FetchAt(Builder& b, const KernelSpec&) {
  Value lds = b.Lds("stage", kAt + 1024);
  const AliasScope dma = b.NewAliasScope("dma");
  Value buffer = b.Buffer(b.Arg("in"), b.I64(kAt + 1024));
  b.BufferLoadToLds(buffer, lds, 16, b.LaneId() * 16, b.I32(0), kAt, kCached,
                    {.in = dma});
  b.Wait({.vm = 0});
  b.Barrier();
  const Value read = Offset(lds, b.LaneId() * 16 + kAt);
  Out(b, b.Load(Vec(kI32, 4), read, {.not_in = dma}));
  return absl::OkStatus();
}

TEST(BuilderEmulatorTest, DmaFillsLds) {
  EXPECT_EQ(RunKernel<int32_t>(FetchAt<0>, 64, Iota(256), 256), Iota(256));
}

TEST(BuilderEmulatorTest, AnOffsetMovesBothPlacesOfADma) {
  const std::vector<int32_t> all = Iota(512);
  EXPECT_EQ(RunKernel<int32_t>(FetchAt<1024>, 64, all, 256),
            std::vector<int32_t>(all.begin() + 256, all.end()));
}

TEST(BuilderEmulatorTest, LaneOperations) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value lane = b.LaneId();
    const Value results[] = {
        b.ReadFirstLane(lane + 5), b.ReadLane(lane, b.I32(17)),
        b.Dpp(lane, lane, 0xB1),  // neighbours in pairs
        b.Bpermute(lane, lane ^ 32), b.Swizzle(lane, 0x041f) /* xor 1 */};
    for (int i = 0; i < 5; ++i) {
      b.Store(results[i], Offset(b.Arg("out"), (lane * 5 + i) * 4));
    }
    return absl::OkStatus();
  };
  const auto out = RunKernel<int32_t>(body, 64, Iota(1), 64 * 5);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_THAT(std::vector<int32_t>(out.begin() + lane * 5,
                                     out.begin() + lane * 5 + 5),
                ElementsAre(5, 17, lane ^ 1, lane ^ 32, lane ^ 1));
  }
}

TEST(BuilderEmulatorTest, PermlaneSwapsExchangeHalves) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value lane = b.LaneId();
    const auto [low, high] = b.Permlane32Swap(lane, lane + 100);
    const auto [even, odd] = b.Permlane16Swap(lane, lane + 100);
    const Value results[] = {low, high, even, odd};
    for (int i = 0; i < 4; ++i) {
      b.Store(results[i], Offset(b.Arg("out"), (lane * 4 + i) * 4));
    }
    return absl::OkStatus();
  };
  const auto out = RunKernel<int32_t>(body, 64, Iota(1), 64 * 4);
  const auto at = [&](int lane, int i) { return out[lane * 4 + i]; };
  EXPECT_EQ(at(3, 0), 3);     // a's lower half stays
  EXPECT_EQ(at(40, 0), 108);  // its upper half is b's lower one
  EXPECT_EQ(at(3, 1), 35);    // b's lower half is a's upper one
  EXPECT_EQ(at(40, 1), 140);
  EXPECT_EQ(at(3, 2), 3);
  EXPECT_EQ(at(20, 2), 104);
  EXPECT_EQ(at(3, 3), 19);
}

// D = A * B with A the identity: a lane's part of D is B as the layouts say.
TEST(BuilderEmulatorTest, MatrixInstruction) {
  const auto body = [](Builder& b, const KernelSpec&) {
    Value lane = b.LaneId();
    Value a = b.Zero(Vec(kBF16, 8));
    for (int i = 0; i < 8; ++i) {
      // Row lane % 16, column 8 * (lane / 16) + i.
      Value on = (lane & 15) == (lane >> 4) * 8 + i;
      a = Insert(a, Select(on, b.Const(kBF16, 1.0), b.Const(kBF16, 0.0)), i);
    }
    Value b_fragment = b.Load(Vec(kBF16, 8), Offset(b.Arg("in"), lane * 16));
    Value c = b.Zero(Vec(kF32, 4));
    Out(b, b.Mfma({16, 16, 32}, a, b_fragment, c));
    return absl::OkStatus();
  };
  // B[k][n] = 16 * k + n for k < 8, as bf16; lane = n + 16 * (k / 8), element k
  // % 8.
  std::vector<uint16_t> in(64 * 8, 0);
  for (int n = 0; n < 16; ++n) {
    for (int k = 0; k < 8; ++k) {
      const float value = static_cast<float>(16 * k + n);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      in[n * 8 + k] = static_cast<uint16_t>(bits >> 16);
    }
  }
  const auto out = RunKernel<float>(body, 64, in, 64 * 4);
  for (int lane = 0; lane < 64; ++lane) {
    for (int j = 0; j < 4; ++j) {
      const int row = 4 * (lane / 16) + j;
      EXPECT_EQ(out[lane * 4 + j], row < 8 ? 16 * row + lane % 16 : 0);
    }
  }
}

TEST(BuilderEmulatorTest, AtomicsCountAcrossWaves) {
  const auto body = [](Builder& b, const KernelSpec&) {
    b.If(b.ThreadX() == 0, [&] { OutAt(b, 0, b.I32(100)); });
    b.DeviceRelease();
    b.SyncWorkgroup();
    b.DeviceAcquire();
    b.If(b.LaneId() == 0, [&] { b.AtomicAdd(b.Arg("out"), b.I32(1)); });
    return absl::OkStatus();
  };
  EXPECT_EQ(RunKernel<int32_t>(body, 256, Iota(1), 1)[0], 104);
}

}  // namespace
}  // namespace ingot::tile
