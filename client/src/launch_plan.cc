#include "client/src/launch_plan.h"

#include <algorithm>

namespace ingot::client {
namespace {

constexpr uint32_t kRecipeVersion = 1;
constexpr uint32_t kMaxPeers = 1024;
constexpr uint32_t kMaxWorkgroup = 1024;  // work-items, of every AMD target

Status Bad(const char* what) { return Error(INGOT_INTERNAL, "plan: %s", what); }

std::string Bytes(const ProtobufCBinaryData& data) {
  return std::string(reinterpret_cast<const char*>(data.data), data.len);
}

// Turns a wire plan into a LaunchPlan, part by part.
class PlanReader {
 public:
  PlanReader(const Ingot__V1__Plan& wire, LaunchPlan* plan)
      : wire_(wire), plan_(plan) {}

  Status Read() {
    plan_->spec_digest = Bytes(wire_.spec_digest);
    plan_->fingerprint = Bytes(wire_.fingerprint);
    plan_->epoch = wire_.epoch;
    if (wire_.n_dims > kMaxDims || wire_.n_operands > kMaxOperands ||
        wire_.n_scalars > kMaxScalars) {
      return Bad("more dims, operands or scalars than there can be");
    }
    if (wire_.n_variants == 0) return Bad("no variants");
    scope_.dims = static_cast<uint32_t>(wire_.n_dims);
    scope_.operands = static_cast<uint32_t>(wire_.n_operands);
    ReadDims();
    INGOT_CLIENT_RETURN_IF_ERROR(ReadOperands());
    INGOT_CLIENT_RETURN_IF_ERROR(ReadScalars());
    for (size_t i = 0; i < wire_.n_variants; ++i) {
      plan_->variants.emplace_back();
      INGOT_CLIENT_RETURN_IF_ERROR(
          ReadVariant(*wire_.variants[i], &plan_->variants.back()));
    }
    return CloseUsedStrides();
  }

 private:
  void ReadDims() {
    for (size_t i = 0; i < wire_.n_dims; ++i) {
      const Ingot__V1__PlanDim& dim = *wire_.dims[i];
      plan_->dims.push_back(
          {dim.name, dim.min, dim.max, std::max<int64_t>(1, dim.multiple_of)});
    }
  }

  Status ReadOperands() {
    for (size_t i = 0; i < wire_.n_operands; ++i) {
      const Ingot__V1__PlanOperand& from = *wire_.operands[i];
      PlanOperand to = {
          from.name,
          from.dtype,
          from.axes,
          from.stride_mode == INGOT__V1__STRIDE_MODE__STRIDE_MODE_DYNAMIC,
          from.output != 0,
          {},
          {}};
      if (from.axes > kMaxAxes) return Bad("an operand of more than 8 axes");
      if (!to.dynamic && from.n_strides != from.axes) {
        return Bad("an operand without a stride for each axis");
      }
      if (!to.dynamic) {
        INGOT_CLIENT_RETURN_IF_ERROR(
            ReadAxes(from.strides, from.n_strides, &to.strides));
      }
      INGOT_CLIENT_RETURN_IF_ERROR(
          ReadAxes(from.extents, from.n_extents, &to.extents));
      plan_->operands.push_back(std::move(to));
    }
    return Status();
  }

  // Functions of dims. Not through Compile: slots count as used when something
  // reads them.
  Status ReadAxes(Ingot__V1__Expr* const* from, size_t count,
                  std::vector<Expr>* to) {
    for (size_t axis = 0; axis < count; ++axis) {
      to->emplace_back();
      INGOT_CLIENT_RETURN_IF_ERROR(
          CompileExpr(from[axis], scope_, &to->back()));
      for (const ExprNode& node : to->back()) {
        if (node.op == ExprNode::kStride) {
          return Bad("a stride or extent that depends on a stride");
        }
      }
    }
    return Status();
  }

  Status ReadScalars() {
    for (size_t i = 0; i < wire_.n_scalars; ++i) {
      const Ingot__V1__PlanScalar& from = *wire_.scalars[i];
      const std::string dtype = from.dtype;
      PlanScalar to = {from.name, PlanScalar::kF32, from.has_default != 0,
                       from.default_value};
      if (dtype == "i32") {
        to.type = PlanScalar::kI32;
      } else if (dtype == "i64") {
        to.type = PlanScalar::kI64;
      } else if (dtype != "f32") {
        return Error(INGOT_UNIMPLEMENTED,
                     "plan: scalar %s has dtype %s, which is newer than this "
                     "library",
                     from.name, from.dtype);
      }
      plan_->scalars.push_back(std::move(to));
    }
    return Status();
  }

  Status Compile(const Ingot__V1__Expr* wire, Expr* expr) {
    INGOT_CLIENT_RETURN_IF_ERROR(CompileExpr(wire, scope_, expr));
    UseStridesOf(*expr);
    return Status();
  }

  void UseStridesOf(const Expr& expr) {
    for (const ExprNode& node : expr) {
      if (node.op == ExprNode::kStride) {
        UseStride(static_cast<uint32_t>(node.value));
      }
    }
  }

  void UseStride(uint32_t slot) {
    std::vector<uint32_t>& used = plan_->used_strides;
    if (std::find(used.begin(), used.end(), slot) == used.end()) {
      used.push_back(slot);
    }
  }

  // Checks that each used slot has a value.
  Status CloseUsedStrides() {
    for (const uint32_t slot : plan_->used_strides) {
      const PlanOperand& operand = plan_->operands[slot / kMaxAxes];
      const uint32_t axis = slot % kMaxAxes;
      if (axis >= operand.axes) return Bad("a stride of an axis past the last");
    }
    return Status();
  }

  Status ReadGuard(const Ingot__V1__Guard& from, PlanGuard* to) {
    *to = {PlanGuard::kDim, from.dim, from.min, from.max,
           std::max<int64_t>(1, from.multiple_of)};
    uint32_t limit = scope_.dims;
    switch (from.subject_case) {
      case INGOT__V1__GUARD__SUBJECT_DIM:
        break;
      case INGOT__V1__GUARD__SUBJECT_OPERAND_ALIGNMENT:
        to->subject = PlanGuard::kAlignment;
        to->index = from.operand_alignment;
        limit = scope_.operands;
        break;
      case INGOT__V1__GUARD__SUBJECT_OPERAND_STRIDE:
        to->subject = PlanGuard::kStride;
        to->index = from.operand_stride;
        limit = scope_.operands * kMaxAxes;
        break;
      default:
        return Error(INGOT_UNIMPLEMENTED,
                     "plan: a guard is newer than this library");
    }
    if (to->index >= limit) return Bad("a guard of what does not exist");
    if (to->subject == PlanGuard::kStride) UseStride(to->index);
    return Status();
  }

  Status ReadVariant(const Ingot__V1__Variant& from, PlanVariant* to) {
    to->name = from.name;
    const Ingot__V1__Recipe* recipe = from.recipe;
    if (recipe == nullptr) return Bad("a variant without a recipe");
    if (recipe->version != kRecipeVersion) {
      return Error(INGOT_UNIMPLEMENTED,
                   "plan: found recipe version %u, allowed %u; use a newer "
                   "libingot",
                   recipe->version, kRecipeVersion);
    }
    for (size_t i = 0; i < from.n_guards; ++i) {
      to->guards.emplace_back();
      INGOT_CLIENT_RETURN_IF_ERROR(
          ReadGuard(*from.guards[i], &to->guards.back()));
    }
    INGOT_CLIENT_RETURN_IF_ERROR(
        Compile(recipe->workspace_bytes, &to->workspace_bytes));
    to->workspace_kept = recipe->workspace_kept != 0;
    for (size_t i = 0; i < recipe->n_steps; ++i) {
      to->steps.emplace_back();
      INGOT_CLIENT_RETURN_IF_ERROR(
          ReadStep(*recipe->steps[i], &to->steps.back()));
    }
    return Status();
  }

  Status ReadStep(const Ingot__V1__Step& from, PlanStep* to) {
    switch (from.step_case) {
      case INGOT__V1__STEP__STEP_FILL:
        to->is_fill = true;
        return ReadFill(*from.fill, to);
      case INGOT__V1__STEP__STEP_LAUNCH:
        to->is_fill = false;
        return ReadLaunch(*from.launch, to);
      default:
        return Error(INGOT_UNIMPLEMENTED,
                     "plan: a step is newer than this library");
    }
  }

  Status ReadFill(const Ingot__V1__Fill& from, PlanStep* to) {
    to->of_workspace = from.workspace != 0;
    to->operand = from.operand;
    to->value = from.value;
    if (!to->of_workspace && to->operand >= scope_.operands) {
      return Bad("a fill of an operand that does not exist");
    }
    INGOT_CLIENT_RETURN_IF_ERROR(Compile(from.offset, &to->offset));
    return Compile(from.bytes, &to->bytes);
  }

  Status ReadLaunch(const Ingot__V1__Launch& from, PlanStep* to) {
    if (from.key.len != 32 || from.n_workgroup != 3 || from.n_grid != 3) {
      return Bad("a launch without key, workgroup or grid");
    }
    to->kernel = KernelIndex(Bytes(from.key), from.symbol);
    uint64_t items = 1;
    for (int axis = 0; axis < 3; ++axis) {
      to->workgroup[axis] = from.workgroup[axis];
      items *= std::min<uint64_t>(from.workgroup[axis], kMaxWorkgroup + 1);
      INGOT_CLIENT_RETURN_IF_ERROR(Compile(from.grid[axis], &to->grid[axis]));
    }
    if (items == 0 || items > kMaxWorkgroup) {
      return Bad("a workgroup that is not 1 to 1024 work-items");
    }
    to->lds_bytes = from.lds_bytes;
    to->cooperative = from.cooperative != 0;
    uint32_t end = 0;
    for (size_t i = 0; i < from.n_args; ++i) {
      to->args.emplace_back();
      INGOT_CLIENT_RETURN_IF_ERROR(
          ReadArgument(*from.args[i], &end, &to->args.back()));
    }
    to->kernarg_bytes = end;
    return Status();
  }

  uint32_t KernelIndex(const std::string& key, const char* symbol) {
    std::vector<PlanKernel>& kernels = plan_->kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i].key == key) return static_cast<uint32_t>(i);
    }
    kernels.push_back({key, symbol});
    return static_cast<uint32_t>(kernels.size() - 1);
  }

  Status ReadArgument(const Ingot__V1__Argument& from, uint32_t* end,
                      PlanArgument* to) {
    if (from.kind < 0 || from.kind > INGOT__V1__ARGUMENT__KIND__KIND_PEER) {
      return Error(INGOT_UNIMPLEMENTED,
                   "plan: argument kind %d is newer than this library",
                   static_cast<int>(from.kind));
    }
    to->kind = static_cast<PlanArgument::Kind>(from.kind);
    to->index = from.index;
    to->size = from.size;
    const bool sized =
        to->kind == PlanArgument::kInteger || to->kind == PlanArgument::kScalar;
    if (to->size != 8 && !(sized && to->size == 4)) {
      return Bad("an argument that is not 4 or 8 bytes");
    }
    to->offset = (*end + to->size - 1) / to->size * to->size;
    *end = to->offset + to->size;
    if (*end > kMaxKernargBytes) return Bad("more than 4 KiB of arguments");
    switch (to->kind) {
      case PlanArgument::kOperand:
        if (to->index >= scope_.operands) return Bad("an unknown operand");
        break;
      case PlanArgument::kScalar:
        return CheckScalar(*to);
      case PlanArgument::kPeer:
        if (to->index >= kMaxPeers) return Bad("a peer past the last");
        plan_->peers = std::max(plan_->peers, to->index + 1);
        return Status();
      case PlanArgument::kEpoch:
        return Status();
      default:
        break;
    }
    const bool absent = from.offset == nullptr || from.offset->n_nodes == 0;
    if (absent && to->kind != PlanArgument::kInteger) {
      to->expr = {{ExprNode::kConst, 0}};
      return Status();
    }
    return Compile(from.offset, &to->expr);
  }

  Status CheckScalar(const PlanArgument& argument) {
    if (argument.index >= wire_.n_scalars) return Bad("an unknown scalar");
    const bool wide = plan_->scalars[argument.index].type == PlanScalar::kI64;
    if (argument.size != (wide ? 8u : 4u)) {
      return Bad("a scalar argument of another size than its dtype");
    }
    return Status();
  }

  const Ingot__V1__Plan& wire_;
  LaunchPlan* const plan_;
  ExprScope scope_;
};

}  // namespace

Status MakeLaunchPlan(const Ingot__V1__Plan& wire, LaunchPlan* plan) {
  *plan = LaunchPlan();
  return PlanReader(wire, plan).Read();
}

}  // namespace ingot::client
