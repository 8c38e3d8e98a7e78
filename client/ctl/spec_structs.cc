#include "client/ctl/spec_structs.h"

namespace ingot::ctl {
namespace {

ingot_dim DimOf(const v1::Dim& from) {
  ingot_dim to = {sizeof(to)};
  // One that says nothing is a range without limits, as the daemon has it.
  to.kind = from.has_value() ? INGOT_DIM_VALUE : INGOT_DIM_RANGE;
  to.name = from.name().c_str();
  to.value = from.value();
  to.min = from.range().min();
  to.max = from.range().max();
  to.multiple_of = from.range().multiple_of();
  return to;
}

ingot_operand OperandOf(const v1::Operand& from) {
  ingot_operand to = {sizeof(to)};
  to.stride_mode = static_cast<uint32_t>(from.stride_mode());
  to.name = from.name().c_str();
  to.dtype = from.dtype().c_str();
  to.strides = from.strides().data();
  to.stride_count = static_cast<uint32_t>(from.strides_size());
  to.alignment = from.alignment();
  return to;
}

ingot_attr AttrOf(const v1::Attr& from) {
  ingot_attr to = {sizeof(to)};
  to.name = from.name().c_str();
  switch (from.value_case()) {
    case v1::Attr::kBoolValue:
      to.kind = INGOT_ATTR_BOOL;
      to.int_value = from.bool_value();
      break;
    case v1::Attr::kIntValue:
      to.kind = INGOT_ATTR_INT;
      to.int_value = from.int_value();
      break;
    case v1::Attr::kFloatValue:
      to.kind = INGOT_ATTR_FLOAT;
      to.float_value = from.float_value();
      break;
    case v1::Attr::kStringValue:
      to.kind = INGOT_ATTR_STRING;
      to.string_value = from.string_value().c_str();
      break;
    case v1::Attr::VALUE_NOT_SET:
      break;
  }
  return to;
}

}  // namespace

SpecStructs::SpecStructs(const v1::Spec& message) {
  for (const v1::Dim& dim : message.dims()) dims_.push_back(DimOf(dim));
  for (const v1::Operand& operand : message.operands()) {
    operands_.push_back(OperandOf(operand));
  }
  for (const v1::Attr& attr : message.attrs()) attrs_.push_back(AttrOf(attr));
  for (const v1::Tuning& from : message.tuning()) {
    ingot_tuning to = {sizeof(to)};
    to.name = from.name().c_str();
    to.value = from.value();
    tuning_.push_back(to);
  }
  spec_.size = sizeof(spec_);
  spec_.op = message.op().c_str();
  spec_.target = message.target().c_str();
  spec_.dims = dims_.data();
  spec_.operands = operands_.data();
  spec_.attrs = attrs_.data();
  spec_.tuning = tuning_.data();
  spec_.dim_count = static_cast<uint32_t>(dims_.size());
  spec_.operand_count = static_cast<uint32_t>(operands_.size());
  spec_.attr_count = static_cast<uint32_t>(attrs_.size());
  spec_.tuning_count = static_cast<uint32_t>(tuning_.size());
}

}  // namespace ingot::ctl
