// Specs of gemm for the conformance tests.
#ifndef INGOT_COMPILER_OPS_GEMM_PLAN_SAMPLES_H_
#define INGOT_COMPILER_OPS_GEMM_PLAN_SAMPLES_H_

#include <vector>

#include "compiler/spec.h"

namespace ingot {

// Must plan and compile.
std::vector<Spec> GemmSamples();
// Must be refused with INVALID_ARGUMENT or UNIMPLEMENTED.
std::vector<Spec> GemmBadSamples();

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GEMM_PLAN_SAMPLES_H_
