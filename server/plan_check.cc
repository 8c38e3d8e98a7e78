#include "server/plan_check.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "compiler/plan.h"
#include "server/record_scan.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

absl::Status CheckLaunch(const v1::Launch& launch, const v1::Plan& plan,
                         const std::string& record_bytes) {
  v1::Record record;
  if (!ParseRecord(record_bytes, &record)) {
    return absl::DataLossError("the stored record does not parse");
  }
  INGOT_ASSIGN_OR_RETURN(const KernelSpec kernel,
                         DecodeKernelSpec(record.key_encoding()));
  v1::Launch expected;
  LaunchToWire(kernel, record.key(), kernel.grid, &expected);
  if (record.fingerprint() != plan.fingerprint() ||
      launch.SerializeAsString() != expected.SerializeAsString()) {
    return absl::DataLossError("the launch is not the one of its key");
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> KernelsOf(const v1::Plan& plan) {
  std::vector<std::string> keys;
  for (const v1::Variant& variant : plan.variants()) {
    for (const v1::Step& step : variant.recipe().steps()) {
      if (step.has_launch()) keys.push_back(step.launch().key());
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

absl::Status CheckPlan(
    const v1::Plan& plan,
    const std::function<std::optional<std::string>(absl::string_view key)>&
        record_of,
    bool kernels_may_miss) {
  if (plan.schema() > kPlanSchema) {
    return absl::UnimplementedError(absl::StrCat(
        "plan: found schema ", plan.schema(), ", allowed ", kPlanSchema));
  }
  INGOT_RETURN_IF_ERROR(CheckKeySize("plan.spec_digest", plan.spec_digest()));
  INGOT_RETURN_IF_ERROR(CheckKeySize("plan.fingerprint", plan.fingerprint()));
  for (const v1::Variant& variant : plan.variants()) {
    if (variant.recipe().version() > kRecipeVersion) {
      return absl::UnimplementedError(absl::StrCat(
          "plan: found recipe version ", variant.recipe().version(),
          ", allowed ", kRecipeVersion));
    }
    for (const v1::Step& step : variant.recipe().steps()) {
      if (!step.has_launch()) continue;
      const v1::Launch& launch = step.launch();
      const std::string context =
          absl::StrCat("kernel ", absl::BytesToHexString(launch.key()));
      const std::optional<std::string> record = record_of(launch.key());
      if (record) {
        INGOT_RETURN_IF_ERROR(
            Annotate(CheckLaunch(launch, plan, *record), context));
      } else if (!kernels_may_miss) {
        return absl::FailedPreconditionError(
            absl::StrCat(context,
                         ": the plan launches it, and it is not "
                         "stored"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::server
