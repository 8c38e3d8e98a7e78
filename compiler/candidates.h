// What else a spec could be tuned to, for autotuners and for people.
#ifndef INGOT_COMPILER_CANDIDATES_H_
#define INGOT_COMPILER_CANDIDATES_H_

#include <string>
#include <vector>

#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

struct Candidate {
  std::vector<Tuning> tuning;     // in full; a spec with it gets it
  double predicted_us = 0;        // 0: the op has no prediction
  std::string refusal;            // why this spec cannot have it; else empty
  std::vector<std::string> keys;  // of the kernels of its plan
  bool chosen = false;            // its kernels are those of the plan
};

// Every one that the op knows and the spec's own tuning admits: those that fit
// first, by prediction. One that does not fit says why. Compiles nothing.
// MakePlan's errors for a spec that has no plan.
absl::StatusOr<std::vector<Candidate>> Candidates(const Spec& spec);

}  // namespace ingot

#endif  // INGOT_COMPILER_CANDIDATES_H_
