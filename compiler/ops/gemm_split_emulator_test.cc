// gemm whose k is shared by workgroups: any number of parts gives the product,
// and the same bits each time.
#include <cstring>
#include <random>
#include <vector>

#include "compiler/ops/gemm_plan_tuning.h"
#include "gtest/gtest.h"
#include "tests/support/gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckGemm;
using testing::GemmProblem;
using testing::LaunchInputs;
using testing::LaunchReport;
using testing::TestDevice;

GemmProblem Split(int64_t m, int64_t n, int64_t k, int64_t parts) {
  GemmProblem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.tuning = {{"split_k", parts}};
  return p;
}

// More parts than steps of k, too: some have nothing to add.
TEST(GemmSplit, AnyNumberOfParts) {
  TestDevice device;
  uint32_t seed = 0;
  for (const int64_t parts : {2, 3, 7, 8, 9, 16, 17, 64}) {
    for (const int64_t k : {8, 72, 520, 1352}) {
      GemmProblem p = Split(33, 136, k, parts);
      p.tuning.push_back({"tile_m", 16});
      p.tuning.push_back({"tile_n", 64});
      p.tuning.push_back({"waves_k", 4});
      CheckGemm(device, p, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

// The whole epilogue, over ragged edges, comes after the sum.
TEST(GemmSplit, WithEverythingElse) {
  TestDevice device;
  uint32_t seed = 100;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (const char* dtype_d : {"bf16", "f32"}) {
      GemmProblem p = Split(40, 200, 264, 5);
      p.layout = layout;
      p.dtype_d = dtype_d;
      p.has_c = true;
      p.bias = "f32";
      p.alpha = -0.75;
      p.beta = 1.25;
      p.strides = StrideMode::kDynamic;
      p.pad = 8;
      CheckGemm(device, p, ++seed);
      // Columns one by one.
      p.n = 201;
      if (p.layout[1] == 't') CheckGemm(device, p, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

// As the model chooses: a decode problem of a plan for any m.
TEST(GemmSplit, AsManyAsFillTheDevice) {
  TestDevice device;
  GemmProblem p = Split(17, 256, 2048, 0);
  CheckGemm(device, p, 7);
  p.tuning.clear();
  CheckGemm(device, p, 8);
}

std::vector<uint16_t> Product(const Spec& spec,
                              const emulator::Options& options, int64_t m,
                              int64_t n, int64_t k) {
  TestDevice device(options);
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  const auto fill = [&](int64_t count) {
    uint16_t* x = device.Allocate<uint16_t>(count);
    for (int64_t i = 0; i < count; ++i) {
      const float value = normal(random);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      x[i] = static_cast<uint16_t>(bits >> 16);
    }
    return x;
  };
  uint16_t* a = fill(m * k);
  uint16_t* b = fill(n * k);
  uint16_t* d = device.Allocate<uint16_t>(m * n);
  LaunchInputs inputs;
  inputs.dims = {m, n, k};
  inputs.operands = {a, b, d};
  // A smaller device gives the same results.
  inputs.cu_count = options.reverse_waves ? 32 : 256;
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  const absl::StatusOr<LaunchReport> report = device.Launch(*plan, inputs);
  EXPECT_TRUE(report.ok()) << report.status();
  return std::vector<uint16_t>(d, d + m * n);
}

TEST(GemmSplit, GivesTheSameBitsEachTime) {
  constexpr int64_t kM = 48, kN = 192, kK = 2056;
  for (const int64_t parts : {0, 6}) {
    GemmProblem p = Split(kM, kN, kK, parts);
    emulator::Options options = emulator::Options::FromEnvironment();
    const std::vector<uint16_t> first =
        Product(p.ToSpec(), options, kM, kN, kK);
    options.threads = 1;
    EXPECT_EQ(Product(p.ToSpec(), options, kM, kN, kK), first);
    options.reverse_waves = true;
    EXPECT_EQ(Product(p.ToSpec(), options, kM, kN, kK), first);
  }
}

}  // namespace
}  // namespace ingot
