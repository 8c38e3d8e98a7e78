// What gemm's tests on the emulator share: a problem, its operands on the
// device and the reference, in f64, that shares nothing with the kernels.
#ifndef TESTS_SUPPORT_GEMM_PROBLEM_H_
#define TESTS_SUPPORT_GEMM_PROBLEM_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/plan.h"
#include "tests/support/device_matrix.h"
#include "tests/support/launch.h"
#include "tests/support/number.h"

namespace ingot::testing {

// How one operand lies in memory.
struct OperandChoice {
  enum Batch {
    kApart,   // one matrix after the other
    kShared,  // stride 0
    kWoven,   // row by row of each
  };
  StrideMode strides = StrideMode::kDense;
  int64_t pad = 0;  // elements behind each row; none where it is dense
  Batch batch = kApart;
  int64_t apart = 0;  // from one matrix to the next that is apart; 0: no gap
  uint32_t alignment = 0;  // bytes, as in a spec; the pointer is no better
};

struct GemmProblem {
  std::string layout = "nt";
  std::string dtype = "bf16";
  std::string dtype_b;           // empty: as a
  std::string scaling = "none";  // of 8-bit elements
  std::string dtype_d = "bf16";
  std::string bias;  // dtype, or empty
  bool has_c = false;
  bool has_residual = false;
  std::string act = "none";
  std::string pairing;  // with swiglu
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t batch = 0;  // 0: the spec has no dim b
  bool open = false;  // the spec does not say what n and k are
  // Of all matrices that have no choice of their own.
  int64_t pad = 0;
  StrideMode strides = StrideMode::kDense;
  std::map<std::string, OperandChoice> choices;  // by operand
  int specials = 0;  // of each input (DeviceMatrices::Sprinkle)
  double alpha = 1;
  double beta = 0;
  int64_t cu_count = 256;
  std::vector<Tuning> tuning;

  OperandChoice Choice(const std::string& operand) const;
  int64_t matrices() const { return batch == 0 ? 1 : batch; }
  // Columns of the product.
  int64_t columns() const { return act == "swiglu" ? 2 * n : n; }

  Spec ToSpec() const;
  std::string ToString() const;
};

// Plans, launches and checks the problem on `device`: every element of d within
// operators.md's tolerance, everything around d untouched, all inputs as they
// were. Reports through gtest. `variant`, when not null, receives the variant
// that ran, and `result` the bytes of d and what lies around it.
void CheckGemm(TestDevice& device, const GemmProblem& problem, uint32_t seed,
               std::string* variant = nullptr, std::string* result = nullptr);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_GEMM_PROBLEM_H_
