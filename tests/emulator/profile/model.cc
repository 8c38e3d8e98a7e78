#include "tests/emulator/profile/model.h"

#include <algorithm>
#include <array>

namespace ingot::profile {
namespace {

double CeilDiv(double a, double b) {
  return static_cast<double>(
      (static_cast<uint64_t>(a) + static_cast<uint64_t>(b) - 1) /
      static_cast<uint64_t>(b));
}

// Adds what `times` executions of an instruction take.
void Add(const Executed& e, double times, Clocks* to) {
  if (e.facts.cls == Class::kMfma) to->mfma += times * e.facts.clocks;
  if (e.facts.by_lane) to->valu += times * e.facts.clocks;
  if (e.facts.cls == Class::kSalu) to->salu += times * e.facts.clocks;
  to->issue += times * e.facts.slots * kIssueClocks;
  const MemoryUse& m = e.memory;
  const double each = times / static_cast<double>(e.count);
  to->lds += each * static_cast<double>(m.lds_clocks);
  to->vmem += each * static_cast<double>(m.vmem_clocks);
  to->l2 +=
      each *
      static_cast<double>(m.first_lines * kCacheLineBytes + m.global.written) /
      kL2BytesPerClock;
}

}  // namespace

std::vector<Clocks::Entry> Clocks::List() const {
  return {{"mfma", mfma}, {"valu", valu}, {"salu", salu}, {"issue", issue},
          {"lds", lds},   {"vmem", vmem}, {"l2", l2}};
}

Clocks::Entry Clocks::Bound() const {
  const std::vector<Entry> all = List();
  return *std::max_element(
      all.begin(), all.end(),
      [](const Entry& a, const Entry& b) { return a.clocks < b.clocks; });
}

Clocks ClocksOf(const Recording& recording,
                const std::vector<uint64_t>& offsets,
                const std::vector<uint64_t>& units) {
  std::array<Clocks, kSimds> simds;
  Clocks all;
  for (size_t wave = 0; wave < units.size(); ++wave) {
    if (units[wave] == 0) continue;
    Clocks mine;
    for (const uint64_t offset : offsets) {
      const Executed& e = recording.program.at(offset);
      Add(e,
          static_cast<double>(e.by_wave[wave]) /
              static_cast<double>(units[wave]),
          &mine);
    }
    Clocks& simd = simds[wave % kSimds];
    simd.mfma += mine.mfma;
    simd.valu += mine.valu;
    simd.salu += mine.salu;
    all.mfma = std::max(all.mfma, simd.mfma);
    all.valu = std::max(all.valu, simd.valu);
    all.salu = std::max(all.salu, simd.salu);
    all.issue = std::max(all.issue, mine.issue);
    all.lds += mine.lds;
    all.vmem += mine.vmem;
    all.l2 += mine.l2;
  }
  return all;
}

LaunchModel ModelLaunch(const Clocks& group, uint64_t groups, uint64_t waves,
                        const Occupancy& occupancy, double hbm_bytes) {
  LaunchModel model;
  const double busiest = CeilDiv(static_cast<double>(groups), kComputeUnits);
  // Groups of fewer waves than SIMDs stand side by side.
  const double simd_loads = CeilDiv(
      busiest * static_cast<double>(std::min<uint64_t>(waves, kSimds)), kSimds);
  const double rounds = CeilDiv(busiest, std::max(occupancy.groups_per_cu, 1));
  model.groups_on_busiest_cu = static_cast<uint64_t>(busiest);
  model.rounds = static_cast<uint64_t>(rounds);
  const auto add = [&model](const char* name, double seconds) {
    model.times.push_back({name, seconds * 1e6});
  };
  add("mfma", group.mfma * simd_loads / kClockHz);
  add("valu", group.valu * simd_loads / kClockHz);
  add("salu", group.salu * simd_loads / kClockHz);
  add("issue", group.issue * rounds / kClockHz);
  add("lds", group.lds * busiest / kClockHz);
  add("vmem", group.vmem * busiest / kClockHz);
  add("l2", group.l2 * busiest / kClockHz);
  add("hbm", hbm_bytes / kHbmBytesPerSecond);
  const auto& bound = *std::max_element(
      model.times.begin(), model.times.end(), [](const auto& a, const auto& b) {
        return a.microseconds < b.microseconds;
      });
  model.bound = bound.name;
  model.microseconds = bound.microseconds;
  model.hbm_stream_us = hbm_bytes / kStreamBytesPerSecond * 1e6;
  return model;
}

}  // namespace ingot::profile
