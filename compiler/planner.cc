#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "compiler/fingerprint.h"
#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

std::string KnownOps() {
  return absl::StrJoin(AllOps(), ", ", [](std::string* out, const OpDef* op) {
    absl::StrAppend(out, op->name);
  });
}

// Refuses the first item of `list` that the op does not know by name.
template <typename T>
absl::Status CheckNames(absl::StatusCode code, absl::string_view op,
                        absl::string_view kind, const std::vector<T>& list,
                        absl::Span<const char* const> known) {
  for (const T& item : list) {
    if (std::any_of(known.begin(), known.end(),
                    [&](const char* name) { return item.name == name; })) {
      continue;
    }
    return Refuse(code, absl::StrCat(kind, " of ", op), Quoted(item.name),
                  known.empty() ? "none" : absl::StrJoin(known, ", "));
  }
  return absl::OkStatus();
}

absl::Status CheckAllNames(const OpDef& op, const Spec& spec) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  INGOT_RETURN_IF_ERROR(
      CheckNames(kInvalid, op.name, "dim", spec.dims, op.dims));
  INGOT_RETURN_IF_ERROR(
      CheckNames(kInvalid, op.name, "operand", spec.operands, op.operands));
  INGOT_RETURN_IF_ERROR(CheckNames(absl::StatusCode::kUnimplemented, op.name,
                                   "attribute", spec.attrs, op.attrs));
  return CheckNames(kInvalid, op.name, "tuning", spec.tuning, op.tuning);
}

void SortParams(std::vector<Param>* params) {
  std::sort(params->begin(), params->end(),
            [](const Param& a, const Param& b) { return a.name < b.name; });
}

// Encodes and keys the kernels; one that two launches share stands once.
void FinishKernels(Plan* plan) {
  std::vector<PlanKernel> unique;
  std::vector<int> place(plan->kernels.size());
  absl::flat_hash_map<std::string, int> by_key;
  for (size_t i = 0; i < plan->kernels.size(); ++i) {
    PlanKernel& kernel = plan->kernels[i];
    kernel.spec.op = plan->resolved.op;
    kernel.spec.target = plan->resolved.target;
    kernel.spec.fingerprint = plan->fingerprint;
    SortParams(&kernel.spec.params);
    SortParams(&kernel.spec.codegen);
    kernel.encoding = EncodeKernelSpec(kernel.spec);
    kernel.key = KernelKey(kernel.encoding);
    const auto [it, is_new] =
        by_key.emplace(kernel.key, static_cast<int>(unique.size()));
    place[i] = it->second;
    if (is_new) unique.push_back(std::move(kernel));
  }
  plan->kernels = std::move(unique);
  for (Variant& variant : plan->variants) {
    for (RecipeStep& step : variant.recipe.steps) {
      if (LaunchStep* launch = std::get_if<LaunchStep>(&step)) {
        launch->kernel = place[launch->kernel];
      }
    }
  }
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const Spec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Spec canonical, Canonicalize(spec));
  const OpDef* op = FindOp(canonical.op);
  if (op == nullptr) {
    return Unimplemented("op", Quoted(canonical.op), KnownOps());
  }
  INGOT_RETURN_IF_ERROR(CheckAllNames(*op, canonical));
  INGOT_ASSIGN_OR_RETURN(std::string fingerprint, OpFingerprint(op->name));
  INGOT_ASSIGN_OR_RETURN(Plan plan, op->plan(canonical));
  plan.spec_digest = SpecDigest(canonical);
  plan.fingerprint = std::move(fingerprint);
  FinishKernels(&plan);
  return plan;
}

}  // namespace ingot
