// gemm on tensors beyond 4 GiB: rows, and matrices of a batch, whose offsets do
// not fit 32 bits. Only pages with elements take memory.
#include "gtest/gtest.h"
#include "tests/support/gemm_problem.h"

namespace ingot {
namespace {

using testing::CheckGemm;
using testing::GemmProblem;
using testing::OperandChoice;
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

TEST(GemmLarge, ManyRowsOfB) {
  TestDevice device;
  GemmProblem p = Problem("nt", 16, kRows, 64);
  p.pad = kStride;
  CheckGemm(device, p, 7);
  p.pad = kStride + 1;
  CheckGemm(device, p, 8);
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

// Every operand's second and third matrix lie 6 GB apart.
TEST(GemmLarge, Batches) {
  TestDevice device;
  for (const char* layout : {"nt", "tn"}) {
    GemmProblem p = Problem(layout, 40, 24, 32);
    p.batch = 3;
    p.has_c = p.has_residual = true;
    p.beta = 1;
    OperandChoice far;
    far.strides = StrideMode::kDynamic;
    far.apart = int64_t{3} << 30;
    for (const char* name : {"a", "b", "c", "d", "residual"}) {
      p.choices[name] = far;
    }
    CheckGemm(device, p, 4);
    p.choices["bias"] = far;
    p.bias = "f32";
    CheckGemm(device, p, 5);
  }
}

TEST(GemmLarge, ManyRowsOfWhatIsAdded) {
  TestDevice device;
  GemmProblem p = Problem("nt", kRows, 24, 32);
  p.has_c = p.has_residual = true;
  p.beta = 1;
  p.act = "swiglu";
  p.pairing = "halves";
  p.pad = kStride;
  CheckGemm(device, p, 6);
}

}  // namespace
}  // namespace ingot
