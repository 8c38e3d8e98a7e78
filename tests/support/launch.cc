#include "tests/support/launch.h"

#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "tests/emulator/program.h"

namespace ingot::testing {
namespace {

constexpr int kAxes = 8;  // of an operand, in LaunchValues::strides

absl::StatusOr<std::vector<int64_t>> StridesOf(const Plan& plan,
                                               const LaunchInputs& inputs) {
  std::vector<int64_t> all(plan.operands.size() * kAxes, 0);
  const LaunchValues values{inputs.dims, all, inputs.cu_count};
  for (size_t i = 0; i < plan.operands.size(); ++i) {
    const PlanOperand& operand = plan.operands[i];
    const bool given = i < inputs.strides.size() && !inputs.strides[i].empty();
    for (int axis = 0; axis < operand.axes; ++axis) {
      int64_t stride = 0;
      if (given) {
        stride = inputs.strides[i][axis];
      } else if (static_cast<int>(operand.strides.size()) > axis) {
        INGOT_ASSIGN_OR_RETURN(stride, Evaluate(operand.strides[axis], values));
      } else {
        return absl::InvalidArgumentError(absl::StrCat(
            "strides of ", operand.name, " are dynamic: give them"));
      }
      all[i * kAxes + axis] = stride;
    }
  }
  return all;
}

bool Holds(const Guard& guard, const LaunchInputs& inputs,
           absl::Span<const int64_t> strides) {
  int64_t value = 0;
  switch (guard.subject) {
    case Guard::kDim:
      value = inputs.dims[guard.index];
      break;
    case Guard::kOperandAlignment:
      value = static_cast<int64_t>(
          reinterpret_cast<uintptr_t>(inputs.operands[guard.index]));
      return guard.multiple_of <= 1 || value % guard.multiple_of == 0;
    case Guard::kOperandStride:
      value = strides[guard.index];
      break;
  }
  return value >= guard.min && (guard.max == 0 || value <= guard.max) &&
         (guard.multiple_of <= 1 || value % guard.multiple_of == 0);
}

const Variant* Match(const Plan& plan, const LaunchInputs& inputs,
                     absl::Span<const int64_t> strides) {
  for (const Variant& variant : plan.variants) {
    bool all = true;
    for (const Guard& guard : variant.guards) {
      all = all && Holds(guard, inputs, strides);
    }
    if (all) return &variant;
  }
  return nullptr;
}

absl::Status CheckInputs(const Plan& plan, const LaunchInputs& inputs) {
  if (inputs.dims.size() != plan.dims.size() ||
      inputs.operands.size() != plan.operands.size()) {
    return absl::InvalidArgumentError("inputs do not fit the plan's lists");
  }
  for (size_t i = 0; i < plan.dims.size(); ++i) {
    const PlanDim& dim = plan.dims[i];
    if (inputs.dims[i] < dim.min || inputs.dims[i] > dim.max) {
      return absl::InvalidArgumentError(
          absl::StrCat("dim ", dim.name, ": found ", inputs.dims[i],
                       ", allowed ", dim.min, " to ", dim.max));
    }
  }
  return absl::OkStatus();
}

void Put(std::vector<uint8_t>* kernarg, const void* value, size_t size) {
  while (kernarg->size() % size != 0) kernarg->push_back(0);
  const uint8_t* bytes = static_cast<const uint8_t*>(value);
  kernarg->insert(kernarg->end(), bytes, bytes + size);
}

void PutScalar(const PlanScalar& scalar, double value, size_t size,
               std::vector<uint8_t>* kernarg) {
  if (scalar.dtype == "f32") {
    const float number = static_cast<float>(value);
    Put(kernarg, &number, size);
  } else {
    const int64_t number = static_cast<int64_t>(value);
    Put(kernarg, &number, size);
  }
}

absl::Status PutArgument(const KernelArg& arg, const Plan& plan,
                         const LaunchInputs& inputs, const LaunchValues& values,
                         char* workspace, std::vector<uint8_t>* kernarg) {
  int64_t number = 0;
  if (!arg.offset.nodes.empty()) {
    INGOT_ASSIGN_OR_RETURN(number, Evaluate(arg.offset, values));
  }
  switch (arg.kind) {
    case KernelArg::kOperand: {
      const char* pointer =
          static_cast<const char*>(inputs.operands[arg.index]) + number;
      Put(kernarg, &pointer, sizeof(pointer));
      return absl::OkStatus();
    }
    case KernelArg::kWorkspace: {
      const char* pointer = workspace + number;
      Put(kernarg, &pointer, sizeof(pointer));
      return absl::OkStatus();
    }
    case KernelArg::kInteger:
      if (arg.size == 4 && number != static_cast<int32_t>(number)) {
        return absl::OutOfRangeError(absl::StrCat(
            "argument ", arg.name, ": ", number, " does not fit 32 bits"));
      }
      Put(kernarg, &number, arg.size);
      return absl::OkStatus();
    case KernelArg::kScalar: {
      const PlanScalar& scalar = plan.scalars[arg.index];
      const double value = arg.index < static_cast<int>(inputs.scalars.size())
                               ? inputs.scalars[arg.index]
                               : scalar.default_value.value_or(0);
      PutScalar(scalar, value, arg.size, kernarg);
      return absl::OkStatus();
    }
    case KernelArg::kEpoch:
    case KernelArg::kPeer:
      break;
  }
  return absl::UnimplementedError(absl::StrCat(
      "argument ", arg.name, ": of a kind that tests do not fill"));
}

// Of this process so far.
double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

absl::Status RunFill(const FillStep& fill, const LaunchInputs& inputs,
                     const LaunchValues& values, char* workspace) {
  INGOT_ASSIGN_OR_RETURN(const int64_t offset, Evaluate(fill.offset, values));
  INGOT_ASSIGN_OR_RETURN(const int64_t bytes, Evaluate(fill.bytes, values));
  char* base = fill.workspace
                   ? workspace
                   : static_cast<char*>(inputs.operands[fill.operand]);
  for (int64_t at = 0; at + 4 <= bytes; at += 4) {
    std::memcpy(base + offset + at, &fill.value, 4);
  }
  return absl::OkStatus();
}

}  // namespace

TestDevice::TestDevice(emulator::Options options)
    : runner_([options](emulator::Device& device, const KernelLaunch& launch) {
        return device.Run(launch.program, *launch.kernel, launch.config,
                          launch.kernarg.data(), launch.kernarg.size(),
                          options);
      }) {}

void* TestDevice::AllocateBytes(int64_t bytes) {
  return device_.memory().Allocate(static_cast<size_t>(bytes),
                                   emulator::MemoryMap::Kind::kDevice);
}

void TestDevice::Free(void* pointer) { device_.memory().Free(pointer); }

bool TestDevice::Register(void* pointer, int64_t bytes) {
  return device_.memory().Register(pointer, static_cast<size_t>(bytes));
}

absl::StatusOr<TestDevice::Loaded*> TestDevice::Load(const PlanKernel& kernel) {
  const auto found = loaded_.find(kernel.key);
  if (found != loaded_.end()) return &found->second;
  INGOT_ASSIGN_OR_RETURN(CompiledKernel compiled, Compile(kernel.spec));
  INGOT_RETURN_IF_ERROR(Use(kernel.key, std::move(compiled)));
  return &loaded_.at(kernel.key);
}

absl::Status TestDevice::Use(const std::string& key, CompiledKernel compiled) {
  Loaded loaded;
  loaded.compiled = std::move(compiled);
  emulator::LoadError error = emulator::LoadError::kNone;
  std::string message;
  loaded.program =
      device_.Load(loaded.compiled.object.data(), loaded.compiled.object.size(),
                   &error, &message);
  if (loaded.program == nullptr) return absl::InternalError(message);
  loaded_.insert_or_assign(key, std::move(loaded));
  return absl::OkStatus();
}

absl::StatusOr<const CompiledKernel*> TestDevice::Compiled(
    const PlanKernel& kernel) {
  INGOT_ASSIGN_OR_RETURN(Loaded * loaded, Load(kernel));
  return &loaded->compiled;
}

absl::Status TestDevice::RunStep(const LaunchStep& step,
                                 const PlanKernel& kernel, const Plan& plan,
                                 const LaunchInputs& inputs,
                                 const LaunchValues& values, char* workspace,
                                 LaunchReport* report) {
  KernelLaunch launch;
  for (int axis = 0; axis < 3; ++axis) {
    INGOT_ASSIGN_OR_RETURN(const int64_t groups,
                           Evaluate(step.grid[axis], values));
    if (groups == 0) return absl::OkStatus();
    launch.config.grid[axis] = static_cast<uint32_t>(groups);
    launch.config.block[axis] = kernel.spec.workgroup[axis];
  }
  launch.config.dynamic_lds = kernel.spec.dynamic_lds_bytes;
  for (const KernelArg& arg : kernel.spec.args) {
    INGOT_RETURN_IF_ERROR(
        PutArgument(arg, plan, inputs, values, workspace, &launch.kernarg));
  }
  INGOT_ASSIGN_OR_RETURN(Loaded * loaded, Load(kernel));
  launch.program = loaded->program;
  launch.kernel = loaded->program->object().FindKernel(kernel.spec.symbol);
  if (launch.kernel == nullptr) {
    return absl::InternalError(absl::StrCat("no kernel ", kernel.spec.symbol));
  }
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = CpuSeconds();
  const emulator::RunResult result = runner_(device_, launch);
  report->seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  report->cpu_seconds += CpuSeconds() - cpu_start;
  if (result.status != emulator::RunStatus::kOk) {
    return absl::InternalError(
        absl::StrCat(kernel.spec.symbol, ": ", result.report));
  }
  report->symbols.push_back(kernel.spec.symbol);
  report->statistics.Add(result.statistics);
  return absl::OkStatus();
}

absl::StatusOr<LaunchReport> TestDevice::Launch(const Plan& plan,
                                                const LaunchInputs& inputs) {
  INGOT_RETURN_IF_ERROR(CheckInputs(plan, inputs));
  INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> strides,
                         StridesOf(plan, inputs));
  const LaunchValues values{inputs.dims, strides, inputs.cu_count};
  const Variant* variant = Match(plan, inputs, strides);
  if (variant == nullptr) {
    return absl::FailedPreconditionError("no variant matches these inputs");
  }
  LaunchReport report;
  report.variant = variant->name;
  INGOT_ASSIGN_OR_RETURN(const int64_t workspace_bytes,
                         Evaluate(variant->recipe.workspace_bytes, values));
  char* workspace =
      workspace_bytes > 0 ? Allocate<char>(workspace_bytes) : nullptr;
  absl::Status status;
  for (const RecipeStep& step : variant->recipe.steps) {
    if (const FillStep* fill = std::get_if<FillStep>(&step)) {
      status = RunFill(*fill, inputs, values, workspace);
    } else {
      const LaunchStep& launch = std::get<LaunchStep>(step);
      status = RunStep(launch, plan.kernels[launch.kernel], plan, inputs,
                       values, workspace, &report);
    }
    if (!status.ok()) break;
  }
  if (workspace != nullptr) Free(workspace);
  INGOT_RETURN_IF_ERROR(Annotate(status, variant->name));
  return report;
}

}  // namespace ingot::testing
