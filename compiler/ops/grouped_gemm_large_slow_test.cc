// grouped_gemm on operands beyond 4 GiB. Only pages with elements take
// memory.
#include "gtest/gtest.h"
#include "tests/support/grouped_gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckGroupedGemm;
using testing::GroupedGemmProblem;
using testing::OffsOf;
using testing::TestDevice;

// 34 groups, 134 MB apart.
TEST(GroupedGemmLarge, GroupsOfBFarApart) {
  for (const char* b_layout : {"gkn", "gnk"}) {
    std::vector<int32_t> sizes(34);
    sizes[0] = sizes[32] = sizes[33] = 17;
    GroupedGemmProblem p;
    p.b_layout = b_layout;
    p.offs = OffsOf(sizes);
    p.total_m = p.offs.back();
    p.n = 64;
    p.k = 64;
    p.gap = 1 << 20;
    p.strides = StrideMode::kStatic;
    TestDevice device;
    CheckGroupedGemm(device, p, 1);
  }
}

// Rows of a million elements, 2100 of them: 4.4 GB each of a and d.
TEST(GroupedGemmLarge, ManyRowsOfAAndD) {
  GroupedGemmProblem p;
  p.b_layout = "gnk";
  p.offs = OffsOf({3, 2090, 0, 7});
  p.total_m = p.offs.back();
  p.n = 16;
  p.k = 64;
  p.pad = 1 << 20;
  p.strides = StrideMode::kDynamic;
  TestDevice device;
  CheckGroupedGemm(device, p, 2);
}

// Almost the longest row that there may be with scales, in bytes of a, b and
// both scales and elements of d.
GroupedGemmProblem Scaled(const char* a, const char* b,
                          const std::vector<int32_t>& sizes) {
  GroupedGemmProblem p =
      testing::ScaledGroupedGemmProblem(a, b, sizes, /*n=*/16, /*k=*/128);
  p.pad = (1 << 21) - 4096;
  return p;
}

// 34 groups, 138 MB apart in b as in its scales.
TEST(GroupedGemmLarge, GroupsOfScaledBFarApart) {
  for (const StrideMode mode : {StrideMode::kStatic, StrideMode::kDynamic}) {
    std::vector<int32_t> sizes(34);
    sizes[0] = sizes[32] = sizes[33] = 17;
    GroupedGemmProblem p = Scaled("e4m3fn", "e4m3fn", sizes);
    p.gap = 50;
    p.strides = mode;
    TestDevice device;
    CheckGroupedGemm(device, p, 3);
  }
}

// 2100 rows: 4.4 GB each of a and its scales, 8.8 GB of d.
TEST(GroupedGemmLarge, ManyRowsOfScaledAAndD) {
  GroupedGemmProblem p = Scaled("e4m3fn", "e2m1", {3, 2090, 0, 7});
  p.strides = StrideMode::kDynamic;
  TestDevice device;
  CheckGroupedGemm(device, p, 4);
}

// A scale and a byte at a time, with rows of six and four bits.
TEST(GroupedGemmLarge, OddRowsOfScaled) {
  std::vector<int32_t> sizes(34);
  sizes[0] = 2070;
  sizes[33] = 20;
  GroupedGemmProblem p = Scaled("e2m3", "e2m1", sizes);
  p.n = 5;
  p.gap = 61;
  p.pad += 1;
  p.strides = StrideMode::kStatic;
  TestDevice device;
  CheckGroupedGemm(device, p, 5);
}

}  // namespace
}  // namespace ingot
