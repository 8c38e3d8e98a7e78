#include "server/reply.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "server/wire_fields.h"

namespace ingot::server {
namespace {

bool GuardHolds(const Guard& guard, const Plan& plan, const Spec& asked) {
  if (guard.subject != Guard::kDim) return true;  // known at launch only
  const Dim* dim =
      asked.FindDim(plan.dims[static_cast<size_t>(guard.index)].name);
  if (dim == nullptr || !dim->value) return true;
  const int64_t value = *dim->value;
  return value >= guard.min && (guard.max == 0 || value <= guard.max) &&
         (guard.multiple_of <= 1 || value % guard.multiple_of == 0);
}

absl::StatusOr<std::vector<size_t>> WantedVariants(const AskedPlan& asked,
                                                   const RequestView& view) {
  const Plan& plan = asked.plan->plan;
  std::vector<size_t> wanted;
  switch (view.fetch) {
    case v1::FETCH_LISTED:
      for (const uint32_t variant : view.variants) {
        if (variant >= plan.variants.size()) {
          return absl::InvalidArgumentError(
              absl::StrCat("variants: found ", variant, ", allowed 0 to ",
                           plan.variants.size() - 1));
        }
        wanted.push_back(variant);
      }
      return wanted;
    case v1::FETCH_MATCHING:
      for (size_t i = 0; i < plan.variants.size(); ++i) {
        if (Matches(plan.variants[i], plan, asked.asked)) return {{i}};
      }
      return absl::InvalidArgumentError(
          absl::StrCat("spec.dims: found values that none of the ",
                       plan.variants.size(), " variants covers"));
    case v1::FETCH_PLAN_ONLY:
      return wanted;
    default:
      for (size_t i = 0; i < plan.variants.size(); ++i) wanted.push_back(i);
      return wanted;
  }
}

bool IsHeld(const RequestView& view, absl::string_view digest) {
  return std::find(view.held_digests.begin(), view.held_digests.end(),
                   digest) != view.held_digests.end();
}

// Objects from this size on are pieces of their own.
constexpr size_t kShared = 4096;

// Goes on in `*tail`, which is the end of the message and not yet in it.
void AppendKernel(Message* message, std::string* tail, const KernelSlot& slot,
                  bool inlined, bool follows) {
  const absl::string_view record = *slot.entry.record;
  std::string record_header;
  AppendHeader(&record_header, v1::Kernel::kRecordFieldNumber, record.size());
  std::string object_header;
  if (inlined) {
    AppendHeader(&object_header, v1::Kernel::kObjectFieldNumber,
                 slot.entry.object->size());
  }
  std::string fields;
  AppendField(&fields, v1::Kernel::kBytesFollowFieldNumber,
              static_cast<uint64_t>(follows));
  AppendField(&fields, v1::Kernel::kSourceFieldNumber,
              static_cast<uint64_t>(slot.source));
  AppendHeader(tail, v1::GetKernelResponse::kKernelsFieldNumber,
               record_header.size() + record.size() + object_header.size() +
                   (inlined ? slot.entry.object->size() : 0) + fields.size());
  absl::StrAppend(tail, record_header, record, object_header);
  if (inlined && slot.entry.object->size() >= kShared) {
    message->Append(std::exchange(*tail, {}));
    message->Append(slot.entry.object);
  } else if (inlined) {
    absl::StrAppend(tail, *slot.entry.object);
  }
  *tail += fields;
}

}  // namespace

bool Matches(const Variant& variant, const Plan& plan, const Spec& asked) {
  return std::all_of(
      variant.guards.begin(), variant.guards.end(),
      [&](const Guard& guard) { return GuardHolds(guard, plan, asked); });
}

absl::StatusOr<std::vector<size_t>> WantedKernels(const AskedPlan& asked,
                                                  const RequestView& view) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<size_t> variants,
                         WantedVariants(asked, view));
  const Plan& plan = asked.plan->plan;
  std::vector<bool> seen(plan.kernels.size());
  std::vector<size_t> kernels;
  for (const size_t variant : variants) {
    for (const RecipeStep& step : plan.variants[variant].recipe.steps) {
      const LaunchStep* launch = std::get_if<LaunchStep>(&step);
      if (launch == nullptr) continue;
      const auto kernel = static_cast<size_t>(launch->kernel);
      if (!seen[kernel]) kernels.push_back(kernel);
      seen[kernel] = true;
    }
  }
  return kernels;
}

Message EncodeReply(const EncodedPlan& plan, const RequestView& view,
                    const std::vector<KernelSlot>& slots) {
  using Response = v1::GetKernelResponse;
  size_t total = plan.bytes.size() + 64;
  for (const KernelSlot& slot : slots) total += slot.entry.record->size() + 64;
  Message reply;
  std::string tail;
  tail.reserve(total);
  AppendField(&tail, Response::kPlanFieldNumber, plan.bytes);
  size_t inlined = 0;
  uint64_t compile_us = 0;
  for (const KernelSlot& slot : slots) {
    compile_us += static_cast<uint64_t>(slot.compile_us);
    const bool wanted = !view.omit_bytes && !IsHeld(view, slot.entry.digest);
    const size_t size = wanted ? slot.entry.object->size() : 0;
    const bool fits =
        size <= kMaxInlineObject && inlined + size <= kMaxInlineReply;
    if (fits) inlined += size;
    AppendKernel(&reply, &tail, slot, wanted && fits, wanted && !fits);
  }
  AppendField(&tail, Response::kCompileUsFieldNumber, compile_us);
  reply.Append(std::move(tail));
  return reply;
}

}  // namespace ingot::server
