// Puts GetKernelResponse together from parts that are already encoded, and
// decides which kernels of a plan a request wants.
#ifndef INGOT_SERVER_REPLY_H_
#define INGOT_SERVER_REPLY_H_

#include <vector>

#include "server/lookup.h"
#include "server/message.h"
#include "server/plans.h"
#include "server/request_view.h"

namespace ingot::server {

// Whether the guards that only look at dims hold for the single values asked.
bool Matches(const Variant& variant, const Plan& plan, const Spec& asked);

// Indices into the plan's kernels, each once, in the order of their first
// launch. INVALID_ARGUMENT for a variant that is not there, and for dims that
// no variant covers.
absl::StatusOr<std::vector<size_t>> WantedKernels(const AskedPlan& plan,
                                                  const RequestView& view);

// Every slot has its record. Objects that are held, unwanted or too large for
// the reply are left out; only an unwanted one may be null. Objects are shared
// with their slots, not copied.
Message EncodeReply(const EncodedPlan& plan, const RequestView& view,
                    const std::vector<KernelSlot>& slots);

}  // namespace ingot::server

#endif  // INGOT_SERVER_REPLY_H_
