// The launch path. Everything lives on the stack; the only calls that leave are
// HIP's.
#include <cstring>

#include "client/src/prepared.h"

namespace ingot::client {
namespace {

constexpr uint64_t kWorkspaceAlignment = 256;
// Of an MI350; for sizes asked for where there is no device.
constexpr int64_t kPlannedCuCount = 256;

// One launch: arguments brought into the plan's order, then guards and
// expressions over them.
class Frame {
 public:
  Frame(const Prepared& prepared, const ingot_launch_args& args)
      : plan_(prepared.fetched->plan), order_(prepared.order), args_(args) {
    values_.dims = dims_;
    values_.strides = strides_;
  }

  Status Init(int64_t cu_count) {
    values_.cu_count = cu_count;
    INGOT_CLIENT_RETURN_IF_ERROR(CheckCounts());
    INGOT_CLIENT_RETURN_IF_ERROR(ReadDims());
    return ReadStrides();
  }

  bool has_operands() const { return args_.operands != nullptr; }
  const LaunchValues& values() const { return values_; }

  void* Operand(uint32_t plan_index) const {
    return args_.operands[order_.plan_operands[plan_index]];
  }

  // Whether a guard holds; what it is about is unknown when there are no
  // pointers, and then it does.
  bool Holds(const PlanGuard& guard) const {
    if (guard.subject == PlanGuard::kAlignment) {
      if (!has_operands()) return true;
      const uintptr_t address =
          reinterpret_cast<uintptr_t>(Operand(guard.index));
      return address % static_cast<uint64_t>(guard.multiple_of) == 0;
    }
    if (guard.subject == PlanGuard::kStride && !StrideKnown(guard.index)) {
      return true;
    }
    const int64_t value = guard.subject == PlanGuard::kDim
                              ? dims_[guard.index]
                              : strides_[guard.index];
    return value >= guard.min && (guard.max == 0 || value <= guard.max) &&
           value % guard.multiple_of == 0;
  }

  // The first guard of `variant` that does not hold; nullptr when it matches.
  const PlanGuard* Refusing(const PlanVariant& variant) const {
    for (const PlanGuard& guard : variant.guards) {
      if (!Holds(guard)) return &guard;
    }
    return nullptr;
  }

  Status NoVariant() const {
    const PlanGuard& guard = *Refusing(plan_.variants.back());
    const long long min = guard.min;
    const long long max = guard.max;
    const long long multiple = guard.multiple_of;
    if (guard.subject == PlanGuard::kDim) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "no variant: dim %s: found %lld, allowed %lld to %lld "
                   "(0: any), multiple of %lld",
                   plan_.dims[guard.index].name.c_str(),
                   static_cast<long long>(dims_[guard.index]), min, max,
                   multiple);
    }
    if (guard.subject == PlanGuard::kAlignment) {
      return Error(
          INGOT_INVALID_ARGUMENT,
          "no variant: operand %s: found address %p, allowed a "
          "multiple of %lld bytes; a spec may state a weaker alignment",
          plan_.operands[guard.index].name.c_str(), Operand(guard.index),
          multiple);
    }
    return Error(INGOT_INVALID_ARGUMENT,
                 "no variant: stride %u of operand %s: found %lld, allowed "
                 "%lld to %lld (0: any), multiple of %lld",
                 guard.index % kMaxAxes,
                 plan_.operands[guard.index / kMaxAxes].name.c_str(),
                 static_cast<long long>(strides_[guard.index]), min, max,
                 multiple);
  }

  Status Value(const Expr& expr, const char* of, int64_t* value) const {
    if (Evaluate(expr, values_, value)) return Status();
    return Error(INGOT_OUT_OF_RANGE,
                 "%s does not fit 64 bits with these dims and strides", of);
  }

 private:
  Status CheckCounts() const {
    if (args_.dim_count != order_.dims.size() || args_.dims == nullptr) {
      return Error(INGOT_INVALID_ARGUMENT, "dims: found %u%s, allowed %zu",
                   args_.dim_count, args_.dims == nullptr ? " at NULL" : "",
                   order_.dims.size());
    }
    if (has_operands() && args_.operand_count != order_.operands.size()) {
      return Error(INGOT_INVALID_ARGUMENT, "operands: found %u, allowed %zu",
                   args_.operand_count, order_.operands.size());
    }
    return Status();
  }

  Status ReadDims() {
    for (size_t i = 0; i < plan_.dims.size(); ++i) {
      const PlanDim& dim = plan_.dims[i];
      const int64_t value = args_.dims[order_.plan_dims[i]];
      if (value < dim.min || value > dim.max || value % dim.multiple_of != 0) {
        return Error(INGOT_INVALID_ARGUMENT,
                     "dim %s: found %lld, allowed %lld to %lld, multiple of "
                     "%lld: that is what was prepared",
                     dim.name.c_str(), static_cast<long long>(value),
                     static_cast<long long>(dim.min),
                     static_cast<long long>(dim.max),
                     static_cast<long long>(dim.multiple_of));
      }
      dims_[i] = value;
    }
    return Status();
  }

  // Where the caller has the strides of a dynamic operand; nullptr: nowhere.
  const int64_t* DynamicStrides(uint32_t operand) const {
    if (args_.strides == nullptr) return nullptr;
    return args_.strides[order_.plan_operands[operand]];
  }

  bool StrideKnown(uint32_t slot) const {
    const uint32_t operand = slot / kMaxAxes;
    return !plan_.operands[operand].dynamic ||
           DynamicStrides(operand) != nullptr;
  }

  Status ReadStrides() {
    for (const uint32_t slot : plan_.used_strides) {
      const uint32_t index = slot / kMaxAxes;
      const PlanOperand& operand = plan_.operands[index];
      if (!operand.dynamic) {
        INGOT_CLIENT_RETURN_IF_ERROR(Value(operand.strides[slot % kMaxAxes],
                                           "a stride", &strides_[slot]));
        continue;
      }
      const int64_t* given = DynamicStrides(index);
      if (given == nullptr && has_operands()) {
        return Error(INGOT_INVALID_ARGUMENT,
                     "strides of operand %s: found NULL, allowed %u values, "
                     "because the spec says they come with each launch",
                     operand.name.c_str(), operand.axes);
      }
      strides_[slot] = given == nullptr ? 0 : given[slot % kMaxAxes];
    }
    return Status();
  }

  const LaunchPlan& plan_;
  const ArgumentOrder& order_;
  const ingot_launch_args& args_;
  LaunchValues values_;
  int64_t dims_[kMaxDims];
  int64_t strides_[kMaxOperands * kMaxAxes];
};

Status WorkspaceOf(const Frame& frame, const PlanVariant& variant,
                   uint64_t* bytes) {
  int64_t value = 0;
  INGOT_CLIENT_RETURN_IF_ERROR(
      frame.Value(variant.workspace_bytes, "the workspace", &value));
  *bytes = value > 0 ? static_cast<uint64_t>(value) : 0;
  return Status();
}

// Runs the steps of one variant.
class Runner {
 public:
  Runner(const Prepared& prepared, const ingot_launch_args& args,
         const Frame& frame, int device, HipStream stream)
      : prepared_(prepared),
        fetched_(*prepared.fetched),
        hip_(prepared.hip->functions()),
        args_(args),
        frame_(frame),
        device_(device),
        stream_(stream) {}

  Status Run(const PlanVariant& variant) {
    INGOT_CLIENT_RETURN_IF_ERROR(CheckWorkspace(variant));
    for (const PlanStep& step : variant.steps) {
      INGOT_CLIENT_RETURN_IF_ERROR(step.is_fill ? Fill(step) : Launch(step));
    }
    return Status();
  }

 private:
  Status CheckWorkspace(const PlanVariant& variant) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        WorkspaceOf(frame_, variant, &workspace_bytes_));
    if (workspace_bytes_ == 0) return Status();
    const auto address = reinterpret_cast<uintptr_t>(args_.workspace);
    if (address != 0 && address % kWorkspaceAlignment == 0 &&
        args_.workspace_bytes >= workspace_bytes_) {
      return Status();
    }
    return Error(INGOT_INVALID_ARGUMENT,
                 "workspace: found %llu bytes at %p, allowed at least %llu "
                 "bytes aligned to 256",
                 static_cast<unsigned long long>(args_.workspace_bytes),
                 args_.workspace,
                 static_cast<unsigned long long>(workspace_bytes_));
  }

  Status OperandPointer(uint32_t index, char** pointer) const {
    *pointer = static_cast<char*>(frame_.Operand(index));
    if (*pointer != nullptr) return Status();
    return Error(INGOT_INVALID_ARGUMENT,
                 "operand %s: found NULL, allowed a device pointer",
                 fetched_.plan.operands[index].name.c_str());
  }

  Status Fill(const PlanStep& step) {
    int64_t offset = 0;
    int64_t bytes = 0;
    INGOT_CLIENT_RETURN_IF_ERROR(frame_.Value(step.offset, "a fill", &offset));
    INGOT_CLIENT_RETURN_IF_ERROR(frame_.Value(step.bytes, "a fill", &bytes));
    if (bytes == 0) return Status();
    char* base = static_cast<char*>(args_.workspace);
    if (!step.of_workspace) {
      INGOT_CLIENT_RETURN_IF_ERROR(OperandPointer(step.operand, &base));
    }
    const bool inside =
        !step.of_workspace ||
        static_cast<uint64_t>(offset) + static_cast<uint64_t>(bytes) <=
            workspace_bytes_;
    if (bytes < 0 || bytes % 4 != 0 || offset < 0 || !inside) {
      return Error(INGOT_INTERNAL, "plan: a fill of %lld bytes at %lld",
                   static_cast<long long>(bytes),
                   static_cast<long long>(offset));
    }
    const HipError error =
        hip_.memset_d32_async(base + offset, static_cast<int>(step.value),
                              static_cast<size_t>(bytes) / 4, stream_);
    if (error == kHipSuccess) return Status();
    return prepared_.hip->Failed("hipMemsetD32Async", error);
  }

  // Whether there is anything to launch.
  Status Grid(const PlanStep& step, unsigned* grid, bool* empty) const {
    *empty = false;
    for (int axis = 0; axis < 3; ++axis) {
      int64_t value = 0;
      INGOT_CLIENT_RETURN_IF_ERROR(
          frame_.Value(step.grid[axis], "the grid", &value));
      // The dispatch packet counts work-items in 32 bits.
      if (value < 0 || value > UINT32_MAX ||
          value * step.workgroup[axis] > UINT32_MAX) {
        return Error(INGOT_OUT_OF_RANGE,
                     "grid: found %lld workgroups of %u on axis %d, allowed "
                     "below 2^32 work-items",
                     static_cast<long long>(value), step.workgroup[axis], axis);
      }
      grid[axis] = static_cast<unsigned>(value);
      *empty |= value == 0;
    }
    return Status();
  }

  Status Function(const PlanStep& step, HipFunction* function) const {
    const std::shared_ptr<CodeObject>& object = fetched_.objects[step.kernel];
    if (object == nullptr) {
      return Error(INGOT_FAILED_PRECONDITION,
                   "kernel %s was not fetched: prepare again with "
                   "INGOT_FETCH_ALL, or with these dims",
                   fetched_.plan.kernels[step.kernel].symbol.c_str());
    }
    *function = object->Loaded(device_);
    if (*function != nullptr) return Status();
    return object->Load(device_, function);
  }

  Status Scalar(const PlanArgument& argument, uint8_t* to) const {
    const PlanScalar& scalar = fetched_.plan.scalars[argument.index];
    ingot_scalar value;
    if (args_.scalars != nullptr && argument.index < args_.scalar_count) {
      value = args_.scalars[argument.index];
    } else if (!scalar.has_default) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "scalar %s: found none, allowed a value: it has no default",
                   scalar.name.c_str());
    } else if (scalar.type == PlanScalar::kF32) {
      value.f = scalar.default_value;
    } else {
      value.i = static_cast<int64_t>(scalar.default_value);
    }
    if (scalar.type == PlanScalar::kF32) {
      const float narrow = static_cast<float>(value.f);
      memcpy(to, &narrow, sizeof(narrow));
    } else if (scalar.type == PlanScalar::kI64) {
      memcpy(to, &value.i, sizeof(value.i));
    } else {
      const int32_t narrow = static_cast<int32_t>(value.i);
      if (narrow != value.i) {
        return Error(INGOT_INVALID_ARGUMENT,
                     "scalar %s: found %lld, allowed a 32-bit integer",
                     scalar.name.c_str(), static_cast<long long>(value.i));
      }
      memcpy(to, &narrow, sizeof(narrow));
    }
    return Status();
  }

  Status Integer(const PlanArgument& argument, int64_t value,
                 uint8_t* to) const {
    if (argument.size == 4 && (value < INT32_MIN || value > UINT32_MAX)) {
      return Error(INGOT_OUT_OF_RANGE,
                   "an argument: found %lld, allowed what fits 32 bits",
                   static_cast<long long>(value));
    }
    memcpy(to, &value, argument.size);  // little-endian, as the GPU is
    return Status();
  }

  Status Argument(const PlanArgument& argument, uint8_t* to) const {
    if (argument.kind == PlanArgument::kScalar) return Scalar(argument, to);
    if (argument.kind == PlanArgument::kEpoch) {
      memcpy(to, &epoch_, sizeof(epoch_));
      return Status();
    }
    if (argument.kind == PlanArgument::kPeer) {
      memcpy(to, &args_.peers[argument.index], sizeof(void*));
      return Status();
    }
    int64_t value = 0;
    INGOT_CLIENT_RETURN_IF_ERROR(
        frame_.Value(argument.expr, "an argument", &value));
    if (argument.kind == PlanArgument::kInteger) {
      return Integer(argument, value, to);
    }
    char* pointer = static_cast<char*>(args_.workspace);
    if (argument.kind == PlanArgument::kOperand) {
      INGOT_CLIENT_RETURN_IF_ERROR(OperandPointer(argument.index, &pointer));
    }
    pointer += value;
    memcpy(to, &pointer, sizeof(pointer));
    return Status();
  }

  Status Launch(const PlanStep& step) {
    unsigned grid[3];
    bool empty = false;
    INGOT_CLIENT_RETURN_IF_ERROR(Grid(step, grid, &empty));
    if (empty) return Status();
    HipFunction function = nullptr;
    INGOT_CLIENT_RETURN_IF_ERROR(Function(step, &function));
    // Zero, so that no padding brings bytes of our stack to the GPU.
    alignas(16) uint8_t kernarg[kMaxKernargBytes];
    memset(kernarg, 0, step.kernarg_bytes);
    for (const PlanArgument& argument : step.args) {
      INGOT_CLIENT_RETURN_IF_ERROR(
          Argument(argument, kernarg + argument.offset));
    }
    return step.cooperative ? Cooperative(step, function, grid, kernarg)
                            : Plain(step, function, grid, kernarg);
  }

  Status Plain(const PlanStep& step, HipFunction function, const unsigned* grid,
               uint8_t* kernarg) const {
    size_t size = step.kernarg_bytes;
    void* extra[] = {reinterpret_cast<void*>(kHipLaunchParamBufferPointer),
                     kernarg,
                     reinterpret_cast<void*>(kHipLaunchParamBufferSize), &size,
                     reinterpret_cast<void*>(kHipLaunchParamEnd)};
    const HipError error = hip_.module_launch_kernel(
        function, grid[0], grid[1], grid[2], step.workgroup[0],
        step.workgroup[1], step.workgroup[2], step.lds_bytes, stream_, nullptr,
        extra);
    if (error == kHipSuccess) return Status();
    return prepared_.hip->Failed("hipModuleLaunchKernel", error);
  }

  // HIP takes no packed buffer here, but a pointer an argument.
  Status Cooperative(const PlanStep& step, HipFunction function,
                     const unsigned* grid, uint8_t* kernarg) const {
    if (hip_.module_launch_cooperative == nullptr) {
      return Error(INGOT_FAILED_PRECONDITION,
                   "this HIP runtime has no hipModuleLaunchCooperativeKernel");
    }
    void* params[kMaxKernargBytes / 4];
    for (size_t i = 0; i < step.args.size(); ++i) {
      params[i] = kernarg + step.args[i].offset;
    }
    const HipError error = hip_.module_launch_cooperative(
        function, grid[0], grid[1], grid[2], step.workgroup[0],
        step.workgroup[1], step.workgroup[2], step.lds_bytes, stream_, params);
    if (error == kHipSuccess) return Status();
    return prepared_.hip->Failed("hipModuleLaunchCooperativeKernel", error);
  }

  const Prepared& prepared_;
  const FetchedPlan& fetched_;
  const HipFunctions& hip_;
  const ingot_launch_args& args_;
  const Frame& frame_;
  const int device_;
  const HipStream stream_;
  uint64_t workspace_bytes_ = 0;
  const uint64_t epoch_ =
      prepared_.launches.fetch_add(1, std::memory_order_relaxed) + 1;
};

}  // namespace

Status WorkspaceBytes(const Prepared& prepared, const ingot_launch_args& args,
                      uint64_t* bytes, bool* kept) {
  int64_t cu_count = kPlannedCuCount;
  if (prepared.hip->Open().ok()) {
    int device = 0;
    const HipDevice* facts = nullptr;
    INGOT_CLIENT_RETURN_IF_ERROR(prepared.hip->CurrentDevice(&device));
    INGOT_CLIENT_RETURN_IF_ERROR(prepared.hip->Device(device, &facts));
    cu_count = facts->cu_count;
  }
  Frame frame(prepared, args);
  INGOT_CLIENT_RETURN_IF_ERROR(frame.Init(cu_count));
  *bytes = 0;
  *kept = false;
  bool any = false;
  for (const PlanVariant& variant : prepared.fetched->plan.variants) {
    if (frame.Refusing(variant) != nullptr) continue;
    any = true;
    uint64_t needed = 0;
    INGOT_CLIENT_RETURN_IF_ERROR(WorkspaceOf(frame, variant, &needed));
    if (needed > *bytes) *bytes = needed;
    *kept |= variant.workspace_kept;
    if (frame.has_operands()) break;
  }
  return any ? Status() : frame.NoVariant();
}

Status Launch(const Prepared& prepared, HipStream stream,
              const ingot_launch_args& args) {
  if (!prepared.hip->Ready()) {
    INGOT_CLIENT_RETURN_IF_ERROR(prepared.hip->Open());
  }
  const LaunchPlan& plan = prepared.fetched->plan;
  if (args.operands == nullptr && !plan.operands.empty()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "operands: found NULL, allowed %zu device pointers",
                 prepared.order.operands.size());
  }
  if (plan.peers > args.peer_count ||
      (plan.peers > 0 && args.peers == nullptr)) {
    return Error(INGOT_INVALID_ARGUMENT, "peers: found %u, allowed at least %u",
                 args.peer_count, plan.peers);
  }
  int device = 0;
  const HipDevice* facts = nullptr;
  INGOT_CLIENT_RETURN_IF_ERROR(prepared.hip->CurrentDevice(&device));
  INGOT_CLIENT_RETURN_IF_ERROR(prepared.hip->Device(device, &facts));
  Frame frame(prepared, args);
  INGOT_CLIENT_RETURN_IF_ERROR(frame.Init(facts->cu_count));
  for (const PlanVariant& variant : plan.variants) {
    if (frame.Refusing(variant) != nullptr) continue;
    return Runner(prepared, args, frame, device, stream).Run(variant);
  }
  return frame.NoVariant();
}

}  // namespace ingot::client
