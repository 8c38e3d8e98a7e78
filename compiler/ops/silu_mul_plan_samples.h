// Specs of silu_mul for the conformance tests.
#ifndef INGOT_COMPILER_OPS_SILU_MUL_PLAN_SAMPLES_H_
#define INGOT_COMPILER_OPS_SILU_MUL_PLAN_SAMPLES_H_

#include <vector>

#include "compiler/spec.h"

namespace ingot {

// Must plan and compile.
std::vector<Spec> SiluMulSamples();
// Must be refused with INVALID_ARGUMENT or UNIMPLEMENTED.
std::vector<Spec> SiluMulBadSamples();

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_SILU_MUL_PLAN_SAMPLES_H_
