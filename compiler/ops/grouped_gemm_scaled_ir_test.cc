// grouped_gemm's kernels of block-scaled operands compile and fit, whatever
// their formats, accesses and epilogue.
#include <cstdint>
#include <set>
#include <string>

#include "compiler/compile.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

Spec Grouped(const char* a, const char* b, int64_t k) {
  Spec spec{"grouped_gemm"};
  spec.target = "gfx950";
  spec.dims = {{"total_m"}, {"g", 8}, {"n", 4096}, {"k", k}};
  spec.operands = {{"a", a},
                   {"b", b},
                   {"d", "bf16"},
                   {"offs", "i32"},
                   {"scale_a", "e8m0"},
                   {"scale_b", "e8m0"}};
  spec.attrs = {{"b_layout", std::string("gnk")}};
  return spec;
}

class GroupedGemmScaledIr : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(WarmUpCompiler(), absl::OkStatus()); }

  // Of each kernel that is new; contract, spills and scratch are checked by
  // Compile itself.
  void CompileAll(const Spec& spec) {
    const absl::StatusOr<Plan> plan = MakePlan(spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const PlanKernel& kernel : plan->kernels) {
      if (!compiled_.insert(kernel.key).second) continue;
      const absl::StatusOr<CompiledKernel> compiled = Compile(kernel.spec);
      EXPECT_TRUE(compiled.ok()) << kernel.spec.symbol << compiled.status();
      if (!compiled.ok()) continue;
      EXPECT_EQ(compiled->description.lds_bytes, kernel.spec.lds_bytes);
    }
  }

  std::set<std::string> compiled_;
};

constexpr const char* kPairs[][2] = {{"e4m3fn", "e4m3fn"}, {"e2m1", "e2m1"},
                                     {"e2m3", "e2m3"},     {"e5m2", "e2m1"},
                                     {"e2m1", "e3m2"},     {"e3m2", "e4m3fn"}};

// 4160: scales byte by byte.
TEST_F(GroupedGemmScaledIr, EveryWidthCompiles) {
  for (const auto& [a, b] : kPairs) {
    for (const uint32_t alignment : {16, 8, 4, 2, 1}) {
      for (const int64_t k : {4096, 4160}) {
        Spec spec = Grouped(a, b, k);
        spec.operands[0].alignment = spec.operands[1].alignment = alignment;
        CompileAll(spec);
        spec.operands[2] = {"d", "f32"};
        spec.operands[2].alignment = 4;
        spec.operands.push_back({"bias", "f32"});
        spec.attrs.push_back({"act", std::string("gelu_erf")});
        CompileAll(spec);
      }
    }
  }
}

TEST_F(GroupedGemmScaledIr, MostGroupsAndPairedColumnsCompile) {
  for (const auto& [a, b] : kPairs) {
    for (const uint32_t alignment : {16, 1}) {
      for (const int64_t groups : {256, 1024}) {
        Spec spec = Grouped(a, b, 4096);
        spec.dims[1].value = groups;
        spec.operands[0].alignment = spec.operands[1].alignment = alignment;
        spec.operands.push_back({"bias", "f32"});
        spec.attrs.push_back({"act", std::string("swiglu")});
        spec.attrs.push_back({"pairing", std::string("interleaved")});
        CompileAll(spec);
      }
    }
  }
}

}  // namespace
}  // namespace ingot
