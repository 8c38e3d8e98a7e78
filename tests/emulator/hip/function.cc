// What a function says about itself.
#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/module.h"
#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

constexpr int kIsaVersion = 95;  // major and minor of gfx950

FunctionAttributes AttributesOf(const KernelInfo& k) {
  FunctionAttributes a = {};
  a.binary_version = a.ptx_version = kIsaVersion;
  a.local_bytes = k.scratch_bytes;
  a.max_dynamic_lds = kLdsBytes - static_cast<int>(k.lds_bytes);
  a.max_threads = static_cast<int>(k.max_threads);
  a.registers = static_cast<int>(k.vgprs);
  a.lds_bytes = k.lds_bytes;
  return a;
}

// hipFunction_attribute, in its order.
int Attribute(int* value, int attribute, const void* handle) {
  if (value == nullptr) return kInvalidValue;
  FunctionPtr function;
  if (const int error = FindFunction(handle, &function); error != kSuccess)
    return error;
  const FunctionAttributes a = AttributesOf(*function->kernel);
  const int values[] = {a.max_threads,
                        static_cast<int>(a.lds_bytes),
                        static_cast<int>(a.const_bytes),
                        static_cast<int>(a.local_bytes),
                        a.registers,
                        a.ptx_version,
                        a.binary_version,
                        a.cache_mode,
                        a.max_dynamic_lds,
                        a.carveout};
  if (attribute < 0 || attribute >= static_cast<int>(std::size(values)))
    return kInvalidValue;
  *value = values[attribute];
  return kSuccess;
}

// HIP's word when it is no kernel of the host program.
int FindHostFunction(const void* stub, FunctionPtr* function) {
  if (stub == nullptr) return kInvalidDeviceFunction;
  const int error = FindFunction(stub, function);
  return error == kInvalidHandle ? int{kInvalidDeviceFunction} : error;
}

// hipFuncAttribute: 8 the dynamic LDS that launches may ask for, 9 a wish about
// caches. All of the LDS can always be asked for, so only the value is checked.
int Set(const void* stub, int attribute, int value) {
  constexpr int kMaxDynamicLds = 8, kCarveout = 9;
  FunctionPtr function;
  if (const int error = FindHostFunction(stub, &function); error != kSuccess)
    return error;
  const int most = AttributesOf(*function->kernel).max_dynamic_lds;
  if (attribute == kMaxDynamicLds)
    return value >= 0 && value <= most ? kSuccess : kInvalidValue;
  if (attribute == kCarveout)
    return value >= -1 && value <= 100 ? kSuccess : kInvalidValue;
  return kInvalidValue;
}

int AllAttributes(FunctionAttributes* attributes, const void* stub) {
  if (attributes == nullptr) return kInvalidValue;
  FunctionPtr function;
  if (const int error = FindHostFunction(stub, &function); error != kSuccess)
    return error;
  *attributes = AttributesOf(*function->kernel);
  return kSuccess;
}

// Caches and banks cannot be configured on this hardware; the wish is checked.
int Wish(const void* stub, int value, int most) {
  FunctionPtr function;
  if (const int error = FindHostFunction(stub, &function); error != kSuccess)
    return error;
  return value >= 0 && value <= most ? kSuccess : kInvalidValue;
}

}  // namespace

INGOT_HIP_EXPORT int hipFuncGetAttribute(int* value, int attribute,
                                         void* function) {
  return Done(Attribute(value, attribute, function));
}
INGOT_HIP_EXPORT int hipFuncGetAttributes(FunctionAttributes* attributes,
                                          const void* stub) {
  return Done(AllAttributes(attributes, stub));
}
INGOT_HIP_EXPORT int hipFuncSetAttribute(const void* stub, int attribute,
                                         int value) {
  return Done(Set(stub, attribute, value));
}
INGOT_HIP_EXPORT int hipFuncSetCacheConfig(const void* stub, int config) {
  return Done(Wish(stub, config, 3));
}
INGOT_HIP_EXPORT int hipFuncSetSharedMemConfig(const void* stub, int config) {
  return Done(Wish(stub, config, 2));
}
INGOT_HIP_EXPORT const char* hipKernelNameRef(const void* handle) {
  const FunctionPtr function = Runtime::Get().functions.Find(handle);
  return function == nullptr ? nullptr : function->kernel->name.c_str();
}
INGOT_HIP_EXPORT const char* hipKernelNameRefByPtr(const void* stub, void*) {
  FunctionPtr function;
  return FindHostFunction(stub, &function) != kSuccess
             ? nullptr
             : function->kernel->name.c_str();
}

}  // namespace ingot::emulator::hip
