#include "server/plans.h"

#include <chrono>
#include <utility>

#include "compiler/sha256.h"
#include "server/tuned_plan.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

constexpr std::chrono::nanoseconds kForever{0};

// What a plan takes beside its encoding, roughly: expression nodes are some ten
// times the size of their encoding.
size_t PlanBytes(const EncodedPlan& plan) {
  return sizeof(EncodedPlan) + plan.bytes.size() * 10;
}

// Token-like values are in no spec's encoding, so no plan was refused for them.
absl::Status CheckAskedDims(const Spec& asked, const Plan& plan) {
  for (const PlanDim& covered : plan.dims) {
    const Dim* dim = asked.FindDim(covered.name);
    if (dim == nullptr || !dim->value) continue;
    const int64_t value = *dim->value;
    const bool fits =
        value >= covered.min && (covered.max == 0 || value <= covered.max) &&
        (covered.multiple_of <= 1 || value % covered.multiple_of == 0);
    if (fits) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "dim ", covered.name, ": found ", value, ", allowed ", covered.min,
        " to ",
        covered.max == 0 ? std::string("any") : absl::StrCat(covered.max),
        covered.multiple_of > 1
            ? absl::StrCat(", multiples of ", covered.multiple_of)
            : ""));
  }
  return absl::OkStatus();
}

}  // namespace

Plans::Plans(size_t max_bytes, TuningTable& tuning, Sign sign)
    : tuning_(tuning),
      sign_(std::move(sign)),
      asked_(max_bytes / 4, kForever),
      encoded_(max_bytes / 4 * 3, kForever) {}

void Plans::Forget() {
  encoded_.Clear();
  asked_.Clear();
}

absl::StatusOr<std::shared_ptr<const AskedPlan>> Plans::Get(
    absl::string_view spec, uint64_t pin_epoch) {
  std::string pinned;
  absl::string_view key = spec;
  if (pin_epoch != 0) {
    // A zero byte where a field would begin: no other spec's bytes.
    pinned = absl::StrCat(spec, absl::string_view("\0", 1), pin_epoch);
    key = pinned;
  }
  if (auto found = asked_.Find(key)) return *std::move(found);
  const uint64_t generation = asked_.generation();
  v1::Spec wire;
  if (!wire.ParseFromArray(spec.data(), static_cast<int>(spec.size()))) {
    return absl::InvalidArgumentError("spec: the message is malformed");
  }
  auto asked = std::make_shared<AskedPlan>();
  INGOT_ASSIGN_OR_RETURN(asked->asked, SpecFromWire(wire));
  bool keep = true;
  INGOT_ASSIGN_OR_RETURN(asked->plan, Shared(asked->asked, pin_epoch, &keep));
  INGOT_RETURN_IF_ERROR(CheckAskedDims(asked->asked, asked->plan->plan));
  std::shared_ptr<const AskedPlan> done = std::move(asked);
  if (keep) {
    asked_.Insert(key, done, sizeof(AskedPlan) + spec.size() * 4, generation);
  }
  return done;
}

absl::StatusOr<std::shared_ptr<const EncodedPlan>> Plans::Shared(
    const Spec& asked, uint64_t pin_epoch, bool* keep) {
  INGOT_ASSIGN_OR_RETURN(const Spec canonical, Canonicalize(asked));
  const std::string encoding = EncodeSpec(canonical);
  const uint64_t generation = encoded_.generation();
  INGOT_ASSIGN_OR_RETURN(const TuningTable::Answer tuning,
                         tuning_.At(Sha256(encoding), pin_epoch));
  const std::string key = absl::StrCat(tuning.epoch, " ", encoding);
  if (auto found = encoded_.Find(key)) return *std::move(found);
  INGOT_ASSIGN_OR_RETURN(TunedPlan tuned, MakeTunedPlan(asked, tuning.records));
  if (!tuned.unusable.empty() && pin_epoch == 0) {
    for (const auto& [record, why] : tuned.unusable) {
      INGOT_RETURN_IF_ERROR(
          tuning_.End({record}, absl::StrCat("unusable: ", why)).status());
    }
    return Shared(asked, pin_epoch, keep);
  }
  auto plan = std::make_shared<EncodedPlan>();
  plan->plan = std::move(tuned.plan);
  plan->epoch = tuning.epoch;
  plan->tuned_kernels = std::move(tuned.tuned_kernels);
  v1::Plan wire;
  PlanToWire(plan->plan, plan->epoch, &wire);
  plan->bytes = wire.SerializeAsString();
  if (sign_) *keep = sign_(*plan, &plan->bytes);
  std::shared_ptr<const EncodedPlan> done = std::move(plan);
  if (*keep) encoded_.Insert(key, done, PlanBytes(*done), generation);
  return done;
}

}  // namespace ingot::server
