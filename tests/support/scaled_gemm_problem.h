// What scaled_gemm's tests on the emulator share: a problem, its operands on
// the device and the reference, in f64, that shares nothing with the kernels.
#ifndef TESTS_SUPPORT_SCALED_GEMM_PROBLEM_H_
#define TESTS_SUPPORT_SCALED_GEMM_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/spec.h"
#include "tests/support/launch.h"

namespace ingot::testing {

struct ScaledGemmProblem {
  std::string a = "e4m3fn";
  std::string b = "e4m3fn";
  std::string d = "bf16";
  std::string bias;  // dtype, or empty
  bool scales_shuffled = false;
  bool weights_shuffled = false;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 32;
  int64_t pad = 0;  // bytes behind each linear row; elements of d
  StrideMode strides = StrideMode::kDense;  // of what is not shuffled
  uint32_t alignment = 0;                   // of a and b
  // NaN, infinities, -0 and extreme scales here and there.
  bool special = false;
  int64_t cu_count = 256;
  std::vector<Tuning> tuning;

  Spec ToSpec() const;
  std::string ToString() const;
};

// Plans, launches and checks the problem on `device`: every element of d within
// operators.md's tolerance, NaN and infinities where they belong, everything
// around d untouched. Whatever the layouts pad is NaN. Reports through gtest;
// the variant that ran goes to `variant`, the bytes of d and what lies around
// it to `result`, where those are not null.
void CheckScaledGemm(TestDevice& device, const ScaledGemmProblem& problem,
                     uint32_t seed, std::string* variant = nullptr,
                     std::string* result = nullptr);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_SCALED_GEMM_PROBLEM_H_
