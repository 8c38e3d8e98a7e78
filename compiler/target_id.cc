#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "compiler/refusal.h"
#include "compiler/spec.h"

namespace ingot {
namespace {

constexpr size_t kLongestTarget = 256;

bool IsProcessorName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  });
}

// Alphabetical, as AMD writes them.
constexpr absl::string_view kFeatures[] = {"sramecc", "xnack"};
constexpr absl::string_view kFeaturesAllowed =
    "sramecc+, sramecc-, xnack+ or xnack-, each feature at most once";

}  // namespace

absl::StatusOr<std::string> CanonicalTarget(absl::string_view target) {
  if (target.empty() || target.size() > kLongestTarget) {
    return Invalid("target", Quoted(target),
                   "gfx950, optionally with features");
  }
  const std::string folded = absl::AsciiStrToLower(target);
  const std::vector<absl::string_view> parts = absl::StrSplit(folded, ':');
  if (!IsProcessorName(parts[0])) {
    return Invalid("target", Quoted(target), "a processor such as gfx950");
  }
  std::array<char, 2> signs = {0, 0};
  for (size_t i = 1; i < parts.size(); ++i) {
    absl::string_view feature = parts[i];
    const char sign = feature.empty() ? '\0' : feature.back();
    feature = feature.substr(0, feature.empty() ? 0 : feature.size() - 1);
    const auto* known =
        std::find(std::begin(kFeatures), std::end(kFeatures), feature);
    if (known == std::end(kFeatures) || (sign != '+' && sign != '-')) {
      return Invalid("target feature", Quoted(parts[i]), kFeaturesAllowed);
    }
    char& slot = signs[known - std::begin(kFeatures)];
    if (slot != 0) return Invalid("target", Quoted(target), kFeaturesAllowed);
    slot = sign;
  }
  if (parts[0] != "gfx950") {
    return Unimplemented("target processor", Quoted(parts[0]), "gfx950");
  }
  std::string canonical(parts[0]);
  for (size_t i = 0; i < signs.size(); ++i) {
    if (signs[i] != 0) {
      absl::StrAppend(&canonical, ":", kFeatures[i],
                      absl::string_view(&signs[i], 1));
    }
  }
  return canonical;
}

}  // namespace ingot
