// Registers, LDS and wave slots of a compute unit of gfx950 (CDNA4 ISA; LLVM
// AMDGPUUsage, "Kernel descriptor").
#include <algorithm>

#include "compiler/code_object.h"

namespace ingot {
namespace {

constexpr uint32_t kSimds = 4;
constexpr uint32_t kWavesPerSimd = 8;
constexpr uint32_t kWave = 64;
constexpr uint32_t kVgprs = 512;  // of a lane, AccVGPRs included
constexpr uint32_t kVgprGranule = 8;
constexpr uint32_t kSgprs = 800;  // of a SIMD
constexpr uint32_t kSgprGranule = 16;
constexpr uint32_t kLds = 160 * 1024;  // of a compute unit
constexpr uint32_t kLdsGranule = 1280;

// 64 bits: what an object claims may be anything.
uint64_t RoundUp(uint64_t value, uint32_t granule) {
  return (value + granule - 1) / granule * granule;
}

// Waves of a SIMD that a register file of `total` holds.
uint64_t WavesByRegisters(uint32_t used, uint32_t granule, uint32_t total) {
  return total / std::max<uint64_t>(granule, RoundUp(used, granule));
}

}  // namespace

Occupancy OccupancyOf(const CodeObjectDescription& description,
                      uint32_t workgroup_items, uint32_t dynamic_lds_bytes) {
  const uint64_t group_waves =
      std::max<uint64_t>(1, RoundUp(workgroup_items, kWave) / kWave);
  const uint64_t lds =
      RoundUp(uint64_t{description.lds_bytes} + dynamic_lds_bytes, kLdsGranule);
  // A workgroup is resident as a whole: each limit counts workgroups first.
  const auto groups = [&](uint64_t waves) {
    return waves * kSimds / group_waves;
  };
  struct Limit {
    const char* name;
    uint64_t groups;
  };
  const Limit limits[] = {
      {"waves", groups(kWavesPerSimd)},
      {"vgprs",
       groups(WavesByRegisters(description.vgprs, kVgprGranule, kVgprs))},
      {"sgprs",
       groups(WavesByRegisters(description.sgprs, kSgprGranule, kSgprs))},
      {"lds", lds == 0 ? groups(kWavesPerSimd) : kLds / lds},
  };
  const Limit& least = *std::min_element(
      std::begin(limits), std::end(limits),
      [](const Limit& a, const Limit& b) { return a.groups < b.groups; });
  Occupancy occupancy;
  occupancy.waves_per_simd =
      static_cast<int>((least.groups * group_waves + kSimds - 1) / kSimds);
  occupancy.limited_by = least.name;
  return occupancy;
}

}  // namespace ingot
