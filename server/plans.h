// Plans by the bytes of the spec that a client sent: planned once, kept
// encoded.
#ifndef INGOT_SERVER_PLANS_H_
#define INGOT_SERVER_PLANS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/plan.h"
#include "proto/status.h"
#include "server/bytes_cache.h"
#include "server/plan_key.h"
#include "server/tuning_table.h"

namespace ingot::server {

struct EncodedPlan {
  Plan plan;
  uint64_t epoch = 1;  // TuningTable::Answer::epoch
  // Kernels, by their place in the plan, that it has for a tuning record alone,
  // and the record.
  std::vector<std::pair<size_t, uint64_t>> tuned_kernels;
  std::string bytes;  // v1::Plan
};

// Where a plan of this daemon is kept in the store.
inline std::string PlanKey(const EncodedPlan& encoded) {
  return PlanKey(encoded.plan.spec_digest, encoded.plan.fingerprint,
                 encoded.epoch);
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
  using Sign = std::function<bool(const EncodedPlan& plan, std::string* bytes)>;

  // `tuning` must outlive this; `sign` may be empty.
  Plans(size_t max_bytes, TuningTable& tuning, Sign sign = nullptr);

  // `spec`: a serialised v1::Spec. INVALID_ARGUMENT when it is none, and
  // MakePlan's refusals, none of which is remembered: they cost microseconds.
  // `pin_epoch` 0 is the answer of now; FAILED_PRECONDITION for an epoch that
  // is not kept.
  absl::StatusOr<std::shared_ptr<const AskedPlan>> Get(absl::string_view spec,
                                                       uint64_t pin_epoch = 0);

  // The answer of now may be another: tuning records changed.
  void ForgetNewest() { asked_.Clear(); }

  // Plans are made anew, because they would be signed otherwise.
  void Forget();

 private:
  // `*keep`: whether it may be cached.
  absl::StatusOr<std::shared_ptr<const EncodedPlan>> Shared(const Spec& asked,
                                                            uint64_t pin_epoch,
                                                            bool* keep);

  TuningTable& tuning_;
  const Sign sign_;
  BytesCache<std::shared_ptr<const AskedPlan>> asked_;  // by wire bytes
  // By epoch of the answer and EncodeSpec.
  BytesCache<std::shared_ptr<const EncodedPlan>> encoded_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_PLANS_H_
