#include "compiler/candidates.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/plan.h"

namespace ingot {
namespace {

std::vector<std::string> KeysOf(const Plan& plan) {
  std::vector<std::string> keys;
  for (const PlanKernel& kernel : plan.kernels) keys.push_back(kernel.key);
  return keys;
}

bool IsAmong(const std::vector<std::string>& keys,
             const std::vector<std::string>& all) {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return std::find(all.begin(), all.end(), key) != all.end();
  });
}

// Whether `tuning` has what the spec itself pins.
bool Admits(const Spec& spec, const std::vector<Tuning>& tuning) {
  return std::all_of(
      spec.tuning.begin(), spec.tuning.end(), [&](const Tuning& pin) {
        return std::any_of(tuning.begin(), tuning.end(), [&](const Tuning& t) {
          return t.name == pin.name && t.value == pin.value;
        });
      });
}

// `canonical` with the sizes that `given` states of dims on which no plan
// depends: predictions do.
Spec WithSizes(Spec canonical, const Spec& given) {
  for (Dim& dim : canonical.dims) {
    const Dim* found = given.FindDim(dim.name);
    if (found != nullptr && found->value) dim.value = found->value;
  }
  return canonical;
}

void SortTuning(std::vector<Tuning>* tuning) {
  std::sort(tuning->begin(), tuning->end(),
            [](const Tuning& a, const Tuning& b) { return a.name < b.name; });
}

}  // namespace

absl::StatusOr<std::vector<Candidate>> Candidates(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Spec canonical, Canonicalize(spec));
  INGOT_ASSIGN_OR_RETURN(const Plan plan, MakePlan(spec));
  const std::vector<std::string> planned = KeysOf(plan);
  const OpDef& op = *FindOp(canonical.op);
  std::vector<Candidate> all;
  if (op.candidates != nullptr) {
    all = op.candidates(WithSizes(canonical, spec));
  } else {
    all.push_back({.tuning = plan.resolved.tuning});
  }
  std::vector<Candidate> admitted;
  for (Candidate& candidate : all) {
    SortTuning(&candidate.tuning);
    if (!Admits(canonical, candidate.tuning)) continue;
    Spec tuned = canonical;
    tuned.tuning = candidate.tuning;
    const absl::StatusOr<Plan> own = MakePlan(tuned);
    if (own.ok()) {
      candidate.keys = KeysOf(*own);
      candidate.chosen = IsAmong(candidate.keys, planned);
    } else {
      candidate.refusal = std::string(own.status().message());
    }
    admitted.push_back(std::move(candidate));
  }
  std::stable_sort(admitted.begin(), admitted.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return std::make_pair(!a.refusal.empty(), a.predicted_us) <
                            std::make_pair(!b.refusal.empty(), b.predicted_us);
                   });
  return admitted;
}

}  // namespace ingot
