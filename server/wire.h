// Wire messages to the compiler's values and back: the only place that knows
// both. What is refused here is what a value cannot hold; all else is
// Canonicalize's and the op's to judge.
#ifndef INGOT_SERVER_WIRE_H_
#define INGOT_SERVER_WIRE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/code_object.h"
#include "compiler/plan.h"
#include "compiler/spec.h"
#include "ingot/v1/plan.pb.h"
#include "ingot/v1/record.pb.h"
#include "ingot/v1/spec.pb.h"
#include "proto/status.h"

namespace ingot::server {

inline constexpr uint32_t kPlanSchema = 1;

// INVALID_ARGUMENT naming field, found and allowed; UNIMPLEMENTED for fields of
// a newer client.
absl::StatusOr<Spec> SpecFromWire(const v1::Spec& wire);
void SpecToWire(const Spec& spec, v1::Spec* wire);

// A launch of the kernel under `key`.
void LaunchToWire(const KernelSpec& kernel, absl::string_view key,
                  const std::array<Expr, 3>& grid, v1::Launch* wire);

// `epoch`: the tuning epoch that the plan was made with.
void PlanToWire(const Plan& plan, uint64_t epoch, v1::Plan* wire);

void DescriptionToWire(const CodeObjectDescription& description,
                       absl::string_view op, v1::Description* wire);

// Reads back what DescriptionToWire wrote, for occupancy.
CodeObjectDescription DescriptionFromWire(const v1::Description& wire);

}  // namespace ingot::server

#endif  // INGOT_SERVER_WIRE_H_
