// Admin: the specs that kernels were compiled for, read from the stored plans.
// A stored plan itself is never served: the planner is no part of an op's
// fingerprint, so only the one that runs now knows what it would plan.
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ingot/v1/plan.pb.h"
#include "server/admin.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

constexpr size_t kDefaultPage = 1000;
constexpr size_t kLargestPage = 10000;
constexpr size_t kMaxToken = 1024;

// Specs that are tried for one plan: some 10 us each.
constexpr size_t kMaxTries = 1 << 12;

template <typename T>
std::vector<T> Some(const std::vector<T>& all, size_t subset) {
  std::vector<T> some;
  for (size_t i = 0; i < all.size(); ++i) {
    if ((subset >> i & 1) != 0) some.push_back(all[i]);
  }
  return some;
}

// Subsets of `size` things: none and all of them, then the others.
std::vector<size_t> Subsets(size_t size) {
  const size_t all = (size_t{1} << size) - 1;
  std::vector<size_t> subsets = {0};
  if (all != 0) subsets.push_back(all);
  for (size_t subset = 1; subset < all && subset < kMaxTries; ++subset) {
    subsets.push_back(subset);
  }
  return subsets;
}

// A plan resolves its spec: attributes and tuning that were left out have their
// values there. What was asked for is what has the plan's spec digest with some
// of them.
std::optional<Spec> AskedSpec(const v1::Plan& plan) {
  const absl::StatusOr<Spec> resolved = SpecFromWire(plan.resolved_spec());
  if (!resolved.ok() || resolved->tuning.size() > 16 ||
      resolved->attrs.size() > 16) {
    return std::nullopt;
  }
  Spec asked = *resolved;
  size_t tries = 0;
  for (const size_t tuning : Subsets(resolved->tuning.size())) {
    for (const size_t attrs : Subsets(resolved->attrs.size())) {
      if (++tries > kMaxTries) return std::nullopt;
      asked.tuning = Some(resolved->tuning, tuning);
      asked.attrs = Some(resolved->attrs, attrs);
      absl::StatusOr<Spec> canonical = Canonicalize(asked);
      if (!canonical.ok()) return std::nullopt;
      if (SpecDigest(*canonical) == plan.spec_digest()) return *canonical;
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<v1::ListSpecsResponse> Admin::ListSpecs(
    const v1::ListSpecsRequest& request) {
  if (request.page_size() > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat(
        "page_size: found ", request.page_size(), ", allowed ", kLargestPage));
  }
  if (request.page_token().size() > kMaxToken) {
    return absl::InvalidArgumentError("page_token: found none of ours");
  }
  const auto page = static_cast<int>(
      request.page_size() == 0 ? kDefaultPage : request.page_size());
  v1::ListSpecsResponse response;
  std::set<std::string> seen;  // one spec has a plan for each epoch and build
  std::string last = request.page_token();
  INGOT_RETURN_IF_ERROR(parts_.store.tiers().ScanPlans(
      request.page_token(), std::numeric_limits<size_t>::max(),
      [&](const cache::PlanEntry& entry) {
        if (parts_.stopping()) return false;
        if (response.specs_size() == page) {
          response.set_next_page_token(last);
          return false;
        }
        last = entry.plan_key;
        v1::Plan plan;
        if (!plan.ParseFromString(entry.plan)) return true;
        if (!request.op().empty() &&
            plan.resolved_spec().op() != request.op()) {
          return true;
        }
        if (!seen.insert(plan.spec_digest()).second) return true;
        const std::optional<Spec> asked = AskedSpec(plan);
        if (asked) SpecToWire(*asked, response.add_specs());
        return true;
      }));
  return response;
}

}  // namespace ingot::server
