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

}  // namespace
}  // namespace ingot
