// Specs that must plan and compile, and specs that must be refused.
#ifndef INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_SAMPLES_H_
#define INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_SAMPLES_H_

#include <vector>

#include "compiler/spec.h"

namespace ingot {

std::vector<Spec> GroupedGemmSamples();
std::vector<Spec> GroupedGemmBadSamples();

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_GROUPED_GEMM_PLAN_SAMPLES_H_
