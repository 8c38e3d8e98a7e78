#include "tests/emulator/hip/occupancy.h"

#include <algorithm>

#include "tests/emulator/hip/module.h"
#include "tests/emulator/hip/properties.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

constexpr int kSimds = 4;
constexpr int kMaxWavesPerSimd = 8;
constexpr int kVgprs = 512, kVgprGranule = 8;
constexpr int kSgprs = 800, kSgprGranule = 16;
constexpr uint64_t kLdsGranule = 1280;

uint64_t RoundUp(uint64_t value, uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

int LdsBlocks(const KernelInfo& kernel, uint64_t dynamic_lds) {
  const uint64_t lds = RoundUp(kernel.lds_bytes + dynamic_lds, kLdsGranule);
  // No LDS: as many as there are waves.
  return lds == 0 ? kSimds * kMaxWavesPerSimd
                  : static_cast<int>(kLdsBytes / lds);
}

int WavesPerComputeUnit(const KernelInfo& kernel) {
  return kSimds * WavesPerSimd(kernel);
}

int MaxThreads(const KernelInfo& kernel) {
  return static_cast<int>(std::min<uint32_t>(kernel.max_threads, kMaxThreads));
}

// The block size that fills a compute unit, and the grid that fills the device.
void PotentialBlock(const KernelInfo& kernel, uint64_t dynamic_lds, int limit,
                    int* grid, int* block) {
  const int most = MaxThreads(kernel);
  if (limit <= 0 || limit > most) limit = most;
  const int alu_threads = WavesPerComputeUnit(kernel) * kWave;
  *block = std::min<int>(
      alu_threads,
      static_cast<int>(RoundUp(static_cast<uint64_t>(limit), kWave)));
  *block = std::min(*block, most);
  *grid = kComputeUnits * BlocksPerComputeUnit(kernel, *block, dynamic_lds);
}

int ActiveBlocks(int* blocks, const void* handle, int threads, size_t lds) {
  if (blocks == nullptr || threads <= 0) return kInvalidValue;
  FunctionPtr function;
  if (const int error = FindFunction(handle, &function); error != kSuccess)
    return error;
  *blocks = BlocksPerComputeUnit(*function->kernel, threads, lds);
  return kSuccess;
}

int Potential(int* grid, int* block, const void* handle, size_t lds,
              int limit) {
  if (grid == nullptr || block == nullptr) return kInvalidValue;
  FunctionPtr function;
  if (const int error = FindFunction(handle, &function); error != kSuccess)
    return error;
  PotentialBlock(*function->kernel, lds, limit, grid, block);
  return kSuccess;
}

int AvailableLds(size_t* bytes, const void* handle, int blocks, int threads) {
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return kInvalidValue;
  FunctionPtr function;
  if (const int error = FindFunction(handle, &function); error != kSuccess)
    return error;
  const uint64_t share =
      kLdsBytes / static_cast<uint64_t>(blocks) / kLdsGranule * kLdsGranule;
  const uint64_t fixed = function->kernel->lds_bytes;
  *bytes = share > fixed ? share - fixed : 0;
  return kSuccess;
}

// hipOccupancyDefault and hipOccupancyDisableCachingOverride.
bool FlagsOk(unsigned flags) { return flags <= 1; }

}  // namespace

int WavesPerSimd(const KernelInfo& kernel) {
  const int vgprs = (static_cast<int>(kernel.rsrc1 & 0x3f) + 1) * kVgprGranule;
  int waves = std::clamp(kVgprs / vgprs, 1, kMaxWavesPerSimd);
  if (kernel.sgprs > 0) {
    const int sgprs = static_cast<int>(RoundUp(kernel.sgprs, kSgprGranule));
    waves = std::clamp(kSgprs / sgprs, 1, waves);
  }
  return waves;
}

int BlocksPerComputeUnit(const KernelInfo& kernel, int threads,
                         uint64_t dynamic_lds) {
  if (threads <= 0 || threads > MaxThreads(kernel)) return 0;
  const int waves =
      static_cast<int>(RoundUp(static_cast<uint64_t>(threads), kWave)) / kWave;
  return std::min(WavesPerComputeUnit(kernel) / waves,
                  LdsBlocks(kernel, dynamic_lds));
}

#define INGOT_HIP_OCCUPANCY(prefix)                                          \
  INGOT_HIP_EXPORT int prefix##MaxActiveBlocksPerMultiprocessor(             \
      int* blocks, const void* f, int threads, size_t lds) {                 \
    return Done(ActiveBlocks(blocks, f, threads, lds));                      \
  }                                                                          \
  INGOT_HIP_EXPORT int prefix##MaxActiveBlocksPerMultiprocessorWithFlags(    \
      int* blocks, const void* f, int threads, size_t lds, unsigned flags) { \
    return Done(FlagsOk(flags) ? ActiveBlocks(blocks, f, threads, lds)       \
                               : int{kInvalidValue});                        \
  }                                                                          \
  INGOT_HIP_EXPORT int prefix##MaxPotentialBlockSize(                        \
      int* grid, int* block, const void* f, size_t lds, int limit) {         \
    return Done(Potential(grid, block, f, lds, limit));                      \
  }                                                                          \
  INGOT_HIP_EXPORT int prefix##MaxPotentialBlockSizeWithFlags(               \
      int* grid, int* block, const void* f, size_t lds, int limit,           \
      unsigned flags) {                                                      \
    return Done(FlagsOk(flags) ? Potential(grid, block, f, lds, limit)       \
                               : int{kInvalidValue});                        \
  }
// By handle, and by the address of a stub.
INGOT_HIP_OCCUPANCY(hipModuleOccupancy)
INGOT_HIP_OCCUPANCY(hipOccupancy)
#undef INGOT_HIP_OCCUPANCY

INGOT_HIP_EXPORT int hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                              const void* f,
                                                              int blocks,
                                                              int threads) {
  return Done(AvailableLds(bytes, f, blocks, threads));
}

}  // namespace ingot::emulator::hip
