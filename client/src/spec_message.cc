#include "client/src/spec_message.h"

#include <cstdlib>

#include "client/src/canonical.h"
#include "client/src/code_object.h"

namespace ingot::client {
namespace {

// protobuf-c's messages hold char*; packing only reads.
char* Borrow(const char* text) { return const_cast<char*>(text); }

template <typename T>
T** PointersTo(std::vector<T>* values, std::vector<T*>* pointers) {
  for (T& value : *values) pointers->push_back(&value);
  return pointers->data();
}

}  // namespace

Status DigestSpec(const ingot_spec* spec, const std::string& default_target,
                  std::string* digest) {
  uint8_t* encoding = nullptr;
  size_t size = 0;
  char error[512];
  const ingot_status status = ingot_canonical_encode(
      spec, default_target.c_str(), &encoding, &size, error, sizeof(error));
  if (status != INGOT_OK) return Error(status, "%s", error);
  *digest = Sha256(encoding, size);
  free(encoding);
  if (digest->size() == 32) return Status();
  return Error(INGOT_INTERNAL, "libcrypto has no SHA-256");
}

SpecMessage::SpecMessage(const ingot_spec& spec, const char* default_target) {
  ingot__v1__spec__init(&message_);
  message_.op = Borrow(spec.op);
  message_.target =
      Borrow(spec.target != nullptr ? spec.target : default_target);
  AddDims(spec);
  AddOperands(spec);
  AddAttrs(spec);
  AddTuning(spec);
}

void SpecMessage::AddDims(const ingot_spec& spec) {
  dims_.resize(spec.dim_count);
  ranges_.resize(spec.dim_count);
  for (uint32_t i = 0; i < spec.dim_count; ++i) {
    const ingot_dim& from = *INGOT_AT(ingot_dim, spec.dims, i);
    Ingot__V1__Dim& to = dims_[i];
    ingot__v1__dim__init(&to);
    to.name = Borrow(from.name);
    if (from.kind == INGOT_DIM_VALUE) {
      to.extent_case = INGOT__V1__DIM__EXTENT_VALUE;
      to.value = from.value;
    } else {
      ingot__v1__dim_range__init(&ranges_[i]);
      ranges_[i].min = from.min;
      ranges_[i].max = from.max;
      ranges_[i].multiple_of = from.multiple_of;
      to.extent_case = INGOT__V1__DIM__EXTENT_RANGE;
      to.range = &ranges_[i];
    }
  }
  message_.n_dims = dims_.size();
  message_.dims = PointersTo(&dims_, &dim_pointers_);
}

void SpecMessage::AddOperands(const ingot_spec& spec) {
  operands_.resize(spec.operand_count);
  for (uint32_t i = 0; i < spec.operand_count; ++i) {
    const ingot_operand& from = *INGOT_AT(ingot_operand, spec.operands, i);
    Ingot__V1__Operand& to = operands_[i];
    ingot__v1__operand__init(&to);
    to.name = Borrow(from.name);
    to.dtype = Borrow(from.dtype);
    to.stride_mode = static_cast<Ingot__V1__StrideMode>(from.stride_mode);
    to.n_strides = from.stride_count;
    to.strides = const_cast<int64_t*>(from.strides);
    to.alignment = from.alignment;
  }
  message_.n_operands = operands_.size();
  message_.operands = PointersTo(&operands_, &operand_pointers_);
}

void SpecMessage::AddAttrs(const ingot_spec& spec) {
  attrs_.resize(spec.attr_count);
  for (uint32_t i = 0; i < spec.attr_count; ++i) {
    const ingot_attr& from = *INGOT_AT(ingot_attr, spec.attrs, i);
    Ingot__V1__Attr& to = attrs_[i];
    ingot__v1__attr__init(&to);
    to.name = Borrow(from.name);
    switch (from.kind) {
      case INGOT_ATTR_BOOL:
        to.value_case = INGOT__V1__ATTR__VALUE_BOOL_VALUE;
        to.bool_value = from.int_value != 0;
        break;
      case INGOT_ATTR_INT:
        to.value_case = INGOT__V1__ATTR__VALUE_INT_VALUE;
        to.int_value = from.int_value;
        break;
      case INGOT_ATTR_FLOAT:
        to.value_case = INGOT__V1__ATTR__VALUE_FLOAT_VALUE;
        to.float_value = from.float_value;
        break;
      default:
        to.value_case = INGOT__V1__ATTR__VALUE_STRING_VALUE;
        to.string_value = Borrow(from.string_value);
    }
  }
  message_.n_attrs = attrs_.size();
  message_.attrs = PointersTo(&attrs_, &attr_pointers_);
}

void SpecMessage::AddTuning(const ingot_spec& spec) {
  tuning_.resize(spec.tuning_count);
  for (uint32_t i = 0; i < spec.tuning_count; ++i) {
    const ingot_tuning& from = *INGOT_AT(ingot_tuning, spec.tuning, i);
    ingot__v1__tuning__init(&tuning_[i]);
    tuning_[i].name = Borrow(from.name);
    tuning_[i].value = from.value;
  }
  message_.n_tuning = tuning_.size();
  message_.tuning = PointersTo(&tuning_, &tuning_pointers_);
}

}  // namespace ingot::client
