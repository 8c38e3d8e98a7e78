// Checks that ops share: what a dim, operand or attribute of a canonical spec
// may be. Every refusal names the field, what was found and what is allowed.
#ifndef INGOT_COMPILER_OPS_CHECKS_H_
#define INGOT_COMPILER_OPS_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "proto/status.h"

namespace ingot {

// The dim as a plan covers it: one value is a range of one. A token-like dim
// that the spec gives without bounds covers all of 1..most; INVALID_ARGUMENT
// when the spec lacks the dim, or its range holds no multiple inside 1..most.
absl::StatusOr<PlanDim> CheckDim(const Spec& spec, absl::string_view name,
                                 int64_t most);

// INVALID_ARGUMENT when the operand is missing or its dtype is not in `dtypes`.
absl::StatusOr<const Operand*> CheckOperand(
    const Spec& spec, absl::string_view name,
    absl::Span<const absl::string_view> dtypes);

// The text of a string attribute that must be one of `allowed`; `otherwise`
// when the spec lacks it. INVALID_ARGUMENT for another type, UNIMPLEMENTED for
// another text.
absl::StatusOr<std::string> CheckChoice(
    const Spec& spec, absl::string_view name, absl::string_view otherwise,
    absl::Span<const absl::string_view> allowed);

// Bytes of an element; 0 for a dtype that is not known. Elements of 6 and 4
// bits come packed: an operand of them counts bytes.
int64_t DtypeBytes(absl::string_view dtype);

// What the base pointer of the operand is a multiple of, in bytes.
int64_t AlignmentOf(const Operand& operand);

// Whether every value of the dim is a multiple of `factor`.
bool AlwaysMultiple(const PlanDim& dim, int64_t factor);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_CHECKS_H_
