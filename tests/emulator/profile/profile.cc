#include "tests/emulator/profile/profile.h"

#include <algorithm>
#include <map>

namespace ingot::profile {
namespace {

using emulator::KernelInfo;

void Add(const Executed& e, Tally* tally) {
  tally->by_class[static_cast<size_t>(e.facts.cls)] += e.count;
  tally->total += e.count;
  if (e.facts.acc_move) tally->acc_moves += e.count;
  const MemoryUse& memory = e.memory;
  if (memory.scratch.read + memory.scratch.written > 0) {
    tally->scratch_accesses += e.count;
  }
  if (e.facts.by_lane) {
    tally->vector += e.count;
    tally->lanes += e.lanes;
    tally->vector_flops += e.facts.flops * static_cast<double>(e.lanes);
  } else {
    tally->matrix_flops += e.facts.flops * static_cast<double>(e.count);
  }
  tally->memory.Add(memory);
}

std::vector<uint64_t> AllOffsets(const Recording& recording) {
  std::vector<uint64_t> offsets;
  for (const auto& [offset, e] : recording.program) offsets.push_back(offset);
  return offsets;
}

Tally TallyOf(const Recording& recording,
              const std::vector<uint64_t>& offsets) {
  Tally tally;
  for (const uint64_t offset : offsets) {
    Add(recording.program.at(offset), &tally);
  }
  return tally;
}

LoopProfile LoopOf(const Recording& recording, const Loop& loop) {
  LoopProfile profile;
  profile.loop = loop;
  profile.tally = TallyOf(recording, loop.offsets);
  const Executed& header = recording.program.at(loop.header);
  profile.least = header.least;
  profile.most = header.most;
  for (const uint64_t count : header.by_wave) profile.waves += count > 0;
  for (const uint64_t offset : loop.offsets) {
    const Executed& e = recording.program.at(offset);
    if (e.facts.cls != Class::kWait) continue;
    profile.waits.push_back({offset, WaitText(*e.inst)});
  }
  profile.clocks = ClocksOf(recording, loop.offsets, header.by_wave);
  return profile;
}

std::vector<WaveProfile> WavesOf(const Recording& recording) {
  std::vector<WaveProfile> waves(recording.waves_per_group);
  for (const auto& [offset, e] : recording.program) {
    for (size_t wave = 0; wave < waves.size(); ++wave) {
      const double count = static_cast<double>(e.by_wave[wave]) /
                           static_cast<double>(recording.groups);
      waves[wave].by_class[static_cast<size_t>(e.facts.cls)] += count;
      waves[wave].total += count;
    }
  }
  return waves;
}

std::vector<Mnemonic> MnemonicsOf(const Recording& recording) {
  std::map<std::string, Mnemonic> by_name;
  for (const auto& [offset, e] : recording.program) {
    Mnemonic& m = by_name[e.inst->op->name];
    m.name = e.inst->op->name;
    m.cls = e.facts.cls;
    m.count += e.count;
  }
  std::vector<Mnemonic> all;
  for (const auto& [name, m] : by_name) all.push_back(m);
  std::stable_sort(
      all.begin(), all.end(),
      [](const Mnemonic& a, const Mnemonic& b) { return a.count > b.count; });
  return all;
}

// Instructions that cost more than they need, the costliest first.
template <typename Excess>
std::vector<Spot> SpotsOf(const Recording& recording, Excess excess) {
  std::vector<Spot> spots;
  for (const auto& [offset, e] : recording.program) {
    if (excess(e) > 0) {
      spots.push_back({offset, e.inst->op->name, e.count, e.memory});
    }
  }
  std::stable_sort(spots.begin(), spots.end(),
                   [&](const Spot& a, const Spot& b) {
                     return excess(recording.program.at(a.offset)) >
                            excess(recording.program.at(b.offset));
                   });
  return spots;
}

double LdsExcess(const Executed& e) {
  return static_cast<double>(e.memory.lds_clocks - e.memory.lds_least);
}

// Bytes of lines beyond those that the requested bytes would fill, each
// execution at least one.
double LineExcess(const Executed& e) {
  const Bytes& lines = e.memory.lines128;
  const double least = static_cast<double>(
      std::max({e.memory.global.read, e.memory.global.written,
                e.count * kCacheLineBytes}));
  return static_cast<double>(std::max(lines.read, lines.written)) - least;
}

BufferProfile BufferOf(const Recording& recording, const Buffer& buffer) {
  const uint64_t end = buffer.begin + buffer.bytes;
  return {buffer.name,
          buffer.bytes,
          {recording.read.BytesIn(buffer.begin, end),
           recording.written.BytesIn(buffer.begin, end)}};
}

double HbmBytes(const Profile& p) {
  Bytes in_buffers;
  double bytes = 0;
  for (const BufferProfile& buffer : p.buffers) {
    in_buffers.Add(buffer.distinct);
    for (const uint64_t touched :
         {buffer.distinct.read, buffer.distinct.written}) {
      bytes += std::min(static_cast<double>(touched) * p.scale(),
                        static_cast<double>(buffer.bytes));
    }
  }
  // Arguments and constants are shared by all workgroups.
  return bytes + static_cast<double>(p.launch_distinct.read - in_buffers.read) +
         static_cast<double>(p.launch_distinct.written - in_buffers.written);
}

uint64_t GroupsOf(const emulator::LaunchConfig& config) {
  return uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
}

void Describe(const KernelInfo& kernel, const emulator::LaunchConfig& config,
              Profile* p) {
  p->kernel = kernel.name;
  p->groups = GroupsOf(config);
  uint32_t threads = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    p->grid[axis] = config.grid[axis];
    p->block[axis] = config.block[axis];
    threads *= config.block[axis];
  }
  p->registers = RegistersOf(kernel);
  p->vgpr_spills = kernel.vgpr_spills;
  p->sgpr_spills = kernel.sgpr_spills;
  p->lds_bytes = kernel.lds_bytes + config.dynamic_lds;
  p->scratch_bytes = kernel.scratch_bytes;
  p->occupancy = OccupancyOf(p->registers, threads, p->lds_bytes);
}

void Summarize(const Recording& recording, const std::vector<Buffer>& buffers,
               Profile* p) {
  const std::vector<uint64_t> all = AllOffsets(recording);
  p->groups_run = recording.groups;
  p->waves_per_group = recording.waves_per_group;
  p->tally = TallyOf(recording, all);
  p->mnemonics = MnemonicsOf(recording);
  p->waves = WavesOf(recording);
  p->flow = FlowOf(recording);
  for (const Loop& loop : p->flow.loops) {
    p->loops.push_back(LoopOf(recording, loop));
  }
  p->group_distinct = recording.group_bytes;
  p->launch_distinct = {recording.read.bytes(), recording.written.bytes()};
  for (const Buffer& buffer : buffers) {
    p->buffers.push_back(BufferOf(recording, buffer));
  }
  p->lds_spots = SpotsOf(recording, LdsExcess);
  p->vmem_spots = SpotsOf(recording, LineExcess);
  p->clocks = ClocksOf(
      recording, all,
      std::vector<uint64_t>(recording.waves_per_group, recording.groups));
  p->hbm_bytes = HbmBytes(*p);
  p->model = ModelLaunch(p->clocks, p->groups, p->waves_per_group, p->occupancy,
                         p->hbm_bytes);
  const Trace trace = TraceOf(recording);
  if (trace.empty()) return;
  p->time = TimeOf({.trace = &trace,
                    .groups = p->groups,
                    .groups_per_cu = p->occupancy.groups_per_cu,
                    .hbm_bytes = p->hbm_bytes});
}

// Instructions of a wave before it counts as endless: minutes.
constexpr uint64_t kMostInstructions = uint64_t{1} << 30;

// `most` of `all` workgroups, evenly spread.
std::vector<uint64_t> Spread(uint64_t all, uint64_t most) {
  std::vector<uint64_t> chosen;
  if (most == 0 || most >= all) return chosen;
  for (uint64_t n = 0; n < most; ++n) {
    chosen.push_back(static_cast<uint64_t>(static_cast<double>(all) *
                                           static_cast<double>(n) /
                                           static_cast<double>(most)));
  }
  return chosen;
}

// Those that the first XCD holds at a time.
std::vector<uint64_t> OfOneXcd(uint64_t all, const Occupancy& occupancy) {
  const uint64_t resident =
      uint64_t{kComputeUnits / kXcds} *
      static_cast<uint64_t>(std::max(occupancy.groups_per_cu, 1));
  std::vector<uint64_t> chosen;
  for (uint64_t group = 0; group < all && chosen.size() < resident;
       group += kXcds) {
    chosen.push_back(group);
  }
  return chosen;
}

}  // namespace

emulator::Options ProfileOptions() {
  emulator::Options options = emulator::Options::FromEnvironment();
  options.check_lds_races = false;
  options.check_global_races = false;
  options.check_undefined = false;
  options.max_instructions = kMostInstructions;
  return options;
}

emulator::RunResult RunProfiled(emulator::Device& device,
                                const ProfileRequest& request,
                                const emulator::Options& options,
                                Profile* profile) {
  Recorder recorder;
  emulator::LaunchConfig config = request.config;
  Describe(*request.kernel, request.config, profile);
  config.groups = request.one_xcd
                      ? OfOneXcd(profile->groups, profile->occupancy)
                      : Spread(profile->groups, request.most_groups);
  config.watchers.push_back(recorder.Factory());
  const emulator::RunResult result =
      device.Run(request.program, *request.kernel, config, request.kernarg,
                 request.kernarg_bytes, options);
  if (result.status == emulator::RunStatus::kOk) {
    Summarize(recorder.Take(), request.buffers, profile);
  }
  return result;
}

}  // namespace ingot::profile
