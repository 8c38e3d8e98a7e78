#include "server/wire.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/fingerprint.h"
#include "google/protobuf/unknown_field_set.h"
#include "server/version.h"

namespace ingot::server {
namespace {

std::string Str(absl::string_view text) { return std::string(text); }

Dim DimFromWire(const v1::Dim& wire) {
  Dim dim;
  dim.name = wire.name();
  if (wire.has_value()) {
    dim.value = wire.value();
  } else if (wire.has_range()) {
    dim.min = wire.range().min();
    dim.max = wire.range().max();
    dim.multiple_of = wire.range().multiple_of();
  }
  return dim;
}

absl::StatusOr<Operand> OperandFromWire(const v1::Operand& wire) {
  if (!v1::StrideMode_IsValid(wire.stride_mode())) {
    return absl::InvalidArgumentError(
        absl::StrCat("operands.", wire.name(), ".stride_mode: found ",
                     static_cast<int>(wire.stride_mode()),
                     ", allowed 0 (dense), 1 (static), 2 (dynamic)"));
  }
  Operand operand;
  operand.name = wire.name();
  operand.dtype = wire.dtype();
  operand.stride_mode = static_cast<StrideMode>(wire.stride_mode());
  operand.strides.assign(wire.strides().begin(), wire.strides().end());
  operand.alignment = wire.alignment();
  return operand;
}

absl::StatusOr<Attr> AttrFromWire(const v1::Attr& wire) {
  switch (wire.value_case()) {
    case v1::Attr::kBoolValue:
      return Attr{wire.name(), wire.bool_value()};
    case v1::Attr::kIntValue:
      return Attr{wire.name(), int64_t{wire.int_value()}};
    case v1::Attr::kFloatValue:
      return Attr{wire.name(), wire.float_value()};
    case v1::Attr::kStringValue:
      return Attr{wire.name(), wire.string_value()};
    case v1::Attr::VALUE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("attrs.", wire.name(),
                   ": found no value, allowed bool, int, float or string"));
}

template <typename Message>
absl::Status CheckFieldsKnown(absl::string_view of, const Message& wire) {
  const google::protobuf::UnknownFieldSet& unknown =
      wire.GetReflection()->GetUnknownFields(wire);
  if (unknown.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      of, ": found field ", unknown.field(0).number(),
      ", allowed those that this build knows: the client is newer"));
}

// What a newer client says of a kernel cannot be left out: it would be another
// kernel.
absl::Status CheckFieldsKnown(const v1::Spec& wire) {
  INGOT_RETURN_IF_ERROR(CheckFieldsKnown("spec", wire));
  for (const v1::Dim& dim : wire.dims()) {
    INGOT_RETURN_IF_ERROR(CheckFieldsKnown("dims", dim));
    INGOT_RETURN_IF_ERROR(CheckFieldsKnown("dims.range", dim.range()));
  }
  for (const v1::Operand& operand : wire.operands()) {
    INGOT_RETURN_IF_ERROR(CheckFieldsKnown("operands", operand));
  }
  for (const v1::Attr& attr : wire.attrs()) {
    INGOT_RETURN_IF_ERROR(CheckFieldsKnown("attrs", attr));
  }
  for (const v1::Tuning& tuning : wire.tuning()) {
    INGOT_RETURN_IF_ERROR(CheckFieldsKnown("tuning", tuning));
  }
  return absl::OkStatus();
}

struct AttrValueWriter {
  v1::Attr* wire;
  void operator()(bool value) const { wire->set_bool_value(value); }
  void operator()(int64_t value) const { wire->set_int_value(value); }
  void operator()(double value) const { wire->set_float_value(value); }
  void operator()(const std::string& value) const {
    wire->set_string_value(value);
  }
};

void ExprToWire(const Expr& expr, v1::Expr* wire) {
  for (const ExprNode& node : expr.nodes) {
    v1::ExprNode* out = wire->add_nodes();
    out->set_op(static_cast<v1::ExprNode::Op>(node.op));
    out->set_value(node.value);
  }
}

void GuardToWire(const Guard& guard, v1::Guard* wire) {
  const auto index = static_cast<uint32_t>(guard.index);
  switch (guard.subject) {
    case Guard::kDim:
      wire->set_dim(index);
      break;
    case Guard::kOperandAlignment:
      wire->set_operand_alignment(index);
      break;
    case Guard::kOperandStride:
      wire->set_operand_stride(index);
      break;
  }
  wire->set_min(guard.min);
  wire->set_max(guard.max);
  wire->set_multiple_of(guard.multiple_of);
}

void FillToWire(const FillStep& step, v1::Fill* wire) {
  wire->set_workspace(step.workspace);
  if (!step.workspace) wire->set_operand(static_cast<uint32_t>(step.operand));
  ExprToWire(step.offset, wire->mutable_offset());
  ExprToWire(step.bytes, wire->mutable_bytes());
  wire->set_value(step.value);
}

void RecipeToWire(const Plan& plan, const Recipe& recipe, v1::Recipe* wire) {
  wire->set_version(kRecipeVersion);
  ExprToWire(recipe.workspace_bytes, wire->mutable_workspace_bytes());
  wire->set_workspace_kept(recipe.workspace_kept);
  for (const RecipeStep& step : recipe.steps) {
    v1::Step* out = wire->add_steps();
    if (const LaunchStep* launch = std::get_if<LaunchStep>(&step)) {
      const PlanKernel& kernel =
          plan.kernels[static_cast<size_t>(launch->kernel)];
      LaunchToWire(kernel.spec, kernel.key, launch->grid,
                   out->mutable_launch());
    } else {
      FillToWire(std::get<FillStep>(step), out->mutable_fill());
    }
  }
}

void OperandToWire(const PlanOperand& operand, v1::PlanOperand* wire) {
  wire->set_name(operand.name);
  wire->set_dtype(operand.dtype);
  wire->set_axes(static_cast<uint32_t>(operand.axes));
  wire->set_stride_mode(static_cast<v1::StrideMode>(operand.stride_mode));
  for (const Expr& expr : operand.strides) {
    ExprToWire(expr, wire->add_strides());
  }
  wire->set_output(operand.output);
  for (const Expr& expr : operand.extents) {
    ExprToWire(expr, wire->add_extents());
  }
}

void ScalarToWire(const PlanScalar& scalar, v1::PlanScalar* wire) {
  wire->set_name(scalar.name);
  wire->set_dtype(scalar.dtype);
  wire->set_has_default(scalar.default_value.has_value());
  wire->set_default_value(scalar.default_value.value_or(0));
}

void DimToWire(const PlanDim& dim, v1::PlanDim* wire) {
  wire->set_name(dim.name);
  wire->set_min(dim.min);
  wire->set_max(dim.max);
  wire->set_multiple_of(dim.multiple_of);
}

}  // namespace

absl::StatusOr<Spec> SpecFromWire(const v1::Spec& wire) {
  INGOT_RETURN_IF_ERROR(CheckFieldsKnown(wire));
  Spec spec;
  spec.op = wire.op();
  spec.target = wire.target();
  for (const v1::Dim& dim : wire.dims()) spec.dims.push_back(DimFromWire(dim));
  for (const v1::Operand& operand : wire.operands()) {
    INGOT_ASSIGN_OR_RETURN(Operand value, OperandFromWire(operand));
    spec.operands.push_back(std::move(value));
  }
  for (const v1::Attr& attr : wire.attrs()) {
    INGOT_ASSIGN_OR_RETURN(Attr value, AttrFromWire(attr));
    spec.attrs.push_back(std::move(value));
  }
  for (const v1::Tuning& tuning : wire.tuning()) {
    spec.tuning.push_back({tuning.name(), tuning.value()});
  }
  return spec;
}

void SpecToWire(const Spec& spec, v1::Spec* wire) {
  wire->set_op(spec.op);
  wire->set_target(spec.target);
  for (const Dim& dim : spec.dims) {
    v1::Dim* out = wire->add_dims();
    out->set_name(dim.name);
    if (dim.value) {
      out->set_value(*dim.value);
    } else if (dim.min != 0 || dim.max != 0 || dim.multiple_of != 0) {
      out->mutable_range()->set_min(dim.min);
      out->mutable_range()->set_max(dim.max);
      out->mutable_range()->set_multiple_of(dim.multiple_of);
    }
  }
  for (const Operand& operand : spec.operands) {
    v1::Operand* out = wire->add_operands();
    out->set_name(operand.name);
    out->set_dtype(operand.dtype);
    out->set_stride_mode(static_cast<v1::StrideMode>(operand.stride_mode));
    out->mutable_strides()->Assign(operand.strides.begin(),
                                   operand.strides.end());
    out->set_alignment(operand.alignment);
  }
  for (const Attr& attr : spec.attrs) {
    v1::Attr* out = wire->add_attrs();
    out->set_name(attr.name);
    std::visit(AttrValueWriter{out}, attr.value);
  }
  for (const Tuning& tuning : spec.tuning) {
    v1::Tuning* out = wire->add_tuning();
    out->set_name(tuning.name);
    out->set_value(tuning.value);
  }
}

void LaunchToWire(const KernelSpec& kernel, absl::string_view key,
                  const std::array<Expr, 3>& grid, v1::Launch* wire) {
  wire->set_key(Str(key));
  wire->set_symbol(kernel.symbol);
  for (const uint32_t items : kernel.workgroup) wire->add_workgroup(items);
  for (const Expr& expr : grid) ExprToWire(expr, wire->add_grid());
  wire->set_lds_bytes(kernel.dynamic_lds_bytes);
  wire->set_cooperative(kernel.cooperative);
  for (const KernelArg& arg : kernel.args) {
    v1::Argument* out = wire->add_args();
    out->set_kind(static_cast<v1::Argument::Kind>(arg.kind));
    out->set_index(static_cast<uint32_t>(arg.index));
    out->set_size(arg.size);
    if (!arg.offset.nodes.empty()) {
      ExprToWire(arg.offset, out->mutable_offset());
    }
  }
}

void PlanToWire(const Plan& plan, uint64_t epoch, v1::Plan* wire) {
  wire->set_schema(kPlanSchema);
  wire->set_spec_digest(plan.spec_digest);
  SpecToWire(plan.resolved, wire->mutable_resolved_spec());
  wire->set_epoch(epoch);
  wire->set_fingerprint(plan.fingerprint);
  for (const PlanDim& dim : plan.dims) DimToWire(dim, wire->add_dims());
  for (const PlanOperand& operand : plan.operands) {
    OperandToWire(operand, wire->add_operands());
  }
  for (const PlanScalar& scalar : plan.scalars) {
    ScalarToWire(scalar, wire->add_scalars());
  }
  for (const Variant& variant : plan.variants) {
    v1::Variant* out = wire->add_variants();
    out->set_name(variant.name);
    for (const Guard& guard : variant.guards) {
      GuardToWire(guard, out->add_guards());
    }
    RecipeToWire(plan, variant.recipe, out->mutable_recipe());
  }
}

void DescriptionToWire(const CodeObjectDescription& from, absl::string_view op,
                       v1::Description* wire) {
  wire->set_symbol(from.symbol);
  wire->set_target(from.target);
  wire->set_elf_flags(from.elf_flags);
  wire->set_code_object_version(from.code_object_version);
  wire->set_kernarg_bytes(from.kernarg_bytes);
  wire->set_kernarg_alignment(from.kernarg_alignment);
  for (const CodeObjectArg& arg : from.args) {
    v1::KernelArg* out = wire->add_args();
    out->set_offset(arg.offset);
    out->set_size(arg.size);
    out->set_kind(arg.kind);
  }
  wire->set_max_workgroup(from.max_workgroup);
  if (from.workgroup[0] != 0) {
    for (const uint32_t items : from.workgroup) wire->add_workgroup(items);
  }
  wire->set_lds_bytes(from.lds_bytes);
  wire->set_scratch_bytes(from.scratch_bytes);
  wire->set_vgprs(from.vgprs);
  wire->set_agprs(from.agprs);
  wire->set_sgprs(from.sgprs);
  wire->set_vgpr_spills(from.vgpr_spills);
  wire->set_sgpr_spills(from.sgpr_spills);
  wire->set_wavefront(from.wavefront);
  wire->set_code_bytes(from.code_bytes);
  wire->set_op(Str(op));
  wire->set_compiler(absl::StrCat("ingot ", kVersion, ", ", CompilerVersion()));
}

CodeObjectDescription DescriptionFromWire(const v1::Description& wire) {
  CodeObjectDescription description;
  description.symbol = wire.symbol();
  description.target = wire.target();
  description.elf_flags = wire.elf_flags();
  description.code_object_version = wire.code_object_version();
  description.kernarg_bytes = wire.kernarg_bytes();
  description.kernarg_alignment = wire.kernarg_alignment();
  for (const v1::KernelArg& arg : wire.args()) {
    description.args.push_back({arg.offset(), arg.size(), arg.kind()});
  }
  description.max_workgroup = wire.max_workgroup();
  const int axes = std::min(wire.workgroup_size(), 3);
  for (int i = 0; i < axes; ++i) {
    description.workgroup[static_cast<size_t>(i)] = wire.workgroup(i);
  }
  description.lds_bytes = wire.lds_bytes();
  description.scratch_bytes = wire.scratch_bytes();
  description.vgprs = wire.vgprs();
  description.agprs = wire.agprs();
  description.sgprs = wire.sgprs();
  description.vgpr_spills = wire.vgpr_spills();
  description.sgpr_spills = wire.sgpr_spills();
  description.wavefront = wire.wavefront();
  description.code_bytes = wire.code_bytes();
  return description;
}

}  // namespace ingot::server
