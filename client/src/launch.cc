// The launch path. Everything lives on the stack; the only calls that leave are
// HIP's.
#include <cstring>

#include "client/src/launch_frame.h"
#include "client/src/prepared.h"

namespace ingot::client {
namespace {

constexpr uint64_t kWorkspaceAlignment = 256;
// Of an MI350; for sizes asked for where there is no device.
constexpr int64_t kPlannedCuCount = 256;

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
