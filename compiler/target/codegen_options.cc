#include "compiler/target/codegen_options.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/refusal.h"

namespace ingot::target {
namespace {

absl::Status ReadOptimization(absl::string_view text, CodegenOptions* options) {
  if (text == "none") {
    options->optimization = Optimization::kNone;
  } else if (text == "light") {
    options->optimization = Optimization::kLight;
  } else if (text == "full") {
    options->optimization = Optimization::kFull;
  } else {
    return Invalid("codegen option opt", Quoted(text), "none, light, full");
  }
  return absl::OkStatus();
}

absl::Status ReadSchedule(absl::string_view text, CodegenOptions* options) {
  static constexpr absl::string_view kStrategies[] = {
      "max-ilp", "max-memory-clause", "iterative-ilp", "iterative-minreg",
      "iterative-maxocc"};
  if (std::find(std::begin(kStrategies), std::end(kStrategies), text) ==
      std::end(kStrategies)) {
    return Invalid("codegen option schedule", Quoted(text),
                   "a strategy of LLVM's AMDGPU scheduler");
  }
  options->schedule = std::string(text);
  return absl::OkStatus();
}

absl::Status ReadWaves(absl::string_view text, CodegenOptions* options) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  int min = 0, max = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &min) ||
      !absl::SimpleAtoi(parts[1], &max) || min < 1 || max < min || max > 8) {
    return Invalid("codegen option waves_per_eu", Quoted(text),
                   "min,max from 1 to 8");
  }
  options->waves_per_eu = std::string(text);
  return absl::OkStatus();
}

absl::Status ReadNumber(const std::string& name, int64_t value,
                        CodegenOptions* options) {
  const struct {
    absl::string_view name;
    int64_t max;
  } kNumbers[] = {{"agpr_alloc", 256}, {"preload", 14}, {"reorder", 1}};
  for (const auto& number : kNumbers) {
    if (name != number.name) continue;
    if (value < 0 || value > number.max) {
      return Invalid(absl::StrCat("codegen option ", name), absl::StrCat(value),
                     absl::StrCat("0 to ", number.max));
    }
    if (name == "agpr_alloc") options->agpr_alloc = value;
    if (name == "preload") options->preload = value;
    if (name == "reorder") options->reorder = value != 0;
    return absl::OkStatus();
  }
  return Invalid("codegen options", Quoted(name), "those of this build");
}

absl::Status ReadText(const std::string& name, const std::string& value,
                      CodegenOptions* options) {
  if (name == "opt") return ReadOptimization(value, options);
  if (name == "schedule") return ReadSchedule(value, options);
  if (name == "waves_per_eu") return ReadWaves(value, options);
  return Invalid("codegen options", Quoted(name), "those of this build");
}

}  // namespace

absl::StatusOr<CodegenOptions> ReadCodegenOptions(const KernelSpec& spec) {
  CodegenOptions options;
  for (const Param& param : spec.codegen) {
    const int64_t* number = std::get_if<int64_t>(&param.value);
    INGOT_RETURN_IF_ERROR(number != nullptr
                              ? ReadNumber(param.name, *number, &options)
                              : ReadText(param.name,
                                         std::get<std::string>(param.value),
                                         &options));
  }
  return options;
}

}  // namespace ingot::target
