// What the builder's code becomes: the forms that hot loops rely on, and what
// misuse does.
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/compile_body.h"
#include "compiler/tile/builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::tile {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

KernelSpec SpecOf(uint32_t threads, std::vector<Param> codegen = {}) {
  KernelSpec spec;
  spec.op = "test";
  spec.symbol = "ingot_test";
  spec.target = "gfx950";
  spec.workgroup = {threads, 1, 1};
  spec.lds_bytes = 65536;
  spec.codegen = std::move(codegen);
  spec.args = {{"in", KernelArg::kOperand, 0, 8, Expr::Const(0)},
               {"out", KernelArg::kOperand, 1, 8, Expr::Const(0)},
               {"n", KernelArg::kInteger, 0, 4, Expr::DimAt(0)}};
  return spec;
}

std::vector<std::string> Code(const KernelSpec& spec, BodyFunction body) {
  const absl::StatusOr<CompiledKernel> compiled = CompileBody(spec, body);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return {};
  return absl::StrSplit(Disassemble(compiled->object).value_or(""), '\n');
}

// The instructions of the only backward branch's loop, without addresses.
std::vector<std::string> LoopOf(const std::vector<std::string>& code) {
  std::vector<std::string> loop;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].find("s_cbranch_") == std::string::npos) continue;
    const int64_t words = std::stoll(code[i].substr(code[i].rfind(' ') + 1));
    if (words < 32768) continue;  // forward
    const int64_t target =
        std::stoll(code[i].substr(0, 8), nullptr, 16) + 4 + (words - 65536) * 4;
    EXPECT_TRUE(loop.empty()) << "more than one loop";
    for (size_t j = 1; j <= i; ++j) {
      if (std::stoll(code[j].substr(0, 8), nullptr, 16) >= target) {
        loop.push_back(code[j].substr(code[j].find('\t') + 1));
      }
    }
  }
  return loop;
}

int Count(const std::vector<std::string>& code, absl::string_view text) {
  int count = 0;
  for (const std::string& line : code) {
    count += line.find(std::string(text)) != std::string::npos;
  }
  return count;
}

// Vector instructions that are no matrix ones.
std::vector<std::string> VectorWork(const std::vector<std::string>& code) {
  std::vector<std::string> found;
  for (const std::string& line : code) {
    if (absl::StartsWith(line, "v_") && !absl::StartsWith(line, "v_mfma")) {
      found.push_back(line);
    }
  }
  return found;
}

// Sixteen accumulators in AGPRs over a DMA-fed stage: a hot loop in small.
absl::Status BuildHotLoop(Builder& b, const KernelSpec&) {
  Value lds = b.Lds("stage", 8192);
  const AliasScope dma = b.NewAliasScope("dma");
  Value buffer = b.Buffer(b.Arg("in"), b.I64(int64_t{1} << 20));
  Value lane_offset = b.LaneId() * 16;
  Value read = Offset(lds, b.Opaque(lane_offset, RegisterClass::kVgpr));
  Value zero = b.Opaque(b.Zero(Vec(kF32, 4)), RegisterClass::kAgpr);
  constexpr int kAccumulators = 16;
  Values initial = {b.I32(0), b.Arg("n")};
  initial.insert(initial.end(), kAccumulators, zero);
  const Values results =
      b.Repeat(initial, [&](absl::Span<const Value> v) -> Round {
        Values fragments;
        for (int i = 0; i < 8; ++i) {
          fragments.push_back(
              b.Load(Vec(kBF16, 8), Offset(read, i * 1024), {.not_in = dma}));
        }
        b.SchedBarrier();
        b.Wait({.lgkm = 0});
        b.Barrier();
        b.SchedBarrier();
        Values next = {v[0] + 1024, v[1] - 1};
        for (int i = 0; i < kAccumulators; ++i) {
          next.push_back(b.Mfma({16, 16, 32}, fragments[i % 4],
                                fragments[4 + i / 4], v[2 + i]));
          if (i % 8 == 0) {
            b.SchedBarrier();
            b.BufferLoadToLds(buffer, Offset(lds, i / 8 * 1024), 16,
                              lane_offset, v[0], 0, kCached, {.in = dma});
            b.SchedBarrier();
          }
        }
        b.Wait({.vm = 0});
        b.Barrier();
        return {next[1] != 0, next};
      });
  for (int i = 0; i < kAccumulators; ++i) {
    Value out = b.Opaque(results[2 + i], RegisterClass::kAgpr, /*pinned=*/true);
    b.Store(Convert(out, kBF16),
            Offset(Offset(b.Arg("out"), b.LaneId() * 8), i * 512));
  }
  return absl::OkStatus();
}

TEST(BuilderIrTest, HotLoopIsNothingButWhatWasWritten) {
  for (int64_t reorder : {0, 1}) {
    const std::vector<std::string> loop =
        LoopOf(Code(SpecOf(256, {{"agpr_alloc", int64_t{256}},
                                 {"opt", "none"},
                                 {"reorder", reorder}}),
                    BuildHotLoop));
    EXPECT_EQ(Count(loop, "v_mfma_f32_16x16x32_bf16"), 16);
    EXPECT_EQ(Count(loop, "ds_read_b128"), 8);
    EXPECT_EQ(Count(loop, "buffer_load_dwordx4"), 2);
    EXPECT_EQ(Count(loop, "s_barrier"), 2);
    EXPECT_EQ(Count(loop, "s_cbranch"), 1);
    EXPECT_THAT(VectorWork(loop), IsEmpty());
    EXPECT_EQ(Count(loop, "scratch_"), 0);
  }
}

// Of loads that the instruction's offset tells apart; not across another place.
TEST(BuilderIrTest, AnLdsPlaceIsWrittenOnceForARunOfLoads) {
  const auto body = [](Builder& b, const KernelSpec&) {
    const Value lds = b.Lds("stage", 16384);
    const Value buffer = b.Buffer(b.Arg("in"), b.I64(16384));
    for (int i = 0; i < 8; ++i) {
      b.BufferLoadToLds(buffer, Offset(lds, b.WaveId() * 4096 + i / 4 * 8192),
                        16, b.LaneId() * 16, b.I32(0), i % 4 * 1024);
    }
    b.Wait({.vm = 0});
    return absl::OkStatus();
  };
  const auto code =
      Code(SpecOf(256, {{"opt", "none"}, {"reorder", int64_t{0}}}), body);
  EXPECT_EQ(Count(code, "buffer_load_dwordx4"), 8);
  EXPECT_EQ(Count(code, "offset:3072 lds"), 2);
  EXPECT_EQ(Count(code, " m0, "), 2);
}

TEST(BuilderIrTest, AccumulatorsFromAConstantAreRefused) {
  const absl::Status status =
      CompileBody(SpecOf(64), [](Builder& b, const KernelSpec&) {
        const Values out =
            b.Repeat({b.Arg("n"), b.Zero(Vec(kF32, 4))},
                     [&](absl::Span<const Value> v) -> Round {
                       return {v[0] != 1, {v[0] - 1, v[1] + v[1]}};
                     });
        b.Store(out[1], b.Arg("out"));
        return absl::OkStatus();
      }).status();
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("Opaque"));
}

TEST(BuilderIrTest, AddressConstantsReachTheInstructions) {
  const auto code = Code(SpecOf(64), [](Builder& b, const KernelSpec&) {
    Value p = Offset(b.Arg("in"), b.ThreadX() * 4);
    Value sum = b.Load(kF32, Offset(p, 4)) + b.Load(kF32, Offset(p, 4092));
    b.Store(sum, Offset(b.Arg("out"), b.ThreadX() * 4));
    return absl::OkStatus();
  });
  EXPECT_EQ(Count(code, "offset:4092"), 1);
}

TEST(BuilderIrTest, WaitsSayWhatTheyLeave) {
  const auto code = Code(SpecOf(64), [](Builder& b, const KernelSpec&) {
    b.Wait({.vm = 17});
    b.SetPriority(1);
    b.Wait({.lgkm = 3});
    b.SetPriority(2);
    b.Wait({.vm = 63, .lgkm = 0});
    return absl::OkStatus();
  });
  EXPECT_EQ(Count(code, "s_waitcnt vmcnt(17)"), 1);
  EXPECT_EQ(Count(code, "s_waitcnt lgkmcnt(3)"), 1);
  EXPECT_EQ(Count(code, "s_waitcnt lgkmcnt(0)"), 1);
  EXPECT_EQ(Count(code, "s_setprio 1"), 1);
}

TEST(BuilderIrTest, UnusedLaunchValuesAreNotPassed) {
  const absl::StatusOr<CompiledKernel> compiled =
      CompileBody(SpecOf(64), [](Builder& b, const KernelSpec&) {
        b.Store(b.I32(1), b.Arg("out"));
        return absl::OkStatus();
      });
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(compiled->description.args.size(), 3u);
  EXPECT_EQ(compiled->description.kernarg_bytes, 20u);
}

TEST(BuilderIrTest, PreloadedArgumentsNeedNoLoad) {
  const auto body = [](Builder& b, const KernelSpec&) {
    b.Store(b.I32(1), b.Arg("out"));
    return absl::OkStatus();
  };
  EXPECT_GT(Count(Code(SpecOf(64), body), "s_load"), 0);
  // The prologue for firmware that cannot preload still loads.
  const auto code = Code(SpecOf(64, {{"preload", int64_t{2}}}), body);
  EXPECT_EQ(Count(code, "global_store_dword"), 1);
}

struct MisuseCase {
  const char* what;
  BodyFunction body;
};

class MisuseTest : public ::testing::TestWithParam<MisuseCase> {};

TEST_P(MisuseTest, IsInternalAndHarmless) {
  const absl::Status status = CompileBody(SpecOf(64), GetParam().body).status();
  EXPECT_TRUE(absl::IsInternal(status)) << GetParam().what << ": " << status;
}

constexpr MisuseCase kMisuses[] = {
    {"types",
     [](Builder& b, const KernelSpec&) {
       b.Store(b.I32(1) + b.F32(1), b.Arg("out"));
       return absl::OkStatus();
     }},
    {"argument",
     [](Builder& b, const KernelSpec&) {
       b.Store(b.Arg("weight"), b.Arg("out"));
       return absl::OkStatus();
     }},
    {"parameter",
     [](Builder& b, const KernelSpec&) {
       b.Store(b.I32(b.Int("tile_m")), b.Arg("out"));
       return absl::OkStatus();
     }},
    {"lane",
     [](Builder& b, const KernelSpec&) {
       b.Store(Extract(b.Zero(Vec(kF32, 4)), 4), b.Arg("out"));
       return absl::OkStatus();
     }},
    {"bitcast",
     [](Builder& b, const KernelSpec&) {
       b.Store(Bitcast(b.F32(1), kI64), b.Arg("out"));
       return absl::OkStatus();
     }},
    {"sides of an if",
     [](Builder& b, const KernelSpec&) {
       b.If(
           b.ThreadX() == 0, [&]() -> Values { return {b.I32(1)}; },
           [&]() -> Values { return {b.F32(1)}; });
       return absl::OkStatus();
     }},
    {"carried values",
     [](Builder& b, const KernelSpec&) {
       b.Repeat({b.I32(0)}, [&](absl::Span<const Value> v) -> Round {
         return {v[0] == 0, {b.F32(1)}};
       });
       return absl::OkStatus();
     }},
    {"remainder of floats",
     [](Builder& b, const KernelSpec&) {
       b.Store(b.F32(1) % b.F32(2), b.Arg("out"));
       return absl::OkStatus();
     }},
    {"waiting for more than can be counted",
     [](Builder& b, const KernelSpec&) {
       b.Wait({.vm = 64});
       return absl::OkStatus();
     }},
    {"a matrix instruction that there is none of",
     [](Builder& b, const KernelSpec&) {
       Value a = b.Zero(Vec(kI8, 8));
       b.Mfma({16, 16, 32}, a, a, b.Zero(Vec(kF32, 4)));
       return absl::OkStatus();
     }},
};

INSTANTIATE_TEST_SUITE_P(Cases, MisuseTest, ::testing::ValuesIn(kMisuses));

TEST(BuilderIrTest, MoreLdsThanPlannedIsAPrecondition) {
  const absl::Status status =
      CompileBody(SpecOf(64), [](Builder& b, const KernelSpec&) {
        b.Lds("one", 65536);
        b.Lds("two", 4);
        return absl::OkStatus();
      }).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

// Keeps `kVectors` vectors of four registers alive over a barrier.
template <int kVectors>
absl::Status BuildManyLive(Builder& b, const KernelSpec&) {
  Value offset = b.ThreadX() * (kVectors * 16);
  Values loaded;
  for (int i = 0; i < kVectors; ++i) {
    loaded.push_back(
        b.Load(Vec(kF32, 4), Offset(Offset(b.Arg("in"), offset), i * 16)));
  }
  b.SyncWorkgroup();
  for (int i = 0; i < kVectors; ++i) {
    b.Store(loaded[i], Offset(Offset(b.Arg("out"), offset), i * 16));
  }
  return absl::OkStatus();
}

TEST(BuilderIrTest, SpillsAreAPrecondition) {
  const absl::Status status =
      CompileBody(SpecOf(1024), BuildManyLive<64>).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

TEST(BuilderIrTest, OccupancyLimitsRegisters) {
  EXPECT_EQ(CompileBody(SpecOf(256), BuildManyLive<24>).status(),
            absl::OkStatus());
  const absl::Status status =
      CompileBody(SpecOf(256, {{"waves_per_eu", "8,8"}}), BuildManyLive<24>)
          .status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

}  // namespace
}  // namespace ingot::tile
