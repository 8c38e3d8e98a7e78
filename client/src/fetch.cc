#include "client/src/fetch.h"

#include "client/src/canonical.h"

namespace ingot::client {
namespace {

// The single value that the spec gives a dim; false when it gives none.
bool ValueOf(const ingot_spec& spec, const std::string& name, int64_t* value) {
  for (uint32_t i = 0; i < spec.dim_count; ++i) {
    const ingot_dim& dim = *INGOT_AT(ingot_dim, spec.dims, i);
    if (dim.kind != INGOT_DIM_VALUE || name != dim.name) continue;
    *value = dim.value;
    return true;
  }
  return false;
}

// As the daemon decides for FETCH_MATCHING: guards of dims alone, and those of
// dims without a single value hold.
bool Matches(const PlanVariant& variant, const LaunchPlan& plan,
             const ingot_spec& spec) {
  for (const PlanGuard& guard : variant.guards) {
    int64_t value = 0;
    if (guard.subject != PlanGuard::kDim ||
        !ValueOf(spec, plan.dims[guard.index].name, &value)) {
      continue;
    }
    if (value < guard.min || (guard.max != 0 && value > guard.max) ||
        value % guard.multiple_of != 0) {
      return false;
    }
  }
  return true;
}

bool HasKernels(const FetchedPlan& fetched, const PlanVariant& variant,
                bool bytes) {
  for (const PlanStep& step : variant.steps) {
    if (step.is_fill) continue;
    if (bytes ? fetched.objects[step.kernel] == nullptr
              : fetched.facts[step.kernel].digest.empty()) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Suffices(const FetchedPlan& fetched, const ingot_spec& spec,
              uint32_t fetch, bool bytes) {
  if (fetched.complete || fetch == INGOT_FETCH_PLAN) return true;
  for (const PlanVariant& variant : fetched.plan.variants) {
    const bool all = fetch == INGOT_FETCH_ALL;
    if (!all && !Matches(variant, fetched.plan, spec)) continue;
    if (!HasKernels(fetched, variant, bytes)) return false;
    if (!all) return true;
  }
  return true;
}

Status CheckContracts(const FetchedPlan& fetched) {
  for (const PlanVariant& variant : fetched.plan.variants) {
    for (const PlanStep& step : variant.steps) {
      if (step.is_fill) continue;
      const KernelFacts& facts = fetched.facts[step.kernel];
      if (facts.digest.empty()) continue;
      const uint32_t items =
          step.workgroup[0] * step.workgroup[1] * step.workgroup[2];
      if (facts.kernarg_bytes < step.kernarg_bytes ||
          facts.max_workgroup < items) {
        return Error(INGOT_INTERNAL,
                     "kernel %s takes %u bytes of arguments and %u work-items, "
                     "its recipe launches it with %u and %u",
                     facts.symbol.c_str(), facts.kernarg_bytes,
                     facts.max_workgroup, step.kernarg_bytes, items);
      }
    }
  }
  return Status();
}

}  // namespace ingot::client
