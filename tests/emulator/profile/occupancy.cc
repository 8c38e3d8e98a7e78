#include "tests/emulator/profile/occupancy.h"

#include <algorithm>
#include <iterator>

#include "tests/emulator/isa.h"
#include "tests/emulator/profile/rates.h"

namespace ingot::profile {
namespace {

int RoundUp(int value, int granule) {
  return (value + granule - 1) / granule * granule;
}

int WavesBy(int registers, int granule, int all) {
  const int taken = RoundUp(std::max(registers, 1), granule);
  return std::min(all / taken, kWavesPerSimd);
}

}  // namespace

Registers RegistersOf(const emulator::KernelInfo& kernel) {
  // COMPUTE_PGM_RSRC1 and 3 of the descriptor.
  const int allocated = static_cast<int>((kernel.rsrc1 & 63) + 1) * 8;
  const int accum_offset = static_cast<int>((kernel.rsrc3 & 63) + 1) * 4;
  const int scalar = static_cast<int>(kernel.rsrc1 >> 6 & 15) / 2 * 16 + 16;
  Registers r;
  if (kernel.has_metadata && kernel.vgprs > 0) {
    // .vgpr_count counts the AGPRs too, which stand behind the others.
    r.acc = static_cast<int>(std::min(kernel.agprs, kernel.vgprs));
    r.arch = static_cast<int>(kernel.vgprs) - r.acc;
    r.scalar = static_cast<int>(kernel.sgprs);
    return r;
  }
  r.arch = std::min(allocated, accum_offset);
  r.acc = allocated - r.arch;
  r.scalar = scalar;
  return r;
}

Occupancy OccupancyOf(const Registers& registers, uint32_t threads,
                      uint32_t lds) {
  const int waves = static_cast<int>(std::max<uint32_t>(
      (threads + emulator::kLanes - 1) / emulator::kLanes, 1));
  const int lds_taken = RoundUp(static_cast<int>(lds), kLdsGranule);
  // A workgroup is resident as a whole.
  const auto groups = [waves](int waves_per_simd) {
    return waves_per_simd * kSimds / waves;
  };
  const struct {
    const char* name;
    int groups;
  } limits[] = {
      {"waves", groups(kWavesPerSimd)},
      {"registers",
       groups(WavesBy(registers.total(), kRegisterGranule, kRegisters))},
      {"scalar_registers",
       groups(WavesBy(registers.scalar, kScalarGranule, kScalarRegisters))},
      {"lds", lds == 0 ? groups(kWavesPerSimd) : kLdsBytes / lds_taken}};
  const auto& least = *std::min_element(
      std::begin(limits), std::end(limits),
      [](const auto& a, const auto& b) { return a.groups < b.groups; });
  Occupancy o;
  o.limit = least.name;
  o.groups_per_cu = least.groups;
  o.waves_per_simd = (least.groups * waves + kSimds - 1) / kSimds;
  return o;
}

}  // namespace ingot::profile
