#include "tests/emulator/hip/launch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/occupancy.h"
#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// The values of HIP_LAUNCH_PARAM_*.
constexpr uintptr_t kBufferPointer = 1, kBufferSize = 2, kEnd = 3;

size_t ExplicitBytes(const KernelInfo& kernel) {
  size_t end = 0;
  for (const KernelArg& a : kernel.args) {
    if (!a.hidden()) end = std::max<size_t>(end, a.offset + a.size);
  }
  return end;
}

int PackedArguments(const KernelInfo& kernel, void** extra, std::string* out) {
  const void* buffer = nullptr;
  size_t size = 0;
  for (void** e = extra; reinterpret_cast<uintptr_t>(*e) != kEnd; e += 2) {
    const uintptr_t key = reinterpret_cast<uintptr_t>(*e);
    if (key == kBufferPointer) {
      buffer = e[1];
    } else if (key == kBufferSize && e[1] != nullptr) {
      size = *static_cast<const size_t*>(e[1]);
    } else {
      return kInvalidValue;
    }
  }
  if (size < ExplicitBytes(kernel)) return kInvalidValue;
  if (size == 0) return kSuccess;
  if (buffer == nullptr) return kInvalidValue;
  // What is longer than the segment would be hidden arguments and more.
  out->assign(static_cast<const char*>(buffer),
              std::min<size_t>(size, kernel.kernarg_bytes));
  return kSuccess;
}

int Arguments(const KernelInfo& kernel, void** params, void** extra,
              std::string* out) {
  if (params != nullptr && extra != nullptr) return kInvalidValue;
  if (extra != nullptr) return PackedArguments(kernel, extra, out);
  if (!kernel.has_metadata && params != nullptr) {
    std::fprintf(stderr,
                 "gfx950 emulator: %s has no metadata that says what its "
                 "arguments are\n",
                 kernel.name.c_str());
    return kInvalidValue;
  }
  out->assign(kernel.kernarg_bytes, 0);
  size_t n = 0;
  for (const KernelArg& a : kernel.args) {
    if (a.hidden()) continue;
    if (params == nullptr || params[n] == nullptr) return kInvalidValue;
    if (a.offset + size_t{a.size} > out->size()) return kInvalidImage;
    std::memcpy(&(*out)[a.offset], params[n++], a.size);
  }
  return kSuccess;
}

int Refuse(const KernelInfo& kernel, int error, const char* why) {
  std::fprintf(stderr, "gfx950 emulator: launch of %s refused: %s\n",
               kernel.name.c_str(), why);
  return error;
}

int CheckCooperative(const KernelOp& op, uint64_t threads) {
  uint64_t groups = 1;
  for (const uint32_t g : op.config.grid) {
    groups *= g;
    if (groups > ~0u) break;
  }
  const uint64_t resident = uint64_t{kComputeUnits} *
                            static_cast<uint64_t>(BlocksPerComputeUnit(
                                *op.function->kernel, static_cast<int>(threads),
                                op.config.dynamic_lds));
  return groups <= resident
             ? kSuccess
             : Refuse(*op.function->kernel, kCooperativeLaunchTooLarge,
                      "its workgroups cannot all be resident");
}

int CheckGeometry(const KernelInfo& k, const LaunchConfig& c,
                  uint64_t* threads) {
  *threads = 1;
  for (const uint32_t g : c.grid) {
    if (g == 0) return Refuse(k, kInvalidValue, "a grid dimension is 0");
  }
  for (const uint32_t b : c.block) {
    if (b == 0)
      return Refuse(k, kInvalidConfiguration, "a block dimension is 0");
    if (b > kMaxThreads)
      return Refuse(k, kInvalidConfiguration, "a block dimension exceeds 1024");
    *threads *= b;
  }
  for (int d = 0; d < 3; ++d) {
    if (uint64_t{c.grid[d]} * c.block[d] > ~0u) {
      return Refuse(k, kInvalidConfiguration,
                    "a dimension has 2^32 work-items or more");
    }
    if (k.reqd_size[0] != 0 && k.reqd_size[d] != c.block[d])
      return Refuse(k, kInvalidValue,
                    "the kernel requires another workgroup size");
  }
  return kSuccess;
}

}  // namespace

int MakeKernelOp(const void* function, const LaunchConfig& config,
                 void** params, void** extra, KernelOp* op) {
  op->handle = function;
  op->config = config;
  if (const int error = FindFunction(function, &op->function);
      error != kSuccess) {
    return error;
  }
  return Arguments(*op->function->kernel, params, extra, &op->kernarg);
}

int MakeKernelOp(const KernelNodeParams& p, KernelOp* op) {
  const LaunchConfig config{{p.grid.x, p.grid.y, p.grid.z},
                            {p.block.x, p.block.y, p.block.z},
                            p.dynamic_lds,
                            {}};
  return MakeKernelOp(p.function, config, p.params, p.extra, op);
}

int CheckLaunch(const KernelOp& op, int device) {
  const KernelInfo& k = *op.function->kernel;
  if (op.function->module->unloaded)
    return Refuse(k, kInvalidHandle, "its module was unloaded");
  if (op.function->module->device != device)
    return Refuse(k, kInvalidHandle, "its module is another device's");
  uint64_t threads = 0;
  if (const int error = CheckGeometry(k, op.config, &threads);
      error != kSuccess) {
    return error;
  }
  if (threads > kMaxThreads)
    return Refuse(k, kInvalidConfiguration, "more than 1024 work-items");
  if (threads > k.max_threads)
    return Refuse(k, kLaunchFailure, "more work-items than the kernel allows");
  if (uint64_t{k.lds_bytes} + op.config.dynamic_lds > kLdsBytes) {
    return Refuse(k,
                  op.cooperative ? kCooperativeLaunchTooLarge : kInvalidValue,
                  "more LDS than a workgroup can have");
  }
  return op.cooperative ? CheckCooperative(op, threads) : kSuccess;
}

void RunKernel(const KernelOp& op) {
  const Module& module = *op.function->module;
  if (R().sticky(module.device) != kSuccess) return;
  RunResult result =
      R().device(module.device)
          .emulated.Run(module.program, *op.function->kernel, op.config,
                        op.kernarg.data(), op.kernarg.size());
  if (result.status == RunStatus::kOk) return;
  const bool address = result.status == RunStatus::kIllegalAddress;
  R().Fault(module.device, address ? kIllegalAddress : kLaunchFailure,
            std::move(result.report));
}

}  // namespace ingot::emulator::hip
