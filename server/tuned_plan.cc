#include "server/tuned_plan.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

// What a caller has to know of a plan before it chooses a variant.
std::string FaceOf(const Plan& plan) {
  Plan face;
  face.dims = plan.dims;
  face.operands = plan.operands;
  face.scalars = plan.scalars;
  v1::Plan wire;
  PlanToWire(face, 0, &wire);
  return wire.SerializeAsString();
}

// Whether what passes `narrow` passes `wide`.
bool Implies(const Guard& narrow, const Guard& wide) {
  return narrow.subject == wide.subject && narrow.index == wide.index &&
         narrow.min >= wide.min &&
         (wide.max == 0 || (narrow.max != 0 && narrow.max <= wide.max)) &&
         (wide.multiple_of <= 1 ||
          (narrow.multiple_of != 0 &&
           narrow.multiple_of % wide.multiple_of == 0));
}

// The dims that a plan covers, as guards that every launch passes.
std::vector<Guard> GuardsOf(const Plan& plan) {
  std::vector<Guard> guards;
  for (const PlanDim& dim : plan.dims) {
    guards.push_back({Guard::kDim, static_cast<int>(guards.size()), dim.min,
                      dim.max, dim.multiple_of});
  }
  return guards;
}

// Whether every launch that `later` takes is taken by `earlier`.
bool Covers(const Variant& earlier, const Variant& later,
            const std::vector<Guard>& always) {
  return std::all_of(
      earlier.guards.begin(), earlier.guards.end(), [&](const Guard& wide) {
        const auto implied = [&](const Guard& narrow) {
          return Implies(narrow, wide);
        };
        return std::any_of(later.guards.begin(), later.guards.end(), implied) ||
               std::any_of(always.begin(), always.end(), implied);
      });
}

int DimIndex(const Plan& plan, absl::string_view name) {
  for (size_t i = 0; i < plan.dims.size(); ++i) {
    if (plan.dims[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// Narrows a variant to a range of a dim; false when nothing is left of it.
bool Narrow(Variant& variant, int dim, const v1::TuningRange& range) {
  for (Guard& guard : variant.guards) {
    if (guard.subject != Guard::kDim || guard.index != dim) continue;
    guard.min = std::max(guard.min, range.min());
    if (range.max() != 0) {
      guard.max =
          guard.max == 0 ? range.max() : std::min(guard.max, range.max());
    }
    return guard.max == 0 || guard.min <= guard.max;
  }
  variant.guards.push_back({Guard::kDim, dim, range.min(), range.max(), 0});
  return true;
}

absl::Status CheckRange(const Plan& plan, const v1::TuningRange& range) {
  const int dim = DimIndex(plan, range.dim());
  if (dim < 0 || !IsTokenDim(range.dim())) {
    return absl::InvalidArgumentError(
        absl::StrCat("range.dim: found \"", range.dim(),
                     "\", allowed a token-like dim of the op"));
  }
  if (range.min() < 0 || range.max() < 0 ||
      (range.max() != 0 && range.max() < range.min())) {
    return absl::InvalidArgumentError(
        absl::StrCat("range: found ", range.min(), " to ", range.max(),
                     ", allowed min up to max, or a max of 0"));
  }
  return absl::OkStatus();
}

// The plan of `record`'s tuning alone, narrowed to its range.
absl::StatusOr<Plan> PlanOf(const Spec& asked, const Plan& base,
                            const v1::TuningRecord& record) {
  Spec spec = asked;
  spec.tuning.clear();
  for (const v1::Tuning& tuning : record.tuning()) {
    spec.tuning.push_back({tuning.name(), tuning.value()});
  }
  INGOT_ASSIGN_OR_RETURN(Plan plan, MakePlan(spec));
  if (FaceOf(plan) != FaceOf(base)) {
    return absl::InvalidArgumentError(
        "tuning: found values that change the plan's dims, operands or "
        "scalars, allowed those that do not");
  }
  if (!record.has_range()) return plan;
  INGOT_RETURN_IF_ERROR(CheckRange(plan, record.range()));
  const int dim = DimIndex(plan, record.range().dim());
  plan.variants.erase(std::remove_if(plan.variants.begin(), plan.variants.end(),
                                     [&](Variant& variant) {
                                       return !Narrow(variant, dim,
                                                      record.range());
                                     }),
                      plan.variants.end());
  return plan;
}

// Variants and kernels of several plans as one.
class Merger {
 public:
  explicit Merger(const Plan& base) : always_(GuardsOf(base)) {}

  // Variants of `plan` that can still be reached. `record`: whose, or nullopt.
  void Add(const Plan& plan, std::optional<uint64_t> record) {
    for (const Variant& variant : plan.variants) {
      const bool taken = std::any_of(variants_.begin(), variants_.end(),
                                     [&](const Variant& earlier) {
                                       return Covers(earlier, variant, always_);
                                     });
      if (!taken) AddVariant(plan, variant, record);
    }
  }

  // What the plan without records has, too, is there for none of them.
  void Finish(const Plan& base, TunedPlan* out) && {
    for (const PlanKernel& kernel : base.kernels) {
      const auto place = places_.find(kernel.key);
      if (place != places_.end()) {
        records_[static_cast<size_t>(place->second)].reset();
      }
    }
    out->plan.variants = std::move(variants_);
    out->plan.kernels = std::move(kernels_);
    for (size_t i = 0; i < records_.size(); ++i) {
      if (records_[i]) out->tuned_kernels.emplace_back(i, *records_[i]);
    }
  }

 private:
  void AddVariant(const Plan& plan, Variant variant,
                  std::optional<uint64_t> record) {
    for (RecipeStep& step : variant.recipe.steps) {
      LaunchStep* launch = std::get_if<LaunchStep>(&step);
      if (launch == nullptr) continue;
      const PlanKernel& kernel =
          plan.kernels[static_cast<size_t>(launch->kernel)];
      const auto [place, is_new] =
          places_.emplace(kernel.key, static_cast<int>(kernels_.size()));
      if (is_new) {
        kernels_.push_back(kernel);
        records_.push_back(record);
      }
      launch->kernel = place->second;
    }
    variants_.push_back(std::move(variant));
  }

  const std::vector<Guard> always_;
  std::vector<Variant> variants_;
  std::vector<PlanKernel> kernels_;
  std::vector<std::optional<uint64_t>> records_;  // by kernel
  absl::flat_hash_map<std::string, int> places_;  // by key
};

}  // namespace

absl::StatusOr<TunedPlan> MakeTunedPlan(
    const Spec& asked, const std::vector<TuningTable::Record>& records) {
  TunedPlan tuned;
  INGOT_ASSIGN_OR_RETURN(tuned.plan, MakePlan(asked));
  if (records.empty()) return tuned;
  const Plan base = tuned.plan;
  Merger merger(base);
  for (const TuningTable::Record& record : records) {
    if (record->fingerprint() != base.fingerprint) continue;
    const absl::StatusOr<Plan> plan = PlanOf(asked, base, *record);
    if (!plan.ok()) {
      tuned.unusable.emplace_back(record->epoch(),
                                  std::string(plan.status().message()));
      continue;
    }
    merger.Add(*plan, record->epoch());
    // A record for all launches says what the plan resolves to.
    if (!record->has_range() && records.size() == 1) {
      tuned.plan.resolved = plan->resolved;
    }
  }
  merger.Add(base, std::nullopt);
  std::move(merger).Finish(base, &tuned);
  return tuned;
}

absl::Status CheckTuning(const Spec& spec, const v1::TuningRecord& record) {
  if (record.tuning().empty()) {
    return absl::InvalidArgumentError(
        "tuning: found none, allowed one that Candidates lists");
  }
  INGOT_ASSIGN_OR_RETURN(const Plan base, MakePlan(spec));
  return PlanOf(spec, base, record).status();
}

}  // namespace ingot::server
