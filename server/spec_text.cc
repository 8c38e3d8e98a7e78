#include "server/spec_text.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot::server {
namespace {

std::string DimText(const Dim& dim) {
  if (dim.value) return absl::StrCat(*dim.value);
  if (dim.min == 0 && dim.max == 0 && dim.multiple_of == 0) return "any";
  return absl::StrCat(dim.min, " to ",
                      dim.max == 0 ? std::string("any") : absl::StrCat(dim.max),
                      dim.multiple_of > 1
                          ? absl::StrCat(", multiple of ", dim.multiple_of)
                          : "");
}

std::string OperandText(const Operand& operand) {
  std::string text = operand.dtype;
  if (operand.stride_mode == StrideMode::kDynamic) {
    absl::StrAppend(&text, ", strides dynamic");
  } else if (operand.stride_mode == StrideMode::kStatic) {
    absl::StrAppend(&text, ", strides ", absl::StrJoin(operand.strides, " "));
  }
  if (operand.alignment != 0) {
    absl::StrAppend(&text, ", alignment ", operand.alignment);
  }
  return text;
}

struct ValueText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return absl::StrCat(value); }
  std::string operator()(const std::string& value) const {
    return absl::StrCat("\"", value, "\"");
  }
};

}  // namespace

std::string SpecText(const Spec& canonical) {
  std::string text =
      absl::StrCat("op ", canonical.op, "\ntarget ", canonical.target, "\n");
  for (const Dim& dim : canonical.dims) {
    absl::StrAppend(&text, "dim ", dim.name, " ", DimText(dim), "\n");
  }
  for (const Operand& operand : canonical.operands) {
    absl::StrAppend(&text, "operand ", operand.name, " ", OperandText(operand),
                    "\n");
  }
  for (const Attr& attr : canonical.attrs) {
    absl::StrAppend(&text, "attr ", attr.name, " ",
                    std::visit(ValueText{}, attr.value), "\n");
  }
  for (const Tuning& tuning : canonical.tuning) {
    absl::StrAppend(&text, "tuning ", tuning.name, " ", tuning.value, "\n");
  }
  return text;
}

}  // namespace ingot::server
