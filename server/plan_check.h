// Plans that others made.
#ifndef INGOT_SERVER_PLAN_CHECK_H_
#define INGOT_SERVER_PLAN_CHECK_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ingot/v1/plan.pb.h"
#include "proto/status.h"

namespace ingot::server {

// Keys of the kernels that the plan launches, each once.
std::vector<std::string> KernelsOf(const v1::Plan& plan);

// Whether this build can keep the plan: its schema and recipes are known, its
// digests have their sizes, and every launch is, field for field, what the key
// of its kernel stands for. `record_of` gives a kernel's stored record; a
// launch without one is FAILED_PRECONDITION, or passes unseen if
// `kernels_may_miss`. UNIMPLEMENTED for what is newer, DATA_LOSS for what
// contradicts itself.
absl::Status CheckPlan(
    const v1::Plan& plan,
    const std::function<std::optional<std::string>(absl::string_view key)>&
        record_of,
    bool kernels_may_miss);

}  // namespace ingot::server

#endif  // INGOT_SERVER_PLAN_CHECK_H_
