// What gfx950 can do a clock, as modelled: one place for every rate that the
// profile uses. Sources are given as [section, what] of "gfx950.md", the
// collected public facts, whose tags are: D AMD's documents, U LLVM's
// AMDGPUUsage, HK HipKittens, calc derived. What those facts do not say is
// marked ASSUMED, with the reason.
#ifndef TESTS_EMULATOR_PROFILE_RATES_H_
#define TESTS_EMULATOR_PROFILE_RATES_H_

#include <cstdint>

namespace ingot::profile {

// ---- The device: [1, table; D], MI355X ----
inline constexpr int kComputeUnits = 256;
inline constexpr int kXcds = 8;  // workgroups are dealt to them in turn
inline constexpr int kSimds = 4;
inline constexpr double kClockHz = 2.4e9;
inline constexpr double kHbmBytesPerSecond = 8e12;
// What streaming kernels reach: [5.5, "ceiling ~6.25"; 5.4, time model].
inline constexpr double kStreamBytesPerSecond = 6.2e12;
inline constexpr int kCacheLineBytes = 128;  // [1, caches; D]

// ---- Places of a compute unit: [1, registers and LDS; L, U] ----
inline constexpr int kWavesPerSimd = 8;
inline constexpr int kRegisters = 512;  // VGPR + AGPR of a lane and SIMD slot
inline constexpr int kRegisterGranule = 8;
inline constexpr int kScalarRegisters = 800;  // up to 96 a wave: 8; 102: 7
inline constexpr int kScalarGranule = 16;
inline constexpr int kLdsBytes = 163840;
inline constexpr int kLdsGranule = 1280;

// ---- Instructions, in clocks of the wave's SIMD ----
inline constexpr int kPassClocks = 4;   // [2.1, heading]
inline constexpr int kValuClocks = 4;   // [1, latencies]: packed f32 as well
inline constexpr int kTransClocks = 8;  // [1, latencies]: 2 passes
// One instruction of a wave issues in 4 clocks: [4, issue width 1, a cycle of 4
// clocks]; s_nop n holds the slot n + 1 times.
inline constexpr int kIssueClocks = 4;
// ASSUMED as the issue of a wave: no scalar rate is published.
inline constexpr int kSaluClocks = 4;

// ---- Vector memory, in clocks of the CU ----
// ASSUMED: a quad of 16 lanes a clock for addresses, 64 bytes a clock from the
// vector L1, as AMD's CDNA3 white paper says of its predecessor.
inline constexpr int kVmemLeastClocks = 4;
inline constexpr int kL1BytesPerClock = 64;
// ASSUMED: 2 KB a clock for an XCD's 32 CUs (same paper).
inline constexpr int kL2BytesPerClock = 64;

// ---- LDS: [1, LDS; HK, D] ----
inline constexpr int kLdsWordBytes = 4;

// Lanes that compete for banks in one phase, by lane; a phase without conflicts
// takes a clock.
struct LdsPhases {
  int banks;
  int phases;
  uint8_t phase_of[64];
};

namespace internal {

constexpr LdsPhases Consecutive(int banks, int lanes) {
  LdsPhases p{banks, 64 / lanes, {}};
  for (int lane = 0; lane < 64; ++lane) {
    p.phase_of[lane] = static_cast<uint8_t>(lane / lanes);
  }
  return p;
}

// The phase of each quad of lanes among the first 32; the others follow.
constexpr LdsPhases ByQuad(int banks, int half, const int (&quad_phase)[8]) {
  LdsPhases p{banks, 2 * half, {}};
  for (int lane = 0; lane < 64; ++lane) {
    p.phase_of[lane] = static_cast<uint8_t>(quad_phase[lane % 32 / 4] +
                                            (lane < 32 ? 0 : half));
  }
  return p;
}

}  // namespace internal

// {0-3,12-15,20-27} {4-11,16-19,28-31}, then the same + 32.
inline constexpr LdsPhases kReadB128 =
    internal::ByQuad(64, 2, {0, 1, 1, 0, 1, 0, 0, 1});
// {0-3,20-23} {4-7,16-19} {8-11,28-31} {12-15,24-27}, then the same + 32.
inline constexpr LdsPhases kReadB96 =
    internal::ByQuad(32, 4, {0, 1, 2, 3, 1, 0, 3, 2});
inline constexpr LdsPhases kReadB64 = internal::Consecutive(64, 32);
// ASSUMED: 256 bytes a clock are stated for b64 and b128 reads alone, so a
// dword a lane (or less) takes two phases of half a wave.
inline constexpr LdsPhases kReadB32 = internal::Consecutive(64, 32);
inline constexpr LdsPhases kWriteB64 = internal::Consecutive(32, 16);
// From CDNA3, not measured again on gfx950.
inline constexpr LdsPhases kWriteB128 = internal::Consecutive(32, 8);
// ASSUMED: as their neighbours, b128 and half a wave of 32 banks.
inline constexpr LdsPhases kWriteB96 = kWriteB128;
inline constexpr LdsPhases kWriteB32 = internal::Consecutive(32, 32);

// `bytes` of one lane. Transposing reads count as plain ones of their width
// ([1, LDS], "tr rows assume the b64 phases"); transfers to LDS as writes.
constexpr const LdsPhases& PhasesOf(bool write, int bytes) {
  if (bytes > 12) return write ? kWriteB128 : kReadB128;
  if (bytes > 8) return write ? kWriteB96 : kReadB96;
  if (bytes > 4) return write ? kWriteB64 : kReadB64;
  return write ? kWriteB32 : kReadB32;
}

// ---- Time: what cu_time.h and launch_time.h charge beyond the units ----
// [1, latencies]: 360 ns of a pointer chase in DRAM; an LDS read depends on the
// one before it every ~69 clocks, of which the unit has 4.
inline constexpr double kHbmSeconds = 360e-9;
inline constexpr double kLdsLatencyClocks = 64;
// ASSUMED: a line that the L2 holds or is about to, since neighbours ask for
// the same at the same time; and a constant out of the scalar cache's L2.
inline constexpr double kL2Seconds = 300e-9;
inline constexpr double kScalarSeconds = 180e-9;
// FITTED: what the L2 gives a CU while all ask, of kL2BytesPerClock at most.
// The fp8 ladder of [5.1] lies between what one and two resident workgroups of
// 128x128 get with it; at 64 even one would be faster than was measured.
inline constexpr double kL2ReachedBytesPerClock = 40;
// ASSUMED: from the last arrival at a barrier to the next instruction, and from
// the end of a workgroup to the first instruction of the next.
inline constexpr double kBarrierClocks = 16;
inline constexpr double kDispatchClocks = 200;
// FITTED to [5.5]: what a launch takes that does nothing, and the rate that
// large streams reach (6.81 TB/s at 183 us).
inline constexpr double kLaunchSeconds = 2.0e-6;
inline constexpr double kHbmReached = 6.8e12;
// FITTED to [5.1]: the clock at which matrix units that never pause are held by
// power; a share of pauses raises it by as much.
inline constexpr double kPowerHz16 = 1.50e9;  // bf16, f16
inline constexpr double kPowerHz8 = 1.60e9;   // 8 bits: 2 KB of operands in 32
inline constexpr double kPowerHzSmall = 1.36e9;  // 6 and 4 bits

// ---- MFMA: [2.1, table; D, L] ----
enum class MatrixType { kF16, kF8, kI8, kF8f6f4, kF32, kF64 };

struct MatrixShape {
  MatrixType type = MatrixType::kF16;  // bf16 as f16, bf8 as fp8
  int m = 0, n = 0, k = 0, blocks = 1;
  bool sparse = false;     // k counts the places, half of which are stored
  bool eight_bit = false;  // f8f6f4: A or B is of 8 bits
};

// Passes of 4 clocks on the SIMD.
constexpr int MatrixPasses(const MatrixShape& s) {
  if (s.type == MatrixType::kF64) return s.m == 16 ? 16 : 4;
  // 4x4 of 16 blocks; 16x16 of 4 and 32x32 of 2. i8 and f32 forms are not in
  // the table and ASSUMED as their f16 twins, as in AMD's CDNA3 ISA.
  if (s.m == 4) return 2;
  if (s.blocks > 1) return s.m == 16 ? 8 : 16;
  const int passes = s.m == 16 ? 4 : 8;
  if (s.type == MatrixType::kF32) return 2 * passes;
  if (s.type == MatrixType::kF8f6f4 && s.eight_bit) return 2 * passes;
  return passes;
}

// Multiplications and additions that are done, not those of a dense product.
constexpr double MatrixFlops(const MatrixShape& s) {
  return 2.0 * s.m * s.n * s.k * s.blocks / (s.sparse ? 2 : 1);
}

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_RATES_H_
