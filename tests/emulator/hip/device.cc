// Devices, versions, errors.
#include <algorithm>
#include <cstring>

#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

constexpr int kVersion =
    60443484;  // HIP 6.4, as hipRuntimeGetVersion states it

// Values of hipDeviceAttribute_t, and the device's answers.
struct Attribute {
  int id;
  int value;
};
constexpr Attribute kAttributes[] = {
    {4, 1},          // CanUseHostPointerForRegisteredMem
    {3, 1},          // CanMapHostMemory
    {5, kClockKhz},  // ClockRate
    {8, 1},          // ConcurrentKernels
    {10, 1},         // CooperativeLaunch
    {19, kL2Bytes},  // L2CacheSize
    {23, 9},         // ComputeCapabilityMajor
    {24, 1},         // ManagedMemory
    {26, kMaxThreads},
    {27, kMaxThreads},
    {28, kMaxThreads},  // MaxBlockDim
    {29, 0x7fffffff},
    {30, 65535},
    {31, 65535},          // MaxGridDim
    {56, kMaxThreads},    // MaxThreadsPerBlock
    {57, 2048},           // MaxThreadsPerMultiProcessor
    {59, 8192},           // MemoryBusWidth
    {60, 2000000},        // MemoryClockRate
    {61, 5},              // ComputeCapabilityMinor
    {63, kComputeUnits},  // MultiprocessorCount
    {71, 65536},          // MaxRegistersPerBlock
    {72, 131072},         // MaxRegistersPerMultiprocessor
    {74, kLdsBytes},      // MaxSharedMemoryPerBlock
    {75, kLdsBytes},      // SharedMemPerBlockOptin
    {76, kLdsBytes},      // SharedMemPerMultiprocessor
    {85, 1},              // UnifiedAddressing
    {87, kLanes},         // WarpSize
    {88, 1},              // MemoryPoolsSupported
    {90, 1},              // HostRegisterSupported
};

}  // namespace

void FillProperties(int device, DeviceProperties* p) {
  std::memset(p, 0, sizeof(*p));
  std::strcpy(p->name, kDeviceName);
  p->uuid[0] = 'e';
  p->uuid[15] = static_cast<char>(device);
  p->total_global_mem = kMemoryBytes;
  p->shared_mem_per_block = kLdsBytes;
  p->regs_per_block = 65536;
  p->warp_size = kLanes;
  p->max_threads_per_block = kMaxThreads;
  std::fill_n(p->max_threads_dim, 3, kMaxThreads);
  p->max_grid_size[0] = 0x7fffffff;
  p->max_grid_size[1] = p->max_grid_size[2] = 65535;
  p->clock_rate = kClockKhz;
  p->total_const_mem = 0x7fffffff;
  p->major = 9;
  p->minor = 5;
  p->multi_processor_count = kComputeUnits;
  p->can_map_host_memory = 1;
  p->concurrent_kernels = 1;
  p->ecc_enabled = 1;
  p->pci_bus_id = device + 1;
  p->async_engine_count = 1;
  p->unified_addressing = 1;
  p->memory_clock_rate = 2000000;
  p->memory_bus_width = 8192;
  p->l2_cache_size = kL2Bytes;
  p->max_threads_per_multi_processor = 2048;
  p->shared_mem_per_multiprocessor = kLdsBytes;
  p->regs_per_multiprocessor = 131072;
  p->managed_memory = 1;
  p->cooperative_launch = 1;
  p->shared_mem_per_block_optin = kLdsBytes;
  p->max_blocks_per_multi_processor = 32;
  p->host_register_supported = 1;
  p->memory_pools_supported = 1;
  std::strcpy(p->gcn_arch_name, kTargetId);
  p->max_shared_memory_per_multi_processor = kLdsBytes;
  p->clock_instruction_rate = 100000;
}

int DeviceAttribute(int* value, int attribute, int device) {
  Runtime& r = Runtime::Get();
  if (value == nullptr) return kInvalidValue;
  if (!r.valid_device(device)) return kInvalidDevice;
  *value = 0;
  for (const Attribute& a : kAttributes) {
    if (a.id == attribute) *value = a.value;
  }
  return kSuccess;
}

INGOT_HIP_EXPORT int hipInit(unsigned flags) {
  Runtime& r = Runtime::Get();
  if (flags != 0) return r.Set(kInvalidValue);
  return r.Set(r.device_count() == 0 ? kNoDevice : kSuccess);
}

INGOT_HIP_EXPORT int hipGetDeviceCount(int* count) {
  Runtime& r = Runtime::Get();
  if (count == nullptr) return r.Set(kInvalidValue);
  *count = r.device_count();
  return r.Set(*count == 0 ? kNoDevice : kSuccess);
}

INGOT_HIP_EXPORT int hipSetDevice(int device) {
  Runtime& r = Runtime::Get();
  if (!r.valid_device(device)) return r.Set(kInvalidDevice);
  SetCurrentDevice(device);
  return kSuccess;
}

INGOT_HIP_EXPORT int hipGetDevice(int* device) {
  Runtime& r = Runtime::Get();
  if (device == nullptr) return r.Set(kInvalidValue);
  *device = CurrentDevice();
  return r.Set(r.device_count() == 0 ? kNoDevice : kSuccess);
}

INGOT_HIP_EXPORT int hipDeviceGet(int* device, int ordinal) {
  Runtime& r = Runtime::Get();
  if (device == nullptr) return r.Set(kInvalidValue);
  if (!r.valid_device(ordinal)) return r.Set(kInvalidDevice);
  *device = ordinal;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipDeviceGetName(char* name, int length, int device) {
  Runtime& r = Runtime::Get();
  if (name == nullptr || length <= 0) return r.Set(kInvalidValue);
  if (!r.valid_device(device)) return r.Set(kInvalidDevice);
  std::strncpy(name, kDeviceName, static_cast<size_t>(length) - 1);
  name[length - 1] = 0;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipDeviceTotalMem(size_t* bytes, int device) {
  Runtime& r = Runtime::Get();
  if (bytes == nullptr) return r.Set(kInvalidValue);
  if (!r.valid_device(device)) return r.Set(kInvalidDevice);
  *bytes = kMemoryBytes;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipDeviceComputeCapability(int* major, int* minor,
                                                int device) {
  Runtime& r = Runtime::Get();
  if (major == nullptr || minor == nullptr) return r.Set(kInvalidValue);
  if (!r.valid_device(device)) return r.Set(kInvalidDevice);
  *major = 9;
  *minor = 5;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipDeviceGetAttribute(int* value, int attribute,
                                           int device) {
  return Runtime::Get().Set(DeviceAttribute(value, attribute, device));
}

INGOT_HIP_EXPORT int hipGetDevicePropertiesR0600(DeviceProperties* properties,
                                                 int device) {
  Runtime& r = Runtime::Get();
  if (properties == nullptr) return r.Set(kInvalidValue);
  if (!r.valid_device(device)) return r.Set(kInvalidDevice);
  FillProperties(device, properties);
  return kSuccess;
}

INGOT_HIP_EXPORT int hipDeviceSynchronize() {
  Runtime& r = Runtime::Get();
  const int device = CurrentDevice();
  return r.Set(r.valid_device(device) ? r.sticky(device) : int{kNoDevice});
}

INGOT_HIP_EXPORT int hipDeviceReset() { return kSuccess; }

INGOT_HIP_EXPORT int hipDriverGetVersion(int* version) {
  if (version == nullptr) return Runtime::Get().Set(kInvalidValue);
  *version = kVersion;
  return kSuccess;
}
INGOT_HIP_EXPORT int hipRuntimeGetVersion(int* version) {
  return hipDriverGetVersion(version);
}

INGOT_HIP_EXPORT int hipDeviceCanAccessPeer(int* can, int device, int peer) {
  Runtime& r = Runtime::Get();
  if (can == nullptr) return r.Set(kInvalidValue);
  if (!r.valid_device(device) || !r.valid_device(peer))
    return r.Set(kInvalidDevice);
  *can = 0;
  return kSuccess;
}

INGOT_HIP_EXPORT int hipGetLastError() {
  return Runtime::Get().TakeLastError();
}
INGOT_HIP_EXPORT int hipPeekAtLastError() {
  return Runtime::Get().PeekLastError();
}
INGOT_HIP_EXPORT const char* hipGetErrorString(int error) {
  return ErrorText(error);
}
INGOT_HIP_EXPORT const char* hipGetErrorName(int error) {
  return ErrorName(error);
}
INGOT_HIP_EXPORT int hipDrvGetErrorString(int error, const char** text) {
  *text = ErrorText(error);
  return kSuccess;
}
INGOT_HIP_EXPORT int hipDrvGetErrorName(int error, const char** name) {
  *name = ErrorName(error);
  return kSuccess;
}

// The report of the last kernel fault in the process, or "". Valid until the
// next call.
INGOT_HIP_EXPORT const char* ingot_emulator_last_report() {
  return Runtime::Get().last_report();
}
// Forgets faults, so that the devices work again.
INGOT_HIP_EXPORT void ingot_emulator_reset() { Runtime::Get().Reset(); }
// The interpreter build in use, "x86-64-v3".
INGOT_HIP_EXPORT const char* ingot_emulator_level() {
  return InterpreterLevel();
}

}  // namespace ingot::emulator::hip
