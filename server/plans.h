// Plans by the bytes of the spec that a client sent: planned once, kept
// encoded.
#ifndef INGOT_SERVER_PLANS_H_
#define INGOT_SERVER_PLANS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/plan.h"
#include "proto/status.h"
#include "server/bytes_cache.h"
#include "server/plan_key.h"

namespace ingot::server {

// The only tuning epoch there is until there are tuning records.
inline constexpr uint64_t kEpoch = 1;

struct EncodedPlan {
  Plan plan;
  std::string bytes;  // v1::Plan
};

// Where a plan of this daemon is kept in the store.
inline std::string PlanKey(const Plan& plan) {
  return PlanKey(plan.spec_digest, plan.fingerprint, kEpoch);
}

// A spec as it was asked, token-like values included, with the plan that all
// such specs share.
struct AskedPlan {
  Spec asked;
  std::shared_ptr<const EncodedPlan> plan;
};

// Thread-safe.
class Plans {
 public:
  // Adds signatures to an encoded plan. False: they are not those that it will
  // have one day, so it is not kept.
  using Sign = std::function<bool(const Plan& plan, std::string* bytes)>;

  // `sign` may be empty.
  explicit Plans(size_t max_bytes, Sign sign = nullptr);

  // `spec`: a serialised v1::Spec. INVALID_ARGUMENT when it is none, and
  // MakePlan's refusals, none of which is remembered: they cost microseconds.
  absl::StatusOr<std::shared_ptr<const AskedPlan>> Get(absl::string_view spec);

  // Plans are made anew, because they would be signed otherwise.
  void Forget();

 private:
  // `*keep`: whether it may be cached.
  absl::StatusOr<std::shared_ptr<const EncodedPlan>> Shared(const Spec& asked,
                                                            bool* keep);

  const Sign sign_;
  BytesCache<std::shared_ptr<const AskedPlan>> asked_;      // by wire bytes
  BytesCache<std::shared_ptr<const EncodedPlan>> encoded_;  // by EncodeSpec
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_PLANS_H_
