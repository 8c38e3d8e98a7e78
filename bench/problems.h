// What the benches ask for, so that every figure speaks of the same kernels.
#ifndef INGOT_BENCH_PROBLEMS_H_
#define INGOT_BENCH_PROBLEMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/plan.h"
#include "compiler/spec.h"

namespace ingot::bench {

// y = x / rms(x) * weight; bf16, target gfx950.
Spec RmsnormSpec(int64_t n);

// d = a b^T for weights of 4096 x 4096; bf16, square tiles of `tile`.
Spec GemmSpec(int64_t tile);

// The same with both operands in an MX format; scales and weights linear.
Spec ScaledGemmSpec(const std::string& format, int64_t tile);

// The same with 8 groups and B as [g, k, n].
Spec GroupedGemmSpec(int64_t tile);

struct Problem {
  std::string name;  // "gemm bf16 nt 128x128", as bench/peers knows it
  Spec spec;
  double cold_compile_ms_target = 0;  // median in a warm worker, two cores
};

std::vector<Problem> Problems();

// The kernel of the spec's first variant: what a first launch waits for. Ends
// the bench when the spec is refused.
PlanKernel FirstKernel(const Spec& spec);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_PROBLEMS_H_
