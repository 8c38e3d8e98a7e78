// gemm, executed: what its contract says beside the sizes.
#include <random>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckGemm;
using testing::DeviceMatrix;
using testing::GemmProblem;
using testing::OperandChoice;
using testing::TestDevice;

// Activations and pairings, as the tests below go through them.
constexpr const char* kActs[] = {"none", "relu",   "gelu_tanh",  "gelu_erf",
                                 "silu", "halves", "interleaved"};

GemmProblem Problem(const std::string& act, int64_t m, int64_t n, int64_t k) {
  GemmProblem p;
  const bool paired = act == "halves" || act == "interleaved";
  p.act = paired ? "swiglu" : act;
  if (paired) p.pairing = act;
  p.m = m;
  p.n = n;
  p.k = k;
  return p;
}

OperandChoice Strided(StrideMode mode, OperandChoice::Batch batch,
                      int64_t pad = 8) {
  OperandChoice choice;
  choice.strides = mode;
  choice.batch = batch;
  choice.pad = pad;
  return choice;
}

void Launch(TestDevice& device, const Plan& plan, const DeviceMatrix& a,
            const DeviceMatrix& b, const DeviceMatrix& d,
            const DeviceMatrix& added, int64_t m, int64_t n, int64_t k) {
  testing::LaunchInputs inputs;
  inputs.dims = {m, n, k};
  inputs.operands = {a.data(), b.data(), d.data(), added.data()};
  inputs.scalars = {1, 1};
  const auto report = device.Launch(plan, inputs);
  ASSERT_TRUE(report.ok()) << report.status();
}

class GemmContract : public ::testing::TestWithParam<const char*> {
 protected:
  TestDevice device_;
};

// Everything at once, in every width of access to d.
TEST_P(GemmContract, AllTerms) {
  uint32_t seed = 0;
  for (const char* dtype_d : {"bf16", "f16", "f32"}) {
    for (const int64_t n : {72, 76, 75}) {
      GemmProblem p = Problem(GetParam(), 33, n, 72);
      p.dtype_d = dtype_d;
      p.bias = ++seed % 2 == 0 ? "f32" : dtype_d;
      p.has_c = p.has_residual = true;
      p.alpha = 0.5;
      p.beta = -1.25;
      CheckGemm(device_, p, seed);
    }
  }
}

TEST_P(GemmContract, SpecialValues) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    GemmProblem p = Problem(GetParam(), 19, 40, 24);
    p.dtype_d = seed % 2 == 0 ? "f32" : "bf16";
    p.bias = "f32";
    p.has_c = p.has_residual = seed / 2 == 0;
    p.beta = 1;
    p.specials = 5;
    CheckGemm(device_, p, seed);
  }
}

// One term a sum, f32 results: nothing hides an error of the activation.
TEST_P(GemmContract, SingleTerms) {
  GemmProblem p = Problem(GetParam(), 128, 128, 1);
  p.dtype_d = "f32";
  CheckGemm(device_, p, 1);
  p.bias = "f32";
  CheckGemm(device_, p, 2);
}

TEST_P(GemmContract, Batches) {
  const auto apart = OperandChoice::kApart;
  const auto shared = OperandChoice::kShared;
  const auto woven = OperandChoice::kWoven;
  uint32_t seed = 0;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (const StrideMode mode : {StrideMode::kStatic, StrideMode::kDynamic}) {
      GemmProblem p = Problem(GetParam(), 17, 24, 40);
      p.layout = layout;
      p.batch = 3;
      p.bias = "f32";
      p.has_c = p.has_residual = true;
      p.beta = 2;
      CheckGemm(device_, p, ++seed);
      p.choices = {{"a", Strided(mode, woven)},
                   {"b", Strided(mode, shared)},
                   {"c", Strided(mode, shared)},
                   {"bias", Strided(mode, apart, 0)},
                   {"residual", Strided(mode, woven, 3)},
                   {"d", Strided(mode, woven)}};
      CheckGemm(device_, p, ++seed);
      p.choices["bias"].batch = shared;
      p.choices["d"] = Strided(mode, apart, 3);
      CheckGemm(device_, p, ++seed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Acts, GemmContract, ::testing::ValuesIn(kActs));

// d may be c or residual.
TEST(GemmInPlace, ResultsReplaceWhatWasAdded) {
  TestDevice device;
  for (const char* added : {"c", "residual"}) {
    for (const int64_t n : {64, 61}) {
      Spec spec{"gemm"};
      spec.target = "gfx950";
      spec.dims = {{"m"}, {"n", n}, {"k", 32}};
      spec.operands = {
          {"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}, {added, "bf16"}};
      const absl::StatusOr<Plan> plan = MakePlan(spec);
      ASSERT_TRUE(plan.ok()) << plan.status();
      constexpr int64_t kRows = 70;
      std::mt19937 random(3);
      DeviceMatrix a(device, "bf16", kRows, 32, 0, 0);
      DeviceMatrix b(device, "bf16", n, 32, 0, 0);
      DeviceMatrix old(device, "bf16", kRows, n, 0, 0);
      DeviceMatrix apart(device, "bf16", kRows, n, 0, 0);
      a.Fill(random);
      b.Fill(random);
      old.Fill(random);
      Launch(device, *plan, a, b, apart, old, kRows, n, 32);
      Launch(device, *plan, a, b, old, old, kRows, n, 32);
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          ASSERT_EQ(apart.At(i, j), old.At(i, j)) << i << " " << j;
        }
      }
    }
  }
}

// A launch of no rows, or of no matrices, runs nothing.
TEST(GemmNothing, WritesNothing) {
  TestDevice device;
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", 64}, {"k", 32}, {"b"}};
  spec.operands = {{"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}};
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  DeviceMatrix d(device, "bf16", 4, 64, 0, 256);
  for (const auto& [m, b] : {std::pair{0, 3}, std::pair{3, 0}}) {
    testing::LaunchInputs inputs;
    inputs.dims = {m, 64, 32, b};
    inputs.operands = {d.data(), d.data(), d.data()};
    const auto report = device.Launch(*plan, inputs);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->symbols.empty());
    for (int64_t row = 0; row < 4; ++row) EXPECT_TRUE(d.Untouched(row));
  }
}

}  // namespace
}  // namespace ingot
