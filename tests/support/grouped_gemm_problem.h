// What grouped_gemm's tests on the emulator share: a problem and the check of
// its results against a reference in f64 that shares nothing with the kernels.
#ifndef TESTS_SUPPORT_GROUPED_GEMM_PROBLEM_H_
#define TESTS_SUPPORT_GROUPED_GEMM_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/plan.h"
#include "tests/support/launch.h"

namespace ingot::testing {

struct GroupedGemmProblem {
  std::string b_layout = "gkn";
  std::string dtype = "bf16";
  std::string dtype_b;  // with scales, of b; empty: as a
  std::string dtype_d = "bf16";
  std::string bias;  // dtype, or empty
  std::string act = "none";
  std::string pairing;        // with swiglu
  std::vector<int32_t> offs;  // one a group, whatever it holds
  bool static_groups = true;  // g as a value; else any number
  int64_t total_m = 0;
  int64_t n = 1;
  int64_t k = 1;
  // Elements behind each row of every matrix; bytes with scales, d aside.
  int64_t pad = 0;
  int64_t gap = 0;  // rows of NaN behind each group's B
  StrideMode strides = StrideMode::kDense;
  int64_t cu_count = 256;
  int specials = 0;  // of each input (DeviceMatrices::Sprinkle)
  std::vector<Tuning> tuning;

  int64_t groups() const { return static_cast<int64_t>(offs.size()); }
  // Of a block-scaled format; then b_layout is gnk.
  bool scaled() const { return dtype[0] == 'e'; }
  // Columns of the product.
  int64_t columns() const { return act == "swiglu" ? 2 * n : n; }

  Spec ToSpec() const;
  std::string ToString() const;
};

// A dense one of block-scaled formats, in groups of these sizes.
GroupedGemmProblem ScaledGroupedGemmProblem(const std::string& a,
                                            const std::string& b,
                                            const std::vector<int32_t>& sizes,
                                            int64_t n, int64_t k);

// Ends of groups of these sizes.
std::vector<int32_t> OffsOf(const std::vector<int32_t>& sizes);

// Which group each row belongs to by the contract of grouped_gemm, or -1.
std::vector<int> GroupOfRow(const std::vector<int32_t>& offs, int64_t total_m);

// Plans, launches and checks the problem on `device`: every element of d of a
// row that has a group within operators.md's tolerance, everything else
// untouched, the inputs too. Rows of a that have no group are NaN. Reports
// through gtest. What ran goes to `report`, the bytes of d and what lies around
// it to `result`, where those are not null.
void CheckGroupedGemm(TestDevice& device, const GroupedGemmProblem& problem,
                      uint32_t seed, LaunchReport* report = nullptr,
                      std::string* result = nullptr);

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_GROUPED_GEMM_PROBLEM_H_
