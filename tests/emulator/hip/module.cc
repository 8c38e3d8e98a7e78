// Modules, functions and launches.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/emulator/hip/runtime.h"
#include "tests/emulator/program.h"

namespace ingot::emulator::hip {
namespace {

Runtime& R() { return Runtime::Get(); }

int LoadModule(void** out, const void* image, size_t size) {
  const int device = CurrentDevice();
  if (out == nullptr || image == nullptr) return kInvalidValue;
  if (!R().valid_device(device)) return kNoDevice;
  LoadError error = LoadError::kNone;
  std::string message;
  Program* program = R().device(device).Load(image, size, &error, &message);
  if (program == nullptr) {
    std::fprintf(stderr, "gfx950 emulator: code object refused: %s\n",
                 message.c_str());
    return error == LoadError::kWrongTarget ? kNoBinaryForGpu : kInvalidImage;
  }
  auto module = std::make_unique<Module>();
  module->device = device;
  module->program = program;
  *out = R().AddModule(std::move(module));
  return kSuccess;
}

// A bare pointer says nothing about its length: the ELF header must.
int LoadModuleData(void** out, const void* image) {
  if (image == nullptr) return kInvalidValue;
  const char* bytes = static_cast<const char*>(image);
  static constexpr char kMagic[] =
      "\x7f"
      "ELF";
  for (int n = 0; n < 4; ++n) {
    if (bytes[n] != kMagic[n]) return kInvalidImage;
  }
  return LoadModule(out, image, ElfSize(image));
}

int LoadModuleFile(void** out, const char* path) {
  if (path == nullptr) return kInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return kFileNotFound;
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  return LoadModule(out, bytes.data(), bytes.size());
}

// The values of HIP_LAUNCH_PARAM_*.
constexpr uintptr_t kBufferPointer = 1, kBufferSize = 2, kEnd = 3;

// Gathers the explicit arguments into the kernarg layout.
int Arguments(const KernelInfo& kernel, void** params, void** extra,
              std::string* out) {
  if (extra != nullptr) {
    const void* buffer = nullptr;
    size_t size = 0;
    for (void** e = extra; reinterpret_cast<uintptr_t>(*e) != kEnd; e += 2) {
      const uintptr_t key = reinterpret_cast<uintptr_t>(*e);
      if (key == kBufferPointer) {
        buffer = e[1];
      } else if (key == kBufferSize) {
        size = *static_cast<const size_t*>(e[1]);
      } else {
        return kInvalidValue;
      }
    }
    if (buffer == nullptr && size != 0) return kInvalidValue;
    out->assign(static_cast<const char*>(buffer), buffer == nullptr ? 0 : size);
    return kSuccess;
  }
  out->assign(kernel.kernarg_bytes, 0);
  size_t n = 0;
  for (const KernelArg& a : kernel.args) {
    if (a.hidden()) continue;
    if (params == nullptr || params[n] == nullptr) return kInvalidValue;
    std::memcpy(&(*out)[a.offset], params[n++], a.size);
  }
  return kSuccess;
}

int Launch(Function* function, const LaunchConfig& config, void* stream,
           void** params, void** extra) {
  int device;
  if (const int error = CheckStream(stream, &device); error != kSuccess)
    return error;
  if (!R().IsFunction(function)) return kInvalidHandle;
  if (function->module->device != device) return kInvalidHandle;
  if (params != nullptr && extra != nullptr) return kInvalidValue;
  std::string kernarg;
  if (const int error = Arguments(*function->kernel, params, extra, &kernarg);
      error != kSuccess) {
    return error;
  }
  RunResult result =
      R().device(device).Run(function->module->program, *function->kernel,
                             config, kernarg.data(), kernarg.size());
  switch (result.status) {
    case RunStatus::kOk:
      return kSuccess;
    case RunStatus::kInvalidLaunch:
      std::fprintf(stderr, "gfx950 emulator: launch of %s refused: %s\n",
                   function->kernel->name.c_str(), result.report.c_str());
      return kInvalidValue;
    case RunStatus::kIllegalAddress:
      R().Fault(device, kIllegalAddress, std::move(result.report));
      return kIllegalAddress;
    case RunStatus::kLaunchFailure:
      R().Fault(device, kLaunchFailure, std::move(result.report));
      return kLaunchFailure;
  }
  return kUnknown;
}

// Values of hipFunction_attribute.
int FunctionAttribute(const KernelInfo& k, int attribute) {
  switch (attribute) {
    case 0:
      return static_cast<int>(k.max_threads);
    case 1:
      return static_cast<int>(k.lds_bytes);
    case 3:
      return static_cast<int>(k.scratch_bytes);
    case 4:
      return static_cast<int>(k.vgprs);
    case 5:
    case 6:
      return 95;
    case 8:
      return 163840 - static_cast<int>(k.lds_bytes);
    default:
      return 0;
  }
}

}  // namespace

INGOT_HIP_EXPORT int hipModuleLoadData(void** module, const void* image) {
  return R().Set(LoadModuleData(module, image));
}
INGOT_HIP_EXPORT int hipModuleLoadDataEx(void** module, const void* image,
                                         unsigned, void*, void**) {
  return R().Set(LoadModuleData(module, image));
}
INGOT_HIP_EXPORT int hipModuleLoad(void** module, const char* path) {
  return R().Set(LoadModuleFile(module, path));
}
INGOT_HIP_EXPORT int hipModuleUnload(void* module) {
  return R().Set(R().DropModule(static_cast<Module*>(module)) ? kSuccess
                                                              : kInvalidHandle);
}
INGOT_HIP_EXPORT int hipModuleGetFunction(void** function, void* module,
                                          const char* name) {
  if (function == nullptr || name == nullptr) return R().Set(kInvalidValue);
  return R().Set(GetFunction(function, static_cast<Module*>(module), name));
}

INGOT_HIP_EXPORT int hipModuleGetGlobal(void** pointer, size_t* bytes,
                                        void* module, const char* name) {
  if (module == nullptr || name == nullptr) return R().Set(kInvalidValue);
  const Program& program = *static_cast<Module*>(module)->program;
  for (const Symbol& s : program.object().symbols) {
    if (s.name != name || s.function) continue;
    if (pointer != nullptr)
      *pointer = reinterpret_cast<void*>(program.base() + s.offset);
    if (bytes != nullptr) *bytes = s.size;
    return kSuccess;
  }
  return R().Set(kNotFound);
}

INGOT_HIP_EXPORT int hipModuleLaunchKernel(void* function, unsigned gx,
                                           unsigned gy, unsigned gz,
                                           unsigned bx, unsigned by,
                                           unsigned bz, unsigned lds,
                                           void* stream, void** params,
                                           void** extra) {
  const LaunchConfig config{{gx, gy, gz}, {bx, by, bz}, lds};
  return R().Set(
      Launch(static_cast<Function*>(function), config, stream, params, extra));
}

INGOT_HIP_EXPORT int hipModuleLaunchCooperativeKernel(
    void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, unsigned lds, void* stream, void** params) {
  const LaunchConfig config{{gx, gy, gz}, {bx, by, bz}, lds};
  return R().Set(Launch(static_cast<Function*>(function), config, stream,
                        params, nullptr));
}

INGOT_HIP_EXPORT int hipFuncGetAttribute(int* value, int attribute,
                                         void* function) {
  if (value == nullptr) return R().Set(kInvalidValue);
  if (!R().IsFunction(static_cast<Function*>(function)))
    return R().Set(kInvalidHandle);
  *value =
      FunctionAttribute(*static_cast<Function*>(function)->kernel, attribute);
  return kSuccess;
}

INGOT_HIP_EXPORT int hipFuncSetAttribute(void*, int, int) { return kSuccess; }

}  // namespace ingot::emulator::hip
