#include "bench/kernels/judgement.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"

namespace ingot::bench {
namespace {

using profile::Class;
using profile::LoopProfile;
using profile::Profile;

uint64_t Weight(const LoopProfile& loop) {
  const uint64_t matrix = loop.tally.Of(Class::kMfma);
  // Loops are nested: the innermost one that does the work.
  return (matrix > 0 ? matrix << 16 : loop.tally.total) +
         static_cast<uint64_t>(loop.loop.depth);
}

const LoopProfile* HotLoop(const Profile& p) {
  const auto hot =
      std::max_element(p.loops.begin(), p.loops.end(),
                       [](const LoopProfile& a, const LoopProfile& b) {
                         return Weight(a) < Weight(b);
                       });
  return hot == p.loops.end() ? nullptr : &*hot;
}

void AddLoop(const LoopProfile& hot, Judgement* to) {
  const double iterations = static_cast<double>(hot.loop.iterations);
  for (size_t c = 0; c < to->loop.size(); ++c) {
    to->loop[c] = static_cast<double>(hot.tally.by_class[c]) / iterations;
  }
  to->loop_all = static_cast<double>(hot.tally.total) / iterations;
  to->lds_degree = std::max(1.0, hot.tally.memory.lds_degree);
}

// What a launch moves of one buffer, in one direction: some workgroups ran, and
// all are alike.
double StreamedBytes(double of_some, double scale, double buffer) {
  const double all = of_some * scale;
  return buffer > kHeldBytes ? all : std::min(all, buffer);
}

double StreamedOverOperands(const std::vector<Profile>& launches) {
  double streamed = 0;
  std::map<std::string, double> operands;
  for (const Profile& p : launches) {
    for (const profile::BufferProfile& buffer : p.buffers) {
      const double bytes = static_cast<double>(buffer.bytes);
      for (const uint64_t touched :
           {buffer.distinct.read, buffer.distinct.written}) {
        streamed +=
            StreamedBytes(static_cast<double>(touched), p.scale(), bytes);
      }
      if (buffer.name != "workspace") operands[buffer.name] = bytes;
    }
  }
  double least = 0;
  for (const auto& [name, bytes] : operands) least += bytes;
  return least > 0 ? streamed / least : 0;
}

}  // namespace

Judgement Judge(const std::string& name, const std::vector<Profile>& launches) {
  Judgement all;
  all.name = name;
  all.launches = static_cast<int>(launches.size());
  const Profile* longest = nullptr;
  double requested = 0, fetched = 0;
  for (const Profile& p : launches) {
    all.microseconds += p.time.microseconds;
    all.hbm_bytes += p.hbm_bytes;
    requested += static_cast<double>(p.tally.memory.global.both()) * p.scale();
    fetched += static_cast<double>(p.group_distinct.both()) * p.scale();
    if (p.vgpr_spills + p.sgpr_spills + p.scratch_bytes > 0) all.clean = false;
    if (longest == nullptr ||
        p.time.microseconds > longest->time.microseconds) {
      longest = &p;
    }
  }
  if (longest == nullptr) return all;
  all.requested = requested / all.hbm_bytes;
  all.fetched = fetched / all.hbm_bytes;
  all.streamed = StreamedOverOperands(launches);
  all.matrix_share = longest->time.matrix_share;
  all.groups = longest->groups;
  all.waves = longest->waves_per_group;
  all.vgprs = longest->registers.arch;
  all.agprs = longest->registers.acc;
  all.lds_bytes = longest->lds_bytes;
  all.groups_per_cu = longest->occupancy.groups_per_cu;
  const LoopProfile* hot = HotLoop(*longest);
  if (hot != nullptr) AddLoop(*hot, &all);
  return all;
}

std::string LoopText(const Judgement& j) {
  const auto of = [&](Class c) { return j.loop[static_cast<size_t>(c)]; };
  return absl::StrFormat(
      "%.0f mfma %.0f valu %.0f salu %.0f lds %.0f vmem %.0f wait %.0f "
      "barrier %.0f nop",
      of(Class::kMfma), of(Class::kValu) + of(Class::kTrans),
      of(Class::kSalu) + of(Class::kSmem) + of(Class::kBranch), of(Class::kLds),
      of(Class::kVmem) + of(Class::kLdsDma), of(Class::kWait),
      of(Class::kBarrier), of(Class::kNop));
}

}  // namespace ingot::bench
