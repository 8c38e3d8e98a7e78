// Structures that cross the HIP interface, laid out as HIP 7.0 has them. HIP 6
// differs in MemsetParams (its order of fields) alone.
#ifndef TESTS_EMULATOR_HIP_ABI_H_
#define TESTS_EMULATOR_HIP_ABI_H_

#include <cstddef>
#include <cstdint>

namespace ingot::emulator::hip {

struct Dim3 {
  uint32_t x, y, z;
};

using HostFunction = void (*)(void*);
using StreamCallback = void (*)(void* stream, int status, void* data);

// hipMemcpyKind.
inline constexpr int kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2,
                     kDeviceToDevice = 3, kDefaultKind = 4,
                     kDeviceToDeviceNoCu = 1024;

// hipMemoryType.
inline constexpr int kTypeUnregistered = 0, kTypeHost = 1, kTypeDevice = 2,
                     kTypeManaged = 3, kTypeArray = 10, kTypeUnified = 11;

struct KernelNodeParams {
  Dim3 block;
  void** extra;
  void* function;
  Dim3 grid;
  void** params;
  unsigned dynamic_lds;
};
static_assert(sizeof(KernelNodeParams) == 64);

struct MemsetParams {
  void* to;
  size_t pitch;
  unsigned value;
  unsigned element;
  size_t width;  // elements
  size_t height;
};
static_assert(sizeof(MemsetParams) == 40);

struct HostNodeParams {
  HostFunction function;
  void* data;
};

struct PitchedPointer {
  void* pointer;
  size_t pitch, width, height;
};
struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
// hipMemcpy3DParms.
struct Copy3dParams {
  void* from_array;
  Position from_at;
  PitchedPointer from;
  void* to_array;
  Position to_at;
  PitchedPointer to;
  Extent extent;
  int kind;
};
static_assert(sizeof(Copy3dParams) == 160);

// hip_Memcpy2D.
struct Copy2dSide {
  size_t x, y;
  int type;
  const void* host;
  void* device;
  void* array;
  size_t pitch;
};
struct Copy2dParams {
  Copy2dSide from, to;
  size_t width, height;
};
static_assert(sizeof(Copy2dParams) == 128);

// HIP_MEMCPY3D.
struct DriverCopy3dSide {
  size_t x, y, z, lod;
  int type;
  const void* host;
  void* device;
  void* array;
  size_t pitch, height;
};
struct DriverCopy3dParams {
  DriverCopy3dSide from, to;
  size_t width, height, depth;
};
static_assert(sizeof(DriverCopy3dParams) == 184);

struct PointerAttributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int managed;
  unsigned flags;
};
static_assert(sizeof(PointerAttributes) == 32);

struct FunctionAttributes {
  int binary_version;
  int cache_mode;
  size_t const_bytes;
  size_t local_bytes;
  int max_dynamic_lds;
  int max_threads;
  int registers;
  int carveout;
  int ptx_version;
  size_t lds_bytes;
};
static_assert(sizeof(FunctionAttributes) == 56);

struct MemoryLocation {
  int type;  // 1: device
  int id;
};
struct PoolProperties {
  int allocation_type;  // 1: pinned
  int handle_types;
  MemoryLocation location;
  void* security;
  size_t max_size;
  unsigned char reserved[56];
};
static_assert(sizeof(PoolProperties) == 88);
struct MemoryAccess {
  MemoryLocation location;
  int flags;  // 0: none, 1: read, 3: read and write
};
struct AllocationNodeParams {
  PoolProperties pool;
  const MemoryAccess* access;
  size_t access_count;
  size_t bytes;
  void* pointer;
};
static_assert(sizeof(AllocationNodeParams) == 120);

// HIP_LAUNCH_CONFIG.
struct LaunchAttribute {
  int id;  // 2: cooperative
  int unused;
  union {
    char pad[64];
    int cooperative;
  };
};
static_assert(sizeof(LaunchAttribute) == 72);
struct DriverLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamic_lds;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(DriverLaunchConfig) == 56);
// hipLaunchConfig_t.
struct RuntimeLaunchConfig {
  Dim3 grid, block;
  size_t dynamic_lds;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(RuntimeLaunchConfig) == 56);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_ABI_H_
