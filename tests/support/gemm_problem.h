// What gemm's tests on the emulator share: a problem, its operands on the
// device and the reference, in f64, that shares nothing with the kernels.
#ifndef TESTS_SUPPORT_GEMM_PROBLEM_H_
#define TESTS_SUPPORT_GEMM_PROBLEM_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/plan.h"
#include "tests/support/launch.h"
#include "tests/support/number.h"

namespace ingot::testing {

struct GemmProblem {
  std::string layout = "nt";
  std::string dtype = "bf16";
  std::string dtype_d = "bf16";
  std::string bias;  // dtype, or empty
  bool has_c = false;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t pad = 0;  // elements behind each row of every matrix
  StrideMode strides = StrideMode::kDense;
  double alpha = 1;
  double beta = 0;
  std::vector<Tuning> tuning;

  Spec ToSpec() const;
  std::string ToString() const;
};

// A matrix on the device, [rows, columns] with `pad` elements behind each row
// but the last, and `guard` bytes on both sides. Everything starts as NaN.
class DeviceMatrix {
 public:
  DeviceMatrix(TestDevice& device, const std::string& dtype, int64_t rows,
               int64_t columns, int64_t pad, int64_t guard);
  ~DeviceMatrix() { device_.Free(base_); }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  void* data() const { return start_; }
  int64_t stride() const { return stride_; }
  const Format& format() const { return format_; }
  double At(int64_t row, int64_t column) const;
  // Normal numbers, rounded to the format; returned in f64, row by row.
  std::vector<double> Fill(std::mt19937& random);
  // Whether every byte that is no element is as it was.
  bool SurroundingsIntact() const;

 private:
  unsigned char* Address(int64_t row, int64_t column) const;

  TestDevice& device_;
  Format format_;
  int64_t rows_;
  int64_t columns_;
  int64_t stride_;
  int64_t bytes_;
  int64_t guard_;
  unsigned char* base_;
  unsigned char* start_;
};

// Plans, launches and checks the problem on `device`: every element of d within
// operators.md's tolerance, everything around d untouched. Reports through
// gtest; the variant that ran goes to `variant` when it is not null.
void CheckGemm(TestDevice& device, const GemmProblem& problem, uint32_t seed,
               std::string* variant = nullptr);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_GEMM_PROBLEM_H_
