#include "server/plans.h"

#include <chrono>
#include <utility>

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

Plans::Plans(size_t max_bytes, Sign sign)
    : sign_(std::move(sign)),
      asked_(max_bytes / 4, kForever),
      encoded_(max_bytes / 4 * 3, kForever) {}

void Plans::Forget() {
  encoded_.Clear();
  asked_.Clear();
}

absl::StatusOr<std::shared_ptr<const AskedPlan>> Plans::Get(
    absl::string_view spec) {
  if (auto found = asked_.Find(spec)) return *std::move(found);
  const uint64_t generation = asked_.generation();
  v1::Spec wire;
  if (!wire.ParseFromArray(spec.data(), static_cast<int>(spec.size()))) {
    return absl::InvalidArgumentError("spec: the message is malformed");
  }
  auto asked = std::make_shared<AskedPlan>();
  INGOT_ASSIGN_OR_RETURN(asked->asked, SpecFromWire(wire));
  bool keep = true;
  INGOT_ASSIGN_OR_RETURN(asked->plan, Shared(asked->asked, &keep));
  INGOT_RETURN_IF_ERROR(CheckAskedDims(asked->asked, asked->plan->plan));
  std::shared_ptr<const AskedPlan> done = std::move(asked);
  if (keep) {
    asked_.Insert(spec, done, sizeof(AskedPlan) + spec.size() * 4, generation);
  }
  return done;
}

absl::StatusOr<std::shared_ptr<const EncodedPlan>> Plans::Shared(
    const Spec& asked, bool* keep) {
  INGOT_ASSIGN_OR_RETURN(const Spec canonical, Canonicalize(asked));
  const std::string key = EncodeSpec(canonical);
  if (auto found = encoded_.Find(key)) return *std::move(found);
  const uint64_t generation = encoded_.generation();
  auto plan = std::make_shared<EncodedPlan>();
  INGOT_ASSIGN_OR_RETURN(plan->plan, MakePlan(asked));
  v1::Plan wire;
  PlanToWire(plan->plan, kEpoch, &wire);
  plan->bytes = wire.SerializeAsString();
  if (sign_) *keep = sign_(plan->plan, &plan->bytes);
  std::shared_ptr<const EncodedPlan> done = std::move(plan);
  if (*keep) encoded_.Insert(key, done, PlanBytes(*done), generation);
  return done;
}

}  // namespace ingot::server
