// hipDeviceProp_t as HIP 6 and 7 lay it out (R0600), and the figures of an
// MI355X.
#ifndef TESTS_EMULATOR_HIP_PROPERTIES_H_
#define TESTS_EMULATOR_HIP_PROPERTIES_H_

#include <cstddef>

namespace ingot::emulator::hip {

inline constexpr char kDeviceName[] = "Emulated AMD Instinct MI355X";
inline constexpr char kTargetId[] = "gfx950:sramecc+:xnack-";
inline constexpr int kComputeUnits = 256;
inline constexpr int kWave = 64;
inline constexpr int kMaxThreads = 1024;
inline constexpr int kThreadsPerComputeUnit = 2048;
inline constexpr int kLdsBytes = 163840;
inline constexpr int kRegistersPerComputeUnit = 131072;  // 32-bit, of 64 lanes
inline constexpr int kClockKhz = 2400000;
inline constexpr int kMemoryClockKhz = 2000000;
inline constexpr int kMemoryBusBits = 8192;
inline constexpr int kL2Bytes = 4194304;  // of one of eight XCDs
inline constexpr int kTimestampKhz = 100000;
inline constexpr int kMaxGridX = 0x7fffffff, kMaxGridYZ = 65536;
inline constexpr size_t kMemoryBytes = size_t{288} << 30;

struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  size_t total_global_mem;
  size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  int clock_rate;
  size_t total_const_mem;
  int major;
  int minor;
  size_t texture_alignment;
  size_t texture_pitch_alignment;
  int device_overlap;
  int multi_processor_count;
  int kernel_exec_timeout_enabled;
  int integrated;
  int can_map_host_memory;
  int compute_mode;
  int texture_and_surface_limits[40];
  size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus_id;
  int pci_device_id;
  int pci_domain_id;
  int tcc_driver;
  int async_engine_count;
  int unified_addressing;
  int memory_clock_rate;
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multi_processor;
  int stream_priorities_supported;
  int global_l1_cache_supported;
  int local_l1_cache_supported;
  size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board;
  int multi_gpu_board_group_id;
  int host_native_atomic_supported;
  int single_to_double_precision_perf_ratio;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem;
  int cooperative_launch;
  int cooperative_multi_device_launch;
  size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables;
  int direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor;
  int access_policy_max_window_size;
  size_t reserved_shared_mem_per_block;
  int host_register_supported;
  int sparse_hip_array_supported;
  int host_register_read_only_supported;
  int timeline_semaphore_interop_supported;
  int memory_pools_supported;
  int gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_writes_options;
  int gpu_direct_rdma_writes_ordering;
  unsigned memory_pool_supported_handle_types;
  int deferred_mapping_hip_array_supported;
  int ipc_event_supported;
  int cluster_launch;
  int unified_function_pointers;
  int reserved[63];
  int hip_reserved[32];
  char gcn_arch_name[256];
  size_t max_shared_memory_per_multi_processor;
  int clock_instruction_rate;
  unsigned arch;
  unsigned* hdp_mem_flush_cntl;
  unsigned* hdp_reg_flush_cntl;
  int cooperative_multi_device_unmatched[4];
  int is_large_bar;
  int asic_revision;
};
static_assert(offsetof(DeviceProperties, gcn_arch_name) == 1160);
static_assert(sizeof(DeviceProperties) == 1472);

void FillProperties(int device, DeviceProperties* properties);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_PROPERTIES_H_
