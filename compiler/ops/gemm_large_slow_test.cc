// gemm on matrices beyond 4 GiB: rows whose offsets do not fit 32 bits. Takes
// 9 GB of memory.
#include "gtest/gtest.h"
#include "tests/support/gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckGemm;
using testing::GemmProblem;
using testing::TestDevice;

// Row strides of a million elements, 2100 rows: 4.4 GB each.
constexpr int64_t kStride = 1 << 20;
constexpr int64_t kRows = 2100;

GemmProblem Problem(const char* layout, int64_t m, int64_t n, int64_t k) {
  GemmProblem p;
  p.layout = layout;
  p.m = m;
  p.n = n;
  p.k = k;
  p.strides = StrideMode::kDynamic;
  return p;
}

TEST(GemmLarge, ManyRowsOfAAndD) {
  TestDevice device;
  GemmProblem p = Problem("nt", kRows, 16, 64);
  p.pad = kStride;
  CheckGemm(device, p, 1);
}

TEST(GemmLarge, ManyRowsOfBothAlongK) {
  TestDevice device;
  GemmProblem p = Problem("tn", 16, 24, kRows);
  p.pad = kStride;
  CheckGemm(device, p, 2);
}

TEST(GemmLarge, UnalignedRows) {
  TestDevice device;
  GemmProblem p = Problem("nn", kRows, 5, 9);
  p.pad = kStride + 1;
  CheckGemm(device, p, 3);
}

}  // namespace
}  // namespace ingot
