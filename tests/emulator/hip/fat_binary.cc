// Hosts built by hipcc: fat binaries, kernels by the address of their stubs,
// and device variables by the address of their shadows. Code is loaded for a
// device when something of it is first used there.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/copy.h"
#include "tests/emulator/hip/module.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// What the compiler emits for each fat binary.
struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* binary;
  void* unused;
};
constexpr uint32_t kMagic = 0x48495046;  // "HIPF"
constexpr uint32_t kVersionOne = 1;

struct FatBinary {
  const void* image = nullptr;
  std::map<int, std::shared_ptr<Module>> modules;  // by device
};

struct Stub {
  FatBinary* binary = nullptr;
  std::string name;
};

struct Shadow {
  FatBinary* binary = nullptr;
  std::string name;
  size_t bytes = 0;
  void* managed = nullptr;  // its memory, when it is a __managed__ variable
};

struct CallConfiguration {
  Dim3 grid, block;
  size_t lds;
  void* stream;
};
thread_local std::vector<CallConfiguration> configurations;

// All that was registered. Thread-safe: programs load libraries at any time.
class Program {
 public:
  static Program& Get() {
    static auto* const program = new Program;
    return *program;
  }

  void* Add(const Wrapper* wrapper) {
    if (wrapper == nullptr || wrapper->magic != kMagic ||
        wrapper->version != kVersionOne || wrapper->binary == nullptr) {
      std::fprintf(stderr, "gfx950 emulator: not a fat binary of HIP\n");
      return nullptr;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    auto binary = std::make_unique<FatBinary>();
    binary->image = wrapper->binary;
    void* const handle = binary.get();
    binaries_[handle] = std::move(binary);
    return handle;
  }

  void Remove(void* handle) {
    std::unique_ptr<FatBinary> binary;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = binaries_.find(handle);
    if (it == binaries_.end()) return;
    binary = std::move(it->second);
    binaries_.erase(it);
    const auto of_binary = [&](const auto& entry) {
      return entry.second.binary == binary.get();
    };
    std::erase_if(stubs_, of_binary);
    std::erase_if(shadows_, of_binary);
    for (const auto& [device, module] : binary->modules) Retire(module);
  }

  void AddStub(void* handle, const void* stub, const char* name) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (FatBinary* binary = Find(handle); binary != nullptr && name != nullptr)
      stubs_[stub] = {binary, name};
  }

  void AddShadow(void* handle, const void* shadow, const char* name,
                 size_t bytes, void* managed) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (FatBinary* binary = Find(handle); binary != nullptr && name != nullptr)
      shadows_[shadow] = {binary, name, bytes, managed};
  }

  int FindFunction(const void* stub, int device, void** function) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = stubs_.find(stub);
    if (it == stubs_.end()) return kInvalidDeviceFunction;
    std::shared_ptr<Module> module;
    if (const int error = Load(*it->second.binary, device, &module);
        error != kSuccess) {
      return error;
    }
    const int error = FindKernel(module, it->second.name, function);
    return error == kNotFound ? int{kInvalidDeviceFunction} : error;
  }

  int FindVariable(const void* shadow, int device, void** pointer,
                   size_t* bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = shadows_.find(shadow);
    if (it == shadows_.end()) return kInvalidSymbol;
    if (it->second.managed != nullptr) {
      *pointer = it->second.managed;
      *bytes = it->second.bytes;
      return kSuccess;
    }
    std::shared_ptr<Module> module;
    if (const int error = Load(*it->second.binary, device, &module);
        error != kSuccess) {
      return error;
    }
    const int error = FindGlobal(*module, it->second.name, pointer, bytes);
    return error == kNotFound ? int{kInvalidSymbol} : error;
  }

 private:
  FatBinary* Find(void* handle) {
    const auto it = binaries_.find(handle);
    return it == binaries_.end() ? nullptr : it->second.get();
  }

  // Loads for the current device of the thread, so it is changed for that long.
  int Load(FatBinary& binary, int device, std::shared_ptr<Module>* module) {
    const auto it = binary.modules.find(device);
    if (it != binary.modules.end()) {
      *module = it->second;
      return kSuccess;
    }
    const int before = CurrentDevice();
    SetCurrentDevice(device);
    const int error = LoadModule(binary.image, kUnknownSize, module);
    SetCurrentDevice(before);
    if (error != kSuccess) return error;
    PointToManaged(binary, **module);
    binary.modules[device] = *module;
    return kSuccess;
  }

  // Device code reaches a __managed__ variable through a pointer of its name.
  void PointToManaged(const FatBinary& binary, const Module& module) {
    for (const auto& [shadow, s] : shadows_) {
      void* pointer = nullptr;
      if (s.binary != &binary || s.managed == nullptr ||
          FindGlobal(module, s.name, &pointer, nullptr) != kSuccess) {
        continue;
      }
      std::memcpy(pointer, &s.managed, sizeof(s.managed));
    }
  }

  std::mutex mutex_;
  std::map<void*, std::unique_ptr<FatBinary>> binaries_;
  std::map<const void*, Stub> stubs_;
  std::map<const void*, Shadow> shadows_;
};

int SymbolRange(const void* symbol, size_t bytes, size_t offset, void** at) {
  size_t size = 0;
  if (const int error =
          Program::Get().FindVariable(symbol, CurrentDevice(), at, &size);
      error != kSuccess) {
    return error;
  }
  if (offset > size || bytes > size - offset) return kInvalidValue;
  *at = static_cast<char*>(*at) + offset;
  return kSuccess;
}

void* NewManaged(const void* initial, size_t bytes) {
  Allocation wanted;
  wanted.bytes = bytes;
  wanted.kind = MemoryMap::Kind::kManaged;
  void* const memory = Runtime::Get().allocations.Allocate(wanted);
  if (memory != nullptr && initial != nullptr)
    std::memcpy(memory, initial, bytes);
  return memory;
}

int PopConfiguration(Dim3* grid, Dim3* block, size_t* lds, void** stream) {
  if (grid == nullptr || block == nullptr || lds == nullptr ||
      stream == nullptr) {
    return kInvalidValue;
  }
  if (configurations.empty()) return kMissingConfiguration;
  const CallConfiguration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *lds = c.lds;
  *stream = c.stream;
  return kSuccess;
}

}  // namespace

int FindStub(const void* stub, int device, FunctionPtr* function) {
  if (!Runtime::Get().valid_device(device)) return kNoDevice;
  void* handle = nullptr;
  if (const int error = Program::Get().FindFunction(stub, device, &handle);
      error != kSuccess) {
    return error;
  }
  *function = Runtime::Get().functions.Find(handle);
  return *function != nullptr ? kSuccess : kInvalidDeviceFunction;
}

INGOT_HIP_EXPORT void* __hipRegisterFatBinary(const Wrapper* wrapper) {
  return Program::Get().Add(wrapper);
}
INGOT_HIP_EXPORT void __hipUnregisterFatBinary(void* handle) {
  Program::Get().Remove(handle);
}
INGOT_HIP_EXPORT void __hipRegisterFunction(void* handle, const void* stub,
                                            const char*, const char* name,
                                            unsigned, void*, void*, void*,
                                            void*, int*) {
  Program::Get().AddStub(handle, stub, name);
}
INGOT_HIP_EXPORT void __hipRegisterVar(void* handle, const void* shadow,
                                       const char* name, const char*, int,
                                       size_t bytes, int, int) {
  Program::Get().AddShadow(handle, shadow, name, bytes, nullptr);
}
INGOT_HIP_EXPORT void __hipRegisterManagedVar(void* handle, void** shadow,
                                              const void* initial,
                                              const char* name, size_t bytes,
                                              unsigned) {
  if (shadow == nullptr) return;
  *shadow = NewManaged(initial, bytes);
  Program::Get().AddShadow(handle, shadow, name, bytes, *shadow);
}
// Images and samplers are not emulated; what uses them does not load.
INGOT_HIP_EXPORT void __hipRegisterTexture(void*, void*, char*, char*, int, int,
                                           int) {}
INGOT_HIP_EXPORT void __hipRegisterSurface(void*, void*, char*, char*, int,
                                           int) {}

INGOT_HIP_EXPORT int __hipPushCallConfiguration(Dim3 grid, Dim3 block,
                                                size_t lds, void* stream) {
  configurations.push_back({grid, block, lds, stream});
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int __hipPopCallConfiguration(Dim3* grid, Dim3* block,
                                               size_t* lds, void** stream) {
  return Done(PopConfiguration(grid, block, lds, stream));
}

INGOT_HIP_EXPORT int hipGetFuncBySymbol(void** function, const void* stub) {
  if (function == nullptr) return Done(kInvalidValue);
  return Done(Program::Get().FindFunction(stub, CurrentDevice(), function));
}
INGOT_HIP_EXPORT int hipGetSymbolAddress(void** pointer, const void* symbol) {
  if (pointer == nullptr) return Done(kInvalidValue);
  return Done(SymbolRange(symbol, 0, 0, pointer));
}
INGOT_HIP_EXPORT int hipGetSymbolSize(size_t* bytes, const void* symbol) {
  void* pointer = nullptr;
  if (bytes == nullptr) return Done(kInvalidValue);
  return Done(
      Program::Get().FindVariable(symbol, CurrentDevice(), &pointer, bytes));
}

INGOT_HIP_EXPORT int hipMemcpy(void* to, const void* from, size_t n, int kind);
INGOT_HIP_EXPORT int hipMemcpyAsync(void* to, const void* from, size_t n,
                                    int kind, void* stream);

INGOT_HIP_EXPORT int hipMemcpyToSymbol(const void* symbol, const void* from,
                                       size_t n, size_t offset, int kind) {
  void* to = nullptr;
  const int error = SymbolRange(symbol, n, offset, &to);
  return error != kSuccess ? Done(error) : hipMemcpy(to, from, n, kind);
}
INGOT_HIP_EXPORT int hipMemcpyToSymbolAsync(const void* symbol,
                                            const void* from, size_t n,
                                            size_t offset, int kind,
                                            void* stream) {
  void* to = nullptr;
  const int error = SymbolRange(symbol, n, offset, &to);
  return error != kSuccess ? Done(error)
                           : hipMemcpyAsync(to, from, n, kind, stream);
}
INGOT_HIP_EXPORT int hipMemcpyFromSymbol(void* to, const void* symbol, size_t n,
                                         size_t offset, int kind) {
  void* from = nullptr;
  const int error = SymbolRange(symbol, n, offset, &from);
  return error != kSuccess ? Done(error) : hipMemcpy(to, from, n, kind);
}
INGOT_HIP_EXPORT int hipMemcpyFromSymbolAsync(void* to, const void* symbol,
                                              size_t n, size_t offset, int kind,
                                              void* stream) {
  void* from = nullptr;
  const int error = SymbolRange(symbol, n, offset, &from);
  return error != kSuccess ? Done(error)
                           : hipMemcpyAsync(to, from, n, kind, stream);
}

}  // namespace ingot::emulator::hip
