// A plan with tuning records in it: their variants first, then those of the
// plan without, for launches that no tuned variant takes.
#ifndef INGOT_SERVER_TUNED_PLAN_H_
#define INGOT_SERVER_TUNED_PLAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/plan.h"
#include "compiler/spec.h"
#include "server/tuning_table.h"

namespace ingot::server {

struct TunedPlan {
  Plan plan;
  // A kernel, by its place in the plan, that is there for a record alone.
  std::vector<std::pair<size_t, uint64_t>> tuned_kernels;
  // Records that this build cannot use, and why.
  std::vector<std::pair<uint64_t, std::string>> unusable;
};

// `records` newest first; those of another fingerprint are left out. The errors
// of MakePlan.
absl::StatusOr<TunedPlan> MakeTunedPlan(
    const Spec& asked, const std::vector<TuningTable::Record>& records);

// Whether `record` can be part of the plan of `spec`. INVALID_ARGUMENT naming
// field, found and allowed.
absl::Status CheckTuning(const Spec& spec, const v1::TuningRecord& record);

}  // namespace ingot::server

#endif  // INGOT_SERVER_TUNED_PLAN_H_
