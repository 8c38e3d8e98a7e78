// Reads tests/data/isa-vectors and compares results with what it expects.
#ifndef TESTS_EMULATOR_ISA_VECTORS_H_
#define TESTS_EMULATOR_ISA_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ingot::emulator {

// One case: inputs and expected outputs of 64 lanes.
struct VectorCase {
  std::string kernel;
  int width = 1;  // dwords of the result that count
  int batch = 0;
  uint64_t x[64], y[64], z[64], expected[64];
  std::string kind;
  std::string assembly;
};

// All cases of a gzip-compressed text; empty when it cannot be read or parsed.
std::vector<VectorCase> ReadVectorCases(const std::string& path);

// Whether `actual` agrees with lane `lane` of the case:
//   i bits; f, d f32, f64 (any NaN equals any NaN); h, p f16 halves; q a pair
//   of f32; b bf16 halves; ~ within 1 ulp (log: 4), denormals ignored; a within
//   1e-6 of the sum of magnitudes; n NaN and zero equal; o results below 1e-37
//   ignored; s |error| < 2e-6 for 1e-30 < |x| < 256; z division helpers, where
//   the quotient is within 1e±6; m4 1e-5 of the largest magnitude, batch 2
//   only; m bytes as stored.
bool VectorLaneAgrees(const VectorCase& c, int lane, uint64_t actual);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_ISA_VECTORS_H_
