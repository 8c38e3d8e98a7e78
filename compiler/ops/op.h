// What an op is to the planner: a table of plain functions. Each op defines one
// constant-initialised OpDef in ops/<name>_plan.cc and stands in ops.def.
#ifndef INGOT_COMPILER_OPS_OP_H_
#define INGOT_COMPILER_OPS_OP_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/candidates.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

struct OpDef {
  const char* name;
  const char* summary;  // the formula, one line
  // Every name that a spec of this op may use; the planner refuses others
  // before `plan` is called. Which dims are token-like follows from IsTokenDim.
  absl::Span<const char* const> dims;
  absl::Span<const char* const> operands;
  absl::Span<const char* const> attrs;
  absl::Span<const char* const> tuning;
  // Fills everything of a plan but spec_digest, fingerprint, encodings and keys
  // (the planner does those, and drops repeated kernels). `spec` is canonical
  // and names only what is listed above; the op checks which are present, their
  // dtypes, extents, strides and values.
  absl::StatusOr<Plan> (*plan)(const Spec& spec);
  // Specs that must plan and compile; conformance tests run over them.
  std::vector<Spec> (*samples)();
  // Specs that must be refused with INVALID_ARGUMENT or UNIMPLEMENTED.
  std::vector<Spec> (*bad_samples)();
  // Every tuning that the op could give a spec that it accepts, with its
  // predicted time where there is a model; the planner finds out which fit.
  // nullptr: the plan's own is the only one.
  std::vector<Candidate> (*candidates)(const Spec& spec) = nullptr;
};

// Every op of ops.def, in its order.
absl::Span<const OpDef* const> AllOps();
// nullptr for a name that this build does not know.
const OpDef* FindOp(absl::string_view name);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_OP_H_
