// Specs that conformance tests of scaled_gemm run over.
#ifndef INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_SAMPLES_H_
#define INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_SAMPLES_H_

#include <vector>

#include "compiler/spec.h"

namespace ingot {

std::vector<Spec> ScaledGemmSamples();
std::vector<Spec> ScaledGemmBadSamples();

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_SCALED_GEMM_PLAN_SAMPLES_H_
