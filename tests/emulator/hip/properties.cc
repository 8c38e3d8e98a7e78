#include "tests/emulator/hip/properties.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tests/emulator/hip/context.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// hipDeviceProp_tR0000, what the name hipGetDeviceProperties without a suffix
// still means in the library.
struct OldProperties {
  char name[256];
  size_t total_global_mem;
  size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  int clock_rate;
  int memory_clock_rate;
  int memory_bus_width;
  size_t total_const_mem;
  int major, minor;
  int multi_processor_count;
  int l2_cache_size;
  int max_threads_per_multi_processor;
  int compute_mode;
  int clock_instruction_rate;
  unsigned arch;
  int concurrent_kernels;
  int pci_domain_id, pci_bus_id, pci_device_id;
  size_t max_shared_memory_per_multi_processor;
  int is_multi_gpu_board;
  int can_map_host_memory;
  int gcn_arch;
  char gcn_arch_name[256];
  int integrated;
  int cooperative_launch;
  int cooperative_multi_device_launch;
  int textures[7];
  void* hdp[2];
  size_t mem_pitch;
  size_t texture_alignment, texture_pitch_alignment;
  int kernel_exec_timeout_enabled;
  int ecc_enabled;
  int tcc_driver;
  int cooperative_multi_device_unmatched[4];
  int is_large_bar;
  int asic_revision;
  int managed_memory;
  int direct_managed_mem_access_from_host;
  int concurrent_managed_access;
  int pageable_memory_access;
  int pageable_memory_access_uses_host_page_tables;
};
static_assert(offsetof(OldProperties, gcn_arch_name) == 396);
static_assert(sizeof(OldProperties) == 792);

void FillOld(const DeviceProperties& p, OldProperties* old) {
  *old = {};
  std::memcpy(old->name, p.name, sizeof(old->name));
  old->total_global_mem = p.total_global_mem;
  old->shared_mem_per_block = p.shared_mem_per_block;
  old->regs_per_block = p.regs_per_block;
  old->warp_size = p.warp_size;
  old->max_threads_per_block = p.max_threads_per_block;
  std::copy_n(p.max_threads_dim, 3, old->max_threads_dim);
  std::copy_n(p.max_grid_size, 3, old->max_grid_size);
  old->clock_rate = p.clock_rate;
  old->memory_clock_rate = p.memory_clock_rate;
  old->memory_bus_width = p.memory_bus_width;
  old->total_const_mem = p.total_const_mem;
  old->major = p.major;
  old->minor = p.minor;
  old->multi_processor_count = p.multi_processor_count;
  old->l2_cache_size = p.l2_cache_size;
  old->max_threads_per_multi_processor = p.max_threads_per_multi_processor;
  old->clock_instruction_rate = p.clock_instruction_rate;
  old->arch = p.arch;
  old->concurrent_kernels = p.concurrent_kernels;
  old->pci_bus_id = p.pci_bus_id;
  old->max_shared_memory_per_multi_processor =
      p.max_shared_memory_per_multi_processor;
  old->can_map_host_memory = p.can_map_host_memory;
  old->gcn_arch = 950;
  std::memcpy(old->gcn_arch_name, p.gcn_arch_name, sizeof(p.gcn_arch_name));
  old->cooperative_launch = p.cooperative_launch;
  old->mem_pitch = p.mem_pitch;
  old->ecc_enabled = p.ecc_enabled;
  old->is_large_bar = p.is_large_bar;
  old->managed_memory = p.managed_memory;
  old->direct_managed_mem_access_from_host =
      p.direct_managed_mem_access_from_host;
  old->concurrent_managed_access = p.concurrent_managed_access;
  old->pageable_memory_access = p.pageable_memory_access;
}

// Bits of hipDeviceArch_t: all but the funnel shift, the extended barriers,
// surfaces and dynamic parallelism.
constexpr unsigned kArchFeatures =
    0x1ffff & ~(1u << 11 | 1u << 13 | 1u << 14 | 1u << 16);

template <class Fill>
int Give(int device, Fill fill) {
  if (!Runtime::Get().valid_device(device)) return kInvalidDevice;
  DeviceProperties properties;
  FillProperties(device, &properties);
  fill(properties);
  return kSuccess;
}

}  // namespace

void FillProperties(int device, DeviceProperties* p) {
  *p = {};
  std::strcpy(p->name, kDeviceName);
  FillUuid(device, p->uuid);
  p->total_global_mem = kMemoryBytes;
  p->shared_mem_per_block = kLdsBytes;
  p->regs_per_block = kRegistersPerComputeUnit;
  p->warp_size = kWave;
  p->mem_pitch = 0x7fffffff;
  p->max_threads_per_block = kMaxThreads;
  std::fill_n(p->max_threads_dim, 3, kMaxThreads);
  p->max_grid_size[0] = kMaxGridX;
  p->max_grid_size[1] = p->max_grid_size[2] = kMaxGridYZ;
  p->clock_rate = kClockKhz;
  p->total_const_mem = 0x7fffffff;
  p->major = 9;
  p->minor = 5;
  p->device_overlap = 1;
  p->multi_processor_count = kComputeUnits;
  p->can_map_host_memory = 1;
  p->concurrent_kernels = 1;
  p->ecc_enabled = 1;
  p->pci_bus_id = PciBus(device);
  p->async_engine_count = 8;
  p->unified_addressing = 1;
  p->memory_clock_rate = kMemoryClockKhz;
  p->memory_bus_width = kMemoryBusBits;
  p->l2_cache_size = kL2Bytes;
  p->persisting_l2_cache_max_size = kL2Bytes;
  p->max_threads_per_multi_processor = kThreadsPerComputeUnit;
  p->stream_priorities_supported = 1;
  p->global_l1_cache_supported = 1;
  p->local_l1_cache_supported = 1;
  p->shared_mem_per_multiprocessor = kLdsBytes;
  p->regs_per_multiprocessor = kRegistersPerComputeUnit;
  p->managed_memory = 1;
  p->concurrent_managed_access = 1;
  p->can_use_host_pointer_for_registered_mem = 1;
  p->cooperative_launch = 1;
  p->cooperative_multi_device_launch = 1;
  p->shared_mem_per_block_optin = kLdsBytes;
  p->direct_managed_mem_access_from_host = 1;
  p->max_blocks_per_multi_processor = kThreadsPerComputeUnit / kMaxThreads;
  p->host_register_supported = 1;
  p->memory_pools_supported = 1;
  std::strcpy(p->gcn_arch_name, kTargetId);
  p->max_shared_memory_per_multi_processor = kLdsBytes;
  p->clock_instruction_rate = kTimestampKhz;
  p->arch = kArchFeatures;
  p->is_large_bar = 1;
}

INGOT_HIP_EXPORT int hipGetDevicePropertiesR0600(DeviceProperties* properties,
                                                 int device) {
  if (properties == nullptr) return Done(kInvalidValue);
  return Done(Give(
      device, [properties](const DeviceProperties& p) { *properties = p; }));
}
INGOT_HIP_EXPORT int hipGetDevicePropertiesR0000(OldProperties* properties,
                                                 int device) {
  if (properties == nullptr) return Done(kInvalidValue);
  return Done(Give(device, [properties](const DeviceProperties& p) {
    FillOld(p, properties);
  }));
}
INGOT_HIP_EXPORT int hipGetDeviceProperties(OldProperties* properties,
                                            int device) {
  return hipGetDevicePropertiesR0000(properties, device);
}

// The devices are alike: the first one fits as well as any.
INGOT_HIP_EXPORT int hipChooseDeviceR0600(int* device,
                                          const DeviceProperties* wanted) {
  if (device == nullptr || wanted == nullptr) return Done(kInvalidValue);
  if (Runtime::Get().device_count() == 0) return Done(kNoDevice);
  *device = 0;
  return Done(kSuccess);
}

}  // namespace ingot::emulator::hip
