#include "compiler/ops/checks.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "compiler/refusal.h"

namespace ingot {
namespace {

absl::StatusOr<PlanDim> CheckRange(const Dim& dim, int64_t most) {
  const int64_t multiple = std::max<int64_t>(1, dim.multiple_of);
  const int64_t min = std::max<int64_t>(1, dim.min);
  const int64_t max = dim.max == 0 ? most : dim.max;
  const auto refuse = [&](absl::string_view part, int64_t found,
                          const std::string& allowed) {
    return Invalid(absl::StrCat("dim ", dim.name, part), absl::StrCat(found),
                   allowed);
  };
  if (min > most) {
    return refuse(" min", dim.min, absl::StrCat("at most ", most));
  }
  if (max > most || max < min) {
    return refuse(" max", dim.max, absl::StrCat(min, " to ", most));
  }
  if (max / multiple * multiple < min) {
    return refuse(" multiple_of", dim.multiple_of,
                  absl::StrCat("one with a multiple in ", min, " to ", max));
  }
  return PlanDim{dim.name, min, max, multiple};
}

}  // namespace

absl::StatusOr<PlanDim> CheckDim(const Spec& spec, absl::string_view name,
                                 int64_t most) {
  const Dim* dim = spec.FindDim(name);
  if (dim == nullptr) {
    return Invalid(absl::StrCat("dim ", name), "none", "a value or a range");
  }
  if (!dim->value.has_value()) return CheckRange(*dim, most);
  if (*dim->value < 1 || *dim->value > most) {
    return Invalid(absl::StrCat("dim ", name), absl::StrCat(*dim->value),
                   absl::StrCat("1 to ", most));
  }
  return PlanDim{dim->name, *dim->value, *dim->value, 1};
}

absl::StatusOr<const Operand*> CheckOperand(
    const Spec& spec, absl::string_view name,
    absl::Span<const absl::string_view> dtypes) {
  const Operand* operand = spec.FindOperand(name);
  if (operand == nullptr) {
    return Invalid(absl::StrCat("operand ", name), "none",
                   absl::StrJoin(dtypes, ", "));
  }
  if (std::find(dtypes.begin(), dtypes.end(), operand->dtype) == dtypes.end()) {
    return Invalid(absl::StrCat("dtype of operand ", name),
                   Quoted(operand->dtype), absl::StrJoin(dtypes, ", "));
  }
  return operand;
}

absl::StatusOr<std::string> CheckChoice(
    const Spec& spec, absl::string_view name, absl::string_view otherwise,
    absl::Span<const absl::string_view> allowed) {
  const Attr* attr = spec.FindAttr(name);
  if (attr == nullptr) return std::string(otherwise);
  const std::string field = absl::StrCat("attribute ", name);
  const std::string* text = std::get_if<std::string>(&attr->value);
  if (text == nullptr) {
    return Invalid(field, "no string", absl::StrJoin(allowed, ", "));
  }
  if (std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
    return Unimplemented(field, Quoted(*text), absl::StrJoin(allowed, ", "));
  }
  return *text;
}

int64_t DtypeBytes(absl::string_view dtype) {
  if (dtype == "bf16" || dtype == "f16") return 2;
  if (dtype == "f32" || dtype == "i32") return 4;
  if (dtype == "f64" || dtype == "i64") return 8;
  constexpr absl::string_view kBytes[] = {"i8",   "e4m3fn", "e5m2", "e8m0",
                                          "e2m3", "e3m2",   "e2m1"};
  for (const absl::string_view byte : kBytes) {
    if (dtype == byte) return 1;
  }
  return 0;
}

int64_t AlignmentOf(const Operand& operand) {
  return operand.alignment == 0 ? 16 : operand.alignment;
}

bool AlwaysMultiple(const PlanDim& dim, int64_t factor) {
  return dim.multiple_of % factor == 0 ||
         (dim.min == dim.max && dim.min % factor == 0);
}

}  // namespace ingot
