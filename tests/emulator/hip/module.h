// Modules and the functions in them.
#ifndef TESTS_EMULATOR_HIP_MODULE_H_
#define TESTS_EMULATOR_HIP_MODULE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tests/emulator/program.h"

namespace ingot::emulator::hip {

struct Module;

// What a hipFunction_t stands for. Keeps its module's code.
struct Function {
  std::shared_ptr<Module> module;
  const KernelInfo* kernel = nullptr;
};
using FunctionPtr = std::shared_ptr<const Function>;

// What a hipModule_t stands for. The code lives as long as anything, such as
// work under way, refers to it.
struct Module {
  Module(int d, Program* p) : device(d), program(p) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  const int device;
  Program* const program;
  std::atomic<bool> unloaded{false};
  std::mutex mutex;
  std::map<std::string, const void*> functions;  // handles, by kernel's name
};

// Loads an ELF or an offload bundle for the current device; `size` is
// kUnknownSize for a bare pointer. Errors: kInvalidImage, kNoBinaryForGpu.
inline constexpr size_t kUnknownSize = ~size_t{0};
int LoadModule(const void* image, size_t size, std::shared_ptr<Module>* module);

// The handle of a kernel; the same one each time. kNotFound when there is none.
int FindKernel(const std::shared_ptr<Module>& module, const std::string& name,
               void** function);
// Where a global variable lies. kNotFound when there is none.
int FindGlobal(const Module& module, const std::string& name, void** pointer,
               size_t* bytes);
// Takes the handles of a module and its functions out of use.
void Retire(const std::shared_ptr<Module>& module);

// The function that a handle means: a hipFunction_t, or for hosts built by
// hipcc the address of a kernel's stub. Null function and an error when none.
int FindFunction(const void* handle, FunctionPtr* function);
// Only addresses of stubs, for `device` (fat_binary.cc).
int FindStub(const void* stub, int device, FunctionPtr* function);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_MODULE_H_
