#include "tests/emulator/profile/launch_time.h"

#include <algorithm>
#include <cmath>

#include "tests/emulator/profile/cu_time.h"

namespace ingot::profile {
namespace {

// Instructions of one CU beyond which further workgroups are extrapolated.
constexpr double kMostSimulated = 2e6;

double PowerHz(MatrixWidth width) {
  switch (width) {
    case MatrixWidth::k16:
      return kPowerHz16;
    case MatrixWidth::k8:
      return kPowerHz8;
    case MatrixWidth::kSmall:
      return kPowerHzSmall;
  }
  return kClockHz;
}

// The clock and the time in clocks depend on each other: found by rounds.
constexpr int kMostRounds = 4;
constexpr double kCloseEnough = 1e-3;

// All of `groups`, of which only as many are simulated as is bearable: the
// others take as long as the last ones of those did.
CuTime TimeOfMany(CuWork work) {
  double instructions = 0;
  for (const std::vector<uint32_t>& wave : work.trace->waves) {
    instructions += static_cast<double>(wave.size());
  }
  const int bearable =
      std::max(2 * work.resident,
               static_cast<int>(kMostSimulated / std::max(instructions, 1.0)));
  if (work.groups <= bearable) return TimeOf(work);
  const int all = work.groups;
  const int some = bearable / work.resident * work.resident;
  const int fewer = some - work.resident;
  work.groups = some;
  const CuTime last = TimeOf(work);
  work.groups = fewer;
  const CuTime before = TimeOf(work);
  const double rounds =
      static_cast<double>(all - some) / static_cast<double>(work.resident);
  return {
      .clocks = last.clocks + rounds * (last.clocks - before.clocks),
      .matrix_clocks = last.matrix_clocks +
                       rounds * (last.matrix_clocks - before.matrix_clocks)};
}

}  // namespace

LaunchTime TimeOf(const LaunchWork& launch) {
  LaunchTime time;
  time.microseconds = kLaunchSeconds * 1e6;
  if (launch.groups == 0 || launch.trace->empty()) return time;
  const double groups = static_cast<double>(launch.groups);
  CuWork work;
  work.trace = launch.trace;
  work.groups = static_cast<int>(std::ceil(groups / kComputeUnits));
  work.resident = std::max(1, launch.groups_per_cu);
  const double l2_bytes = launch.trace->L2Bytes() * groups;
  work.hbm_share =
      l2_bytes > 0 ? std::min(1.0, launch.hbm_bytes / l2_bytes) : 0;
  // HBM serves those who ask: a CU gets its part of the workgroups.
  work.hbm_bytes_per_second = kHbmReached * work.groups / groups;
  // The clock depends on how busy the matrix units are, and that on how long
  // memory takes in clocks.
  double hz = kClockHz;
  CuTime cu;
  const double power_hz = PowerHz(launch.trace->width);
  for (int round = 0; round < kMostRounds; ++round) {
    work.clock_hz = hz;
    cu = TimeOfMany(work);
    time.matrix_share = cu.matrix_clocks / cu.clocks;
    const double next = std::min(kClockHz, power_hz / time.matrix_share);
    const bool found = std::abs(next - hz) < kCloseEnough * hz;
    hz = next;
    if (found) break;
  }
  time.clock_ghz = hz * 1e-9;
  time.microseconds += cu.clocks / hz * 1e6;
  return time;
}

}  // namespace ingot::profile
