#include "compiler/ops/gemm_plan_time.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

// Rates, per compute unit and clock unless said; sources and fits stand in
// tests/emulator/profile/rates.h. Over 18 problems of 1 to 4096 rows and all
// tiles, this model differs from that one by 8 % (root of the mean square of
// the logarithm), and the tile it prefers is 0.6 % slower than the best one at
// most. Over 29 problems of 8 and 4 bits with scales it differs by 17 %, and
// the preferred tile is 0.7 % slower than the best one in the mean, 7 % at
// most.
constexpr double kCus = 256;
constexpr double kClocksPerUs = 2400;
constexpr double kLaunchUs = 2;
constexpr double kHbmBytesPerUs = 6.8e6;  // of the device
constexpr double kLdsReadBytes = 256;
constexpr double kLdsWriteBytes = 128;
constexpr double kL1Bytes = 64;
constexpr double kL2Bytes = 40;
constexpr double kHbmLatency = 860;  // clocks
constexpr double kL2Latency = 720;
constexpr double kStart = 1500;  // from a workgroup's start to its first MFMA
constexpr double kBarriers = 20;
constexpr double kIssue = 4;
constexpr double kPiece = 1024;  // bytes that a wave moves by one instruction
constexpr double kRegisters = 512;
constexpr double kLds = 163840;

struct Step {
  double matrix = 0;  // clocks of the matrix units
  double shared = 0;  // of the busiest unit that workgroups share
  double own = 0;     // in which a wave issues its instructions
};

Step StepOf(const GemmTile& tile, const GemmElements& e) {
  const double k = tile.k * tile.waves_k;
  const double bytes = (tile.m * e.bytes_a + tile.n * e.bytes_b) * k;
  const double read =
      (tile.m * e.bytes_a * tile.waves_n + tile.n * e.bytes_b * tile.waves_m) *
      k;
  const double wave_m = double(tile.m) / tile.waves_m;
  const double wave_n = double(tile.n) / tile.waves_n;
  const double sets = double(tile.k) / e.mfma_k;
  Step step;
  step.matrix = 2.0 * tile.m * tile.n * k / e.matrix_flops;
  const double lds = read / kLdsReadBytes + bytes / kLdsWriteBytes;
  step.shared =
      std::max({step.matrix, lds, bytes / kL1Bytes, bytes / kL2Bytes});
  const double multiplies = wave_m * wave_n / 256 * sets;
  const double reads = (wave_m * e.reads_a + wave_n * e.reads_b) / 16 * sets;
  // A DMA, what moves its place in LDS, and every second one an address.
  const double loads = 2.5 * bytes / kPiece / tile.waves();
  constexpr double kRest = 12;  // the loop's own
  step.own = (multiplies + reads + loads + kRest) * kIssue;
  return step;
}

// Workgroups that a compute unit holds, by LDS and an estimate of registers.
double Resident(const GemmTile& tile, const GemmElements& e) {
  const double wave_m = double(tile.m) / tile.waves_m;
  const double wave_n = double(tile.n) / tile.waves_n;
  constexpr double kAddresses = 50;
  const double fragments =
      (wave_m * e.registers_a + wave_n * e.registers_b) / 16;
  // Accumulators, two sets of fragments if there are two, the rest.
  const int sets = tile.k > e.mfma_k ? 2 : 1;
  const double registers = wave_m * wave_n / 64 + sets * fragments + kAddresses;
  const double waves = std::floor(kRegisters / (8 * std::ceil(registers / 8)));
  const double by_registers = std::floor(waves * 4 / tile.waves());
  const double by_lds = std::floor(kLds / e.lds_bytes);
  return std::clamp(std::min(by_registers, by_lds), 1.0, 8.0);
}

// Of all workgroups of the busiest compute unit, `resident` at a time.
double ComputeMicroseconds(const GemmTile& tile, const GemmElements& elements,
                           double groups, double k, bool from_hbm,
                           double resident) {
  const Step step = StepOf(tile, elements);
  // In whole rounds of stages, those beyond k of zeros that nobody waits for
  // (tile/dma_loop.cc).
  const double full = std::ceil(k / (tile.k * tile.waves_k));
  const double steps = std::ceil(full / tile.stages) * tile.stages;
  const double latency = from_hbm ? kHbmLatency : kL2Latency;
  const double exposed =
      (latency + step.own / 2) / std::max(1, tile.stages - 1);
  const double stored_us = tile.m * tile.n * 2.0 / (kHbmBytesPerUs / kCus) / 2;
  double us = 0;
  double left = std::ceil(groups / kCus);
  while (left > 0) {
    const double now = std::min(left, resident);
    // Rounds but the last two are alike.
    const double rounds = std::max(1.0, std::floor(left / resident));
    const double issued = step.own + kBarriers;
    const double clocks =
        full * std::max({now * step.shared, exposed, issued}) +
        (steps - full) * std::max(now * step.matrix, issued);
    // Pauses cost nothing where power holds the clock: it rises by as much.
    const double round_us =
        std::max((clocks + kStart) / kClocksPerUs + now * stored_us,
                 steps * now * step.matrix / elements.power_clocks_per_us);
    us += rounds * round_us;
    left -= rounds * now;
  }
  return us;
}

}  // namespace

GemmElements ElementsOf(const GemmTile& tile) {
  return {.lds_bytes = double(tile.lds_bytes())};
}

double TilesMicroseconds(const GemmTile& tile, const GemmElements& elements,
                         double tiles, double k, double bytes,
                         double most_resident) {
  const double resident = std::min(Resident(tile, elements), most_resident);
  const double started = kCus * resident;
  const double busiest = most_resident < kMostResident && tiles > started
                             ? std::ceil(tiles / started) * started
                             : tiles;
  const double fetched =
      tiles * (tile.m * elements.bytes_a + tile.n * elements.bytes_b) * k;
  // Beyond a few per cent, some line of a step comes from far away.
  const bool from_hbm = bytes > 0.05 * fetched;
  const double compute =
      ComputeMicroseconds(tile, elements, busiest, k, from_hbm, resident);
  const double memory = bytes / kHbmBytesPerUs + kStart / kClocksPerUs;
  // They never overlap wholly; and of two that memory holds up alike, the one
  // that does less work is the better one.
  constexpr double kApart = 0.1;
  return kLaunchUs + std::max(compute, memory) +
         kApart * std::min(compute, memory);
}

double GemmMicroseconds(const GemmTile& tile, const GemmElements& elements,
                        double m, double n, double k) {
  const double tiles = std::ceil(m / tile.m) * std::ceil(n / tile.n);
  const double inputs = k * (m * elements.bytes_a + n * elements.bytes_b);
  const double parts =
      GemmSplits(tile, static_cast<int64_t>(elements.lds_bytes), tiles, k);
  if (tile.split_k == 1) {
    return TilesMicroseconds(tile, elements, tiles, k, inputs + 2 * m * n);
  }
  // Parts are written in f32, and read again by a launch that adds them.
  constexpr double kReadUs = 1.4;
  const double sums = 4 * m * n * parts;
  return TilesMicroseconds(tile, elements, tiles * parts, std::ceil(k / parts),
                           inputs + sums) +
         kLaunchUs + kReadUs + (sums + 2 * m * n) / kHbmBytesPerUs;
}

double GemmMicroseconds(const GemmTile& tile, double m, double n, double k) {
  return GemmMicroseconds(tile, ElementsOf(tile), m, n, k);
}

}  // namespace ingot
