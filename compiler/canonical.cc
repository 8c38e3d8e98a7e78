// The C++ half of proto/canonical.md. The client has its own, in C; both are
// held against proto/vectors.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/ascii.h"
#include "compiler/field_codec.h"
#include "compiler/refusal.h"
#include "compiler/sha256.h"
#include "compiler/spec.h"

namespace ingot {
namespace {

constexpr uint32_t kSchema = 1;
constexpr size_t kLongestName = 64;
constexpr size_t kLongestString = 256;
constexpr size_t kMostStrides = 8;
constexpr uint32_t kDefaultAlignment = 16;
constexpr uint32_t kLargestAlignment = 4096;

absl::Status CheckName(absl::string_view kind, absl::string_view name) {
  const bool legal =
      !name.empty() && name.size() <= kLongestName &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
      });
  if (legal) return absl::OkStatus();
  return Invalid(absl::StrCat("name of ", kind), Quoted(name),
                 "1 to 64 characters of a-z, 0-9 and _");
}

// Checks names and length of a list and sorts it.
template <typename T>
absl::Status SortByName(absl::string_view kind, size_t most,
                        std::vector<T>* list) {
  if (list->size() > most) {
    return Invalid(absl::StrCat(kind, "s"), absl::StrCat(list->size()),
                   absl::StrCat("at most ", most));
  }
  for (const T& item : *list) {
    INGOT_RETURN_IF_ERROR(CheckName(kind, item.name));
  }
  std::sort(list->begin(), list->end(),
            [](const T& a, const T& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      list->begin(), list->end(),
      [](const T& a, const T& b) { return a.name == b.name; });
  if (twice == list->end()) return absl::OkStatus();
  return Invalid(absl::StrCat(kind, " ", twice->name), "the name twice",
                 "once");
}

absl::Status CanonicalizeDim(Dim* dim) {
  const auto check = [&](absl::string_view part, int64_t value) {
    if (value >= 0) return absl::OkStatus();
    return Invalid(absl::StrCat("dim ", dim->name, " ", part),
                   absl::StrCat(value), "0 or more");
  };
  INGOT_RETURN_IF_ERROR(check("value", dim->value.value_or(0)));
  INGOT_RETURN_IF_ERROR(check("min", dim->min));
  INGOT_RETURN_IF_ERROR(check("max", dim->max));
  INGOT_RETURN_IF_ERROR(check("multiple_of", dim->multiple_of));
  if (dim->multiple_of == 1) dim->multiple_of = 0;
  const bool ranged = dim->min != 0 || dim->max != 0 || dim->multiple_of != 0;
  if (dim->value.has_value() && ranged) {
    return Invalid(absl::StrCat("dim ", dim->name), "a value and a range",
                   "one of them");
  }
  if (IsTokenDim(dim->name)) dim->value.reset();
  return absl::OkStatus();
}

absl::Status CanonicalizeOperand(Operand* operand) {
  const std::string field = absl::StrCat("operand ", operand->name);
  INGOT_RETURN_IF_ERROR(
      CheckName(absl::StrCat("dtype of ", field), operand->dtype));
  const bool is_static = operand->stride_mode == StrideMode::kStatic;
  if (!is_static && operand->stride_mode != StrideMode::kDense &&
      operand->stride_mode != StrideMode::kDynamic) {
    return Invalid(absl::StrCat(field, " stride_mode"),
                   absl::StrCat(static_cast<int>(operand->stride_mode)),
                   "0 (dense), 1 (static) or 2 (dynamic)");
  }
  const size_t strides = operand->strides.size();
  if (is_static ? strides == 0 || strides > kMostStrides : strides != 0) {
    return Invalid(absl::StrCat(field, " strides"), absl::StrCat(strides),
                   is_static ? "1 to 8 with static strides"
                             : "none unless stride_mode is static");
  }
  uint32_t& alignment = operand->alignment;
  if (alignment > kLargestAlignment || (alignment & (alignment - 1)) != 0) {
    return Invalid(absl::StrCat(field, " alignment"), absl::StrCat(alignment),
                   "0 or a power of two up to 4096");
  }
  if (alignment == kDefaultAlignment) alignment = 0;
  return absl::OkStatus();
}

absl::Status CanonicalizeAttr(Attr* attr) {
  const std::string field = absl::StrCat("attribute ", attr->name);
  if (double* value = std::get_if<double>(&attr->value)) {
    if (std::isnan(*value)) return Invalid(field, "NaN", "a number");
    if (*value == 0) *value = 0.0;  // -0.0 has no encoding of its own
  }
  if (const std::string* value = std::get_if<std::string>(&attr->value)) {
    if (value->size() > kLongestString) {
      return Invalid(field, Quoted(*value), "at most 256 bytes");
    }
  }
  return absl::OkStatus();
}

template <typename T, typename Encode>
void ListField(absl::string_view name, const std::vector<T>& list,
               FieldWriter* out, Encode encode) {
  if (list.empty()) return;
  FieldWriter value;
  value.U32(static_cast<uint32_t>(list.size()));
  for (const T& item : list) {
    FieldWriter element;
    element.StringField("name", item.name);
    encode(item, &element);
    value.Bytes(element.str());
  }
  out->StringField(name, value.str());
}

void EncodeDim(const Dim& dim, FieldWriter* out) {
  if (dim.value.has_value()) {
    out->I64Field("value", *dim.value);
    return;
  }
  if (dim.min != 0) out->I64Field("min", dim.min);
  if (dim.max != 0) out->I64Field("max", dim.max);
  if (dim.multiple_of != 0) out->I64Field("multiple_of", dim.multiple_of);
}

void EncodeOperand(const Operand& operand, FieldWriter* out) {
  out->StringField("dtype", operand.dtype);
  if (operand.stride_mode != StrideMode::kDense) {
    out->U32Field("stride_mode", static_cast<uint32_t>(operand.stride_mode));
  }
  if (!operand.strides.empty()) {
    FieldWriter strides;
    for (const int64_t stride : operand.strides) strides.I64(stride);
    out->StringField("strides", strides.str());
  }
  if (operand.alignment != 0) out->U32Field("alignment", operand.alignment);
}

void EncodeAttr(const Attr& attr, FieldWriter* out) {
  if (const bool* flag = std::get_if<bool>(&attr.value)) {
    out->U8Field("bool", *flag ? 1 : 0);
  } else if (const int64_t* integer = std::get_if<int64_t>(&attr.value)) {
    out->I64Field("int", *integer);
  } else if (const double* number = std::get_if<double>(&attr.value)) {
    int64_t bits;
    std::memcpy(&bits, number, sizeof(bits));
    out->I64Field("float", bits);
  } else {
    out->StringField("string", std::get<std::string>(attr.value));
  }
}

}  // namespace

absl::StatusOr<Spec> Canonicalize(const Spec& spec) {
  INGOT_RETURN_IF_ERROR(CheckName("op", spec.op));
  Spec canonical = spec;
  INGOT_ASSIGN_OR_RETURN(canonical.target, CanonicalTarget(spec.target));
  INGOT_RETURN_IF_ERROR(SortByName("dim", 64, &canonical.dims));
  INGOT_RETURN_IF_ERROR(SortByName("operand", 32, &canonical.operands));
  INGOT_RETURN_IF_ERROR(SortByName("attribute", 64, &canonical.attrs));
  INGOT_RETURN_IF_ERROR(SortByName("tuning", 64, &canonical.tuning));
  for (Dim& dim : canonical.dims) {
    INGOT_RETURN_IF_ERROR(CanonicalizeDim(&dim));
  }
  for (Operand& operand : canonical.operands) {
    INGOT_RETURN_IF_ERROR(CanonicalizeOperand(&operand));
  }
  for (Attr& attr : canonical.attrs) {
    INGOT_RETURN_IF_ERROR(CanonicalizeAttr(&attr));
  }
  return canonical;
}

std::string EncodeSpec(const Spec& canonical) {
  FieldWriter out;
  out.Raw("ingot.spec");
  out.U32(kSchema);
  out.StringField("op", canonical.op);
  out.StringField("target", canonical.target);
  ListField("dims", canonical.dims, &out, EncodeDim);
  ListField("operands", canonical.operands, &out, EncodeOperand);
  ListField("attrs", canonical.attrs, &out, EncodeAttr);
  ListField("tuning", canonical.tuning, &out,
            [](const Tuning& tuning, FieldWriter* element) {
              element->I64Field("value", tuning.value);
            });
  return out.Take();
}

std::string SpecDigest(const Spec& canonical) {
  return Sha256(EncodeSpec(canonical));
}

}  // namespace ingot
