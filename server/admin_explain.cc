// Admin: why a spec is answered as it is, and what else it could be tuned to.
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/candidates.h"
#include "server/admin.h"
#include "server/kernel_difference.h"
#include "server/record_scan.h"
#include "server/reply.h"
#include "server/spec_text.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

void AddCandidate(const Candidate& candidate, v1::Candidate* out) {
  for (const Tuning& tuning : candidate.tuning) {
    v1::Tuning* added = out->add_tuning();
    added->set_name(tuning.name);
    added->set_value(tuning.value);
  }
  out->set_predicted_us(candidate.predicted_us);
  out->set_refusal(candidate.refusal);
  for (const std::string& key : candidate.keys) out->add_keys(key);
  out->set_chosen(candidate.chosen);
}

std::string GuardText(const Guard& guard, const Plan& plan) {
  const auto operand = [&](int index) {
    return plan.operands[static_cast<size_t>(index)].name;
  };
  std::string text;
  switch (guard.subject) {
    case Guard::kDim:
      text = plan.dims[static_cast<size_t>(guard.index)].name;
      break;
    case Guard::kOperandAlignment:
      text = absl::StrCat("alignment of ", operand(guard.index));
      break;
    case Guard::kOperandStride:
      text = absl::StrCat("stride ", guard.index % 8, " of ",
                          operand(guard.index / 8));
      break;
  }
  if (guard.min != 0 || guard.max != 0) {
    absl::StrAppend(&text, " ", guard.min, "..",
                    guard.max == 0 ? "" : absl::StrCat(guard.max));
  }
  if (guard.multiple_of > 1) {
    absl::StrAppend(&text, " multiple of ", guard.multiple_of);
  }
  return text;
}

// The index of the first variant that the asked dims match; none when none
// does.
std::optional<size_t> Matching(const AskedPlan& asked) {
  const Plan& plan = asked.plan->plan;
  for (size_t i = 0; i < plan.variants.size(); ++i) {
    if (Matches(plan.variants[i], plan, asked.asked)) return i;
  }
  return std::nullopt;
}

void AddVariants(const AskedPlan& asked, v1::ExplainResponse* response) {
  const Plan& plan = asked.plan->plan;
  for (const Variant& variant : plan.variants) {
    v1::ExplainedVariant* out = response->add_variants();
    out->set_name(variant.name);
    out->set_guards(absl::StrJoin(
        variant.guards, ", ", [&](std::string* text, const Guard& guard) {
          absl::StrAppend(text, GuardText(guard, plan));
        }));
    for (const RecipeStep& step : variant.recipe.steps) {
      const LaunchStep* launch = std::get_if<LaunchStep>(&step);
      if (launch == nullptr) continue;
      out->add_kernels(static_cast<uint32_t>(launch->kernel));
    }
  }
  if (const std::optional<size_t> first = Matching(asked)) {
    response->mutable_variants(static_cast<int>(*first))->set_matches(true);
  }
}

// A missing kernel with the nearest stored one so far.
struct Miss {
  const KernelSpec* wanted = nullptr;
  v1::ExplainedKernel* out = nullptr;
  size_t distance = std::numeric_limits<size_t>::max();

  void Consider(const v1::Record& record, const KernelSpec& stored) {
    const std::vector<KernelDifference> differences =
        DifferencesOf(*wanted, stored);
    if (differences.size() >= distance) return;
    distance = differences.size();
    out->set_nearest_key(record.key());
    out->set_nearest_symbol(stored.symbol);
    out->clear_differences();
    for (const KernelDifference& difference : differences) {
      v1::FieldDifference* added = out->add_differences();
      added->set_field(difference.field);
      added->set_wanted(difference.wanted);
      added->set_stored(difference.stored);
    }
  }
};

// Looks for the nearest stored kernel of each of `misses`.
absl::StatusOr<uint64_t> FindNearest(cache::Store& store, absl::string_view op,
                                     const std::function<bool()>& stop,
                                     std::vector<Miss>* misses) {
  uint64_t compared = 0;
  if (misses->empty()) return compared;
  INGOT_RETURN_IF_ERROR(
      ScanAll(store, "", stop, [&](const cache::ScanEntry& entry) {
        v1::Record record;
        if (!ParseRecord(entry.record, &record)) return true;
        if (record.description().op() != op) return true;
        const absl::StatusOr<KernelSpec> stored =
            DecodeKernelSpec(record.key_encoding());
        if (!stored.ok()) return true;
        ++compared;
        for (Miss& miss : *misses) miss.Consider(record, *stored);
        return true;
      }));
  return compared;
}

}  // namespace

absl::StatusOr<v1::ExplainResponse> Admin::Explain(
    const v1::ExplainRequest& request) {
  INGOT_ASSIGN_OR_RETURN(
      const std::shared_ptr<const AskedPlan> asked,
      parts_.lookup.plans().Get(request.spec().SerializeAsString(),
                                request.pin_epoch()));
  const EncodedPlan& encoded = *asked->plan;
  const Plan& plan = encoded.plan;
  v1::ExplainResponse response;
  INGOT_ASSIGN_OR_RETURN(const Spec canonical, Canonicalize(asked->asked));
  response.set_canonical_text(SpecText(canonical));
  response.set_spec_digest(plan.spec_digest);
  response.set_epoch(encoded.epoch);
  INGOT_ASSIGN_OR_RETURN(const TuningTable::Answer tuning,
                         parts_.tuning.At(plan.spec_digest, encoded.epoch));
  for (const TuningTable::Record& record : tuning.records) {
    *response.add_tuning() = *record;
  }
  SpecToWire(plan.resolved, response.mutable_resolved_spec());
  AddVariants(*asked, &response);
  std::vector<Miss> misses;  // messages in a repeated field do not move
  const absl::Status op_disabled = parts_.disabled.CheckOp(plan.resolved.op);
  for (const PlanKernel& kernel : plan.kernels) {
    v1::ExplainedKernel* out = response.add_kernels();
    out->set_key(kernel.key);
    out->set_symbol(kernel.spec.symbol);
    const std::optional<Found> found =
        parts_.store.FindRecord(kernel.key, kernel.encoding);
    out->set_state(!found                             ? "missing"
                   : found->source == Source::kMemory ? "memory"
                                                      : "store");
    absl::Status refusal = op_disabled;
    if (refusal.ok()) refusal = parts_.disabled.CheckKey(kernel.key);
    if (refusal.ok()) refusal = parts_.builder.Known(kernel.key);
    out->set_refusal(std::string(refusal.message()));
    if (!found) misses.push_back({&kernel.spec, out});
  }
  INGOT_ASSIGN_OR_RETURN(const uint64_t compared,
                         FindNearest(parts_.store.tiers(), plan.resolved.op,
                                     parts_.stopping, &misses));
  response.set_compared(compared);
  INGOT_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                         Candidates(asked->asked));
  for (const Candidate& candidate : candidates) {
    AddCandidate(candidate, response.add_candidates());
  }
  return response;
}

absl::StatusOr<v1::CandidatesResponse> Admin::ListCandidates(
    const v1::CandidatesRequest& request) {
  INGOT_ASSIGN_OR_RETURN(const Spec asked, SpecFromWire(request.spec()));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                         Candidates(asked));
  v1::CandidatesResponse response;
  for (const Candidate& candidate : candidates) {
    const auto limit = static_cast<int>(request.limit());
    if (limit != 0 && response.candidates_size() == limit) break;
    AddCandidate(candidate, response.add_candidates());
  }
  return response;
}

}  // namespace ingot::server
