#include <algorithm>

#include "client/src/json_writer.h"
#include "tests/emulator/profile/print.h"
#include "tests/emulator/profile/rates.h"

namespace ingot::profile {
namespace {

using client::JsonWriter;

// Goes up when a field changes its meaning or goes away; new ones may come.
constexpr uint64_t kSchema = 1;

void Axes(const char* name, const std::array<uint32_t, 3>& values,
          JsonWriter* json) {
  json->OpenArray(name);
  for (const uint32_t value : values) json->Number(nullptr, uint64_t{value});
  json->CloseArray();
}

void AddBytes(const char* name, const Bytes& bytes, JsonWriter* json) {
  json->OpenObject(name);
  json->Number("read", bytes.read);
  json->Number("written", bytes.written);
  json->CloseObject();
}

double Per(uint64_t value, uint64_t unit) {
  return unit == 0 ? 0 : static_cast<double>(value) / static_cast<double>(unit);
}

void Kernel(const Profile& p, JsonWriter* json) {
  json->String("kernel", p.kernel);
  Axes("grid", p.grid, json);
  Axes("block", p.block, json);
  json->Number("workgroups", p.groups);
  json->Number("workgroups_run", p.groups_run);
  json->Number("scale", p.scale());
  json->Number("waves_per_workgroup", p.waves_per_group);
  json->OpenObject("registers");
  json->Integer("vgpr", p.registers.arch);
  json->Integer("agpr", p.registers.acc);
  json->Integer("sgpr", p.registers.scalar);
  json->Number("vgpr_spills", uint64_t{p.vgpr_spills});
  json->Number("sgpr_spills", uint64_t{p.sgpr_spills});
  json->CloseObject();
  json->Number("lds_bytes", uint64_t{p.lds_bytes});
  json->Number("scratch_bytes", uint64_t{p.scratch_bytes});
  json->OpenObject("occupancy");
  json->Integer("waves_per_simd", p.occupancy.waves_per_simd);
  json->Integer("workgroups_per_cu", p.occupancy.groups_per_cu);
  json->String("limit", p.occupancy.limit);
  json->CloseObject();
}

// Counts of a tally, as they are or by iteration.
void Instructions(const char* name, const Tally& t, uint64_t unit,
                  JsonWriter* json) {
  json->OpenObject(name);
  json->Number("all", Per(t.total, unit));
  for (int c = 0; c < kClasses; ++c) {
    const Class cls = static_cast<Class>(c);
    json->Number(NameOf(cls), Per(t.Of(cls), unit));
  }
  json->Number("acc_moves", Per(t.acc_moves, unit));
  json->Number("scratch", Per(t.scratch_accesses, unit));
  json->CloseObject();
}

void Memory(const char* name, const MemoryUse& m, JsonWriter* json) {
  json->OpenObject(name);
  AddBytes("global", m.global, json);
  AddBytes("scalar", m.scalar, json);
  AddBytes("lines64", m.lines64, json);
  AddBytes("lines128", m.lines128, json);
  AddBytes("lds", m.lds, json);
  AddBytes("scratch", m.scratch, json);
  json->Number("lds_clocks", m.lds_clocks);
  json->Number("lds_least_clocks", m.lds_least);
  json->Number("lds_conflict_mean", Per(m.lds_clocks, m.lds_least));
  json->Number("lds_conflict_max", m.lds_degree);
  json->CloseObject();
}

void AddClocks(const char* name, const Clocks& clocks, JsonWriter* json) {
  json->OpenObject(name);
  for (const Clocks::Entry& entry : clocks.List()) {
    json->Number(entry.name, entry.clocks);
  }
  json->String("bound", clocks.Bound().name);
  json->CloseObject();
}

void Waves(const Profile& p, JsonWriter* json) {
  json->OpenArray("waves");
  for (const WaveProfile& wave : p.waves) {
    json->OpenObject();
    json->Number("all", wave.total);
    for (int c = 0; c < kClasses; ++c) {
      json->Number(NameOf(static_cast<Class>(c)),
                   wave.by_class[static_cast<size_t>(c)]);
    }
    json->CloseObject();
  }
  json->CloseArray();
}

void Mnemonics(const Profile& p, size_t top, JsonWriter* json) {
  json->OpenArray("mnemonics");
  for (size_t n = 0; n < std::min(top, p.mnemonics.size()); ++n) {
    const Mnemonic& m = p.mnemonics[n];
    json->OpenObject();
    json->String("name", m.name);
    json->String("class", NameOf(m.cls));
    json->Number("count", m.count);
    json->CloseObject();
  }
  json->CloseArray();
}

void AddLoop(const LoopProfile& l, JsonWriter* json) {
  const uint64_t times = l.loop.iterations;
  json->OpenObject();
  json->Number("offset", l.loop.header);
  json->Integer("parent", l.loop.parent);
  json->Integer("depth", l.loop.depth);
  json->Number("entries", l.loop.entries);
  json->Number("iterations", times);
  json->Number("trips", Per(times, l.loop.entries));
  json->Number("waves", l.waves);
  json->Number("iterations_least", l.least);
  json->Number("iterations_most", l.most);
  json->Bool("calls", l.loop.calls);
  Instructions("per_iteration", l.tally, times, json);
  Memory("memory", l.tally.memory, json);
  json->OpenArray("waits");
  for (const Wait& wait : l.waits) {
    json->OpenObject();
    json->Number("offset", wait.offset);
    json->String("text", wait.text);
    json->CloseObject();
  }
  json->CloseArray();
  AddClocks("clocks", l.clocks, json);
  json->CloseObject();
}

void Traffic(const Profile& p, JsonWriter* json) {
  Memory("memory", p.tally.memory, json);
  AddBytes("workgroup_distinct", p.group_distinct, json);
  AddBytes("launch_distinct", p.launch_distinct, json);
  json->Number("hbm_bytes", p.hbm_bytes);
  json->OpenArray("buffers");
  for (const BufferProfile& buffer : p.buffers) {
    json->OpenObject();
    json->String("name", buffer.name);
    json->Number("bytes", buffer.bytes);
    AddBytes("distinct", buffer.distinct, json);
    json->CloseObject();
  }
  json->CloseArray();
}

void Spots(const char* name, const std::vector<Spot>& spots, size_t top,
           JsonWriter* json) {
  json->OpenArray(name);
  for (size_t n = 0; n < std::min(top, spots.size()); ++n) {
    json->OpenObject();
    json->Number("offset", spots[n].offset);
    json->String("name", spots[n].name);
    json->Number("count", spots[n].count);
    Memory("memory", spots[n].memory, json);
    json->CloseObject();
  }
  json->CloseArray();
}

void Model(const Profile& p, JsonWriter* json) {
  json->OpenObject("modelled");
  json->Number("clock_hz", kClockHz);
  json->Integer("compute_units", kComputeUnits);
  AddClocks("workgroup_clocks", p.clocks, json);
  json->Number("workgroups_on_busiest_cu", p.model.groups_on_busiest_cu);
  json->Number("rounds", p.model.rounds);
  json->OpenObject("microseconds");
  for (const LaunchModel::Entry& entry : p.model.times) {
    json->Number(entry.name.c_str(), entry.microseconds);
  }
  json->CloseObject();
  json->String("bound", p.model.bound);
  json->Number("bound_microseconds", p.model.microseconds);
  json->Number("hbm_stream_microseconds", p.model.hbm_stream_us);
  json->OpenObject("time");
  json->Number("microseconds", p.time.microseconds);
  json->Number("matrix_share", p.time.matrix_share);
  json->Number("clock_hz", p.time.clock_ghz * 1e9);
  json->CloseObject();
  json->CloseObject();
}

}  // namespace

std::string ToJson(const std::vector<Profile>& profiles, size_t top) {
  JsonWriter json;
  json.OpenObject();
  json.Number("schema", kSchema);
  json.OpenArray("kernels");
  for (const Profile& p : profiles) {
    json.OpenObject();
    Kernel(p, &json);
    Instructions("instructions", p.tally, 1, &json);
    json.Number("mfma_flops", p.tally.matrix_flops);
    json.Number("vector_flops", p.tally.vector_flops);
    json.Number("active_lanes", Per(p.tally.lanes, p.tally.vector));
    Waves(p, &json);
    Mnemonics(p, top, &json);
    json.OpenArray("loops");
    for (const LoopProfile& l : p.loops) AddLoop(l, &json);
    json.CloseArray();
    json.Integer("irreducible_jumps", p.flow.irreducible);
    Traffic(p, &json);
    Spots("lds_conflicts", p.lds_spots, top, &json);
    Spots("uncoalesced", p.vmem_spots, top, &json);
    Model(p, &json);
    json.CloseObject();
  }
  json.CloseArray();
  json.CloseObject();
  return json.text();
}

}  // namespace ingot::profile
