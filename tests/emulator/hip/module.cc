#include "tests/emulator/hip/module.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/emulator/hip/bundle.h"
#include "tests/emulator/hip/capture.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

bool IsElf(const void* image, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  static constexpr unsigned char kMagic[] = {0x7f, 'E', 'L', 'F'};
  for (size_t n = 0; n < sizeof(kMagic); ++n) {
    if (n >= size || bytes[n] != kMagic[n]) return false;
  }
  return true;
}

// The interpreter's tables exist once a program was loaded; queues must stop
// before those are destroyed.
void StopQueuesAtExit() {
  static const int registered = std::atexit(&Queue::StopAll);
  (void)registered;
}

int LoadElf(const void* image, size_t size, std::shared_ptr<Module>* module) {
  const int device = CurrentDevice();
  if (size == kUnknownSize) size = ElfSize(image);
  LoadError error = LoadError::kNone;
  std::string message;
  Program* program =
      R().device(device).emulated.Load(image, size, &error, &message);
  if (program == nullptr) {
    std::fprintf(stderr, "gfx950 emulator: code object refused: %s\n",
                 message.c_str());
    return error == LoadError::kWrongTarget ? kNoBinaryForGpu : kInvalidImage;
  }
  StopQueuesAtExit();
  *module = std::make_shared<Module>(device, program);
  Allocation globals;
  globals.bytes = program->object().image_size;
  globals.device = device;
  globals.image = true;
  R().allocations.Register(reinterpret_cast<void*>(program->base()), globals);
  return kSuccess;
}

int LoadForCaller(void** out, const void* image, size_t size) {
  if (out == nullptr || image == nullptr) return kInvalidValue;
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  std::shared_ptr<Module> module;
  if (const int error = LoadModule(image, size, &module); error != kSuccess)
    return error;
  *out = R().modules.Add(std::move(module));
  return kSuccess;
}

int LoadFile(void** out, const char* path) {
  if (out == nullptr || path == nullptr) return kInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return kFileNotFound;
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  return LoadForCaller(out, bytes.data(), bytes.size());
}

int Unload(void* handle) {
  if (const int error = CheckUnsafeCall(); error != kSuccess) return error;
  const std::shared_ptr<Module> module = R().modules.Drop(handle);
  if (module == nullptr) return kInvalidHandle;
  Retire(module);
  return kSuccess;
}

}  // namespace

Module::~Module() {
  R().allocations.Release(reinterpret_cast<void*>(program->base()));
  R().device(device).emulated.Unload(program);
}

int LoadModule(const void* image, size_t size,
               std::shared_ptr<Module>* module) {
  if (!R().valid_device(CurrentDevice())) return kNoDevice;
  if (IsElf(image, size)) return LoadElf(image, size, module);
  if (!IsBundle(image, size)) return kInvalidImage;
  std::string unpacked;
  const void* elf = nullptr;
  size_t elf_size = 0;
  const int error = FindInBundle(image, size, &unpacked, &elf, &elf_size);
  return error != kSuccess ? error : LoadElf(elf, elf_size, module);
}

int FindKernel(const std::shared_ptr<Module>& module, const std::string& name,
               void** function) {
  std::lock_guard<std::mutex> lock(module->mutex);
  if (const auto it = module->functions.find(name);
      it != module->functions.end()) {
    *function = const_cast<void*>(it->second);
    return kSuccess;
  }
  const KernelInfo* kernel = module->program->object().FindKernel(name);
  if (kernel == nullptr) return kNotFound;
  *function =
      R().functions.Add(std::make_shared<Function>(Function{module, kernel}));
  module->functions[name] = *function;
  return kSuccess;
}

int FindGlobal(const Module& module, const std::string& name, void** pointer,
               size_t* bytes) {
  const Program& program = *module.program;
  for (const Symbol& s : program.object().symbols) {
    if (s.name != name || s.function) continue;
    if (pointer != nullptr)
      *pointer = reinterpret_cast<void*>(program.base() + s.offset);
    if (bytes != nullptr) *bytes = s.size;
    return kSuccess;
  }
  return kNotFound;
}

void Retire(const std::shared_ptr<Module>& module) {
  module->unloaded = true;
  std::lock_guard<std::mutex> lock(module->mutex);
  for (const auto& [name, handle] : module->functions)
    R().functions.Drop(handle);
  module->functions.clear();
}

int FindFunction(const void* handle, FunctionPtr* function) {
  *function = R().functions.Find(handle);
  if (*function != nullptr) return kSuccess;
  const int error = FindStub(handle, CurrentDevice(), function);
  return error == kInvalidDeviceFunction ? int{kInvalidHandle} : error;
}

INGOT_HIP_EXPORT int hipModuleLoadData(void** module, const void* image) {
  return Done(LoadForCaller(module, image, kUnknownSize));
}
INGOT_HIP_EXPORT int hipModuleLoadDataEx(void** module, const void* image,
                                         unsigned options, void* names,
                                         void** values) {
  // Options are for the linker of SPIR-V and say nothing to a code object.
  if (options != 0 && (names == nullptr || values == nullptr))
    return Done(kInvalidValue);
  return Done(LoadForCaller(module, image, kUnknownSize));
}
INGOT_HIP_EXPORT int hipModuleLoadFatBinary(void** module, const void* image) {
  return Done(LoadForCaller(module, image, kUnknownSize));
}
INGOT_HIP_EXPORT int hipModuleLoad(void** module, const char* path) {
  return Done(LoadFile(module, path));
}
INGOT_HIP_EXPORT int hipModuleUnload(void* module) {
  return Done(Unload(module));
}

INGOT_HIP_EXPORT int hipModuleGetFunction(void** function, void* module,
                                          const char* name) {
  if (function == nullptr || name == nullptr || *name == 0)
    return Done(kInvalidValue);
  const std::shared_ptr<Module> found = R().modules.Find(module);
  if (found == nullptr) return Done(kInvalidHandle);
  return Done(FindKernel(found, name, function));
}

INGOT_HIP_EXPORT int hipModuleGetFunctionCount(unsigned* count, void* module) {
  if (count == nullptr) return Done(kInvalidValue);
  const std::shared_ptr<Module> found = R().modules.Find(module);
  if (found == nullptr) return Done(kInvalidHandle);
  *count = static_cast<unsigned>(found->program->object().kernels.size());
  return Done(kSuccess);
}

INGOT_HIP_EXPORT int hipModuleGetGlobal(void** pointer, size_t* bytes,
                                        void* module, const char* name) {
  if (name == nullptr || (pointer == nullptr && bytes == nullptr))
    return Done(kInvalidValue);
  const std::shared_ptr<Module> found = R().modules.Find(module);
  if (found == nullptr) return Done(kInvalidHandle);
  return Done(FindGlobal(*found, name, pointer, bytes));
}

}  // namespace ingot::emulator::hip
