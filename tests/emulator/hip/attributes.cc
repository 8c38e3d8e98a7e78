// hipDeviceGetAttribute: most answers are fields of the device's properties.
#include <algorithm>
#include <iterator>

#include "tests/emulator/hip/context.h"
#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// By hipDeviceAttribute_t, whose values are the same in HIP 6 and 7.
struct Row {
  int id;
  int value;
};
constexpr Row kRows[] = {
    {0, 1},          // EccEnabled
    {1, 0},          // AccessPolicyMaxWindowSize
    {2, 8},          // AsyncEngineCount
    {3, 1},          // CanMapHostMemory
    {4, 1},          // CanUseHostPointerForRegisteredMem
    {5, kClockKhz},  // ClockRate
    {6, 0},          // ComputeMode
    {7, 0},          // ComputePreemptionSupported
    {8, 1},          // ConcurrentKernels
    {9, 1},          // ConcurrentManagedAccess
    {10, 1},         // CooperativeLaunch
    {11, 1},         // CooperativeMultiDeviceLaunch
    {12, 1},         // DeviceOverlap
    {13, 1},         // DirectManagedMemAccessFromHost
    {14, 1},         // GlobalL1CacheSupported
    {15, 0},         // HostNativeAtomicSupported
    {16, 0},         // Integrated
    {17, 0},         // IsMultiGpuBoard
    {18, 0},         // KernelExecTimeout
    {19, kL2Bytes},  // L2CacheSize
    {20, 1},         // LocalL1CacheSupported
    {23, 9},         // ComputeCapabilityMajor
    {24, 1},         // ManagedMemory
    {25, kThreadsPerComputeUnit / kMaxThreads},  // MaxBlocksPerMultiProcessor
    {26, kMaxThreads},                           // MaxBlockDimX
    {27, kMaxThreads},                           // MaxBlockDimY
    {28, kMaxThreads},                           // MaxBlockDimZ
    {29, kMaxGridX},                             // MaxGridDimX
    {30, kMaxGridYZ},                            // MaxGridDimY
    {31, kMaxGridYZ},                            // MaxGridDimZ
    {32, 0},                                     // MaxSurface1D: no images
    {34, 0},                                     // MaxSurface2D
    {36, 0},                                     // MaxSurface3D
    {39, 0},                                     // MaxTexture1DWidth
    {43, 0},                                     // MaxTexture2DWidth
    {44, 0},                                     // MaxTexture2DHeight
    {49, 0},                                     // MaxTexture3DWidth
    {50, 0},                                     // MaxTexture3DHeight
    {51, 0},                                     // MaxTexture3DDepth
    {55, kMaxThreads},                           // MaxThreadsDim
    {56, kMaxThreads},                           // MaxThreadsPerBlock
    {57, kThreadsPerComputeUnit},                // MaxThreadsPerMultiProcessor
    {58, 0x7fffffff},                            // MaxPitch
    {59, kMemoryBusBits},                        // MemoryBusWidth
    {60, kMemoryClockKhz},                       // MemoryClockRate
    {61, 5},                                     // ComputeCapabilityMinor
    {62, 0},                                     // MultiGpuBoardGroupID
    {63, kComputeUnits},                         // MultiprocessorCount
    {65, 0},                                     // PageableMemoryAccess
    {66, 0},                         // PageableMemoryAccessUsesHostPageTables
    {68, 0},                         // PciDeviceId
    {69, 0},                         // PciDomainID
    {70, kL2Bytes},                  // PersistingL2CacheMaxSize
    {71, kRegistersPerComputeUnit},  // MaxRegistersPerBlock
    {72, kRegistersPerComputeUnit},  // MaxRegistersPerMultiprocessor
    {73, 0},                         // ReservedSharedMemPerBlock
    {74, kLdsBytes},                 // MaxSharedMemoryPerBlock
    {75, kLdsBytes},                 // SharedMemPerBlockOptin
    {76, kLdsBytes},                 // SharedMemPerMultiprocessor
    {77, 0},                         // SingleToDoublePrecisionPerfRatio
    {78, 1},                         // StreamPrioritiesSupported
    {79, 0},                         // SurfaceAlignment
    {80, 0},                         // TccDriver
    {81, 0},                         // TextureAlignment
    {82, 0},                         // TexturePitchAlignment
    {83, 0x7fffffff},                // TotalConstantMemory
    {84, 0x7fffffff},                // TotalGlobalMem: more than an int holds
    {85, 1},                         // UnifiedAddressing
    {87, kWave},                     // WarpSize
    {88, 1},                         // MemoryPoolsSupported
    {89, 0},                         // VirtualMemoryManagementSupported
    {90, 1},                         // HostRegisterSupported
    {91, 0},                         // MemoryPoolSupportedHandleTypes
    {10000, kTimestampKhz},          // ClockInstructionRate
    {10002, kLdsBytes},              // MaxSharedMemoryPerMultiprocessor
    {10007, 1},                      // CooperativeMultiDeviceUnmatchedFunc
    {10008, 1},                      // ...GridDim
    {10009, 1},                      // ...BlockDim
    {10010, 1},                      // ...SharedMem
    {10011, 1},                      // IsLargeBar
    {10012, 0},                      // AsicRevision
    {10013, 1},                      // CanUseStreamWaitValue
    {10014, 0},                      // ImageSupport
    {10015, kComputeUnits},          // PhysicalMultiProcessorCount
    {10016, 1},                      // FineGrainSupport
    {10017, kTimestampKhz},          // WallClockRate
};

int Attribute(int* value, int attribute, int device) {
  constexpr int kPciBusId = 67;
  if (value == nullptr) return kInvalidValue;
  if (!Runtime::Get().valid_device(device)) return kInvalidDevice;
  if (attribute == kPciBusId) {
    *value = PciBus(device);
    return kSuccess;
  }
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [attribute](const Row& r) { return r.id == attribute; });
  if (row == std::end(kRows)) return kInvalidValue;
  *value = row->value;
  return kSuccess;
}

}  // namespace

INGOT_HIP_EXPORT int hipDeviceGetAttribute(int* value, int attribute,
                                           int device) {
  return Done(Attribute(value, attribute, device));
}

}  // namespace ingot::emulator::hip
