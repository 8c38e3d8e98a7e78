#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "client/ctl/text_table.h"
#include "tests/emulator/profile/print.h"
#include "tests/emulator/profile/rates.h"

namespace ingot::profile {
namespace {

using ctl::FormatBytes;
using ctl::FormatTable;
using Row = std::vector<std::string>;

[[gnu::format(printf, 1, 2)]] std::string Text(const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

// "256", "0.25": what counts as whole is printed so.
std::string Amount(double value) {
  const double tenth = value * 100;
  if (value == static_cast<double>(static_cast<uint64_t>(value))) {
    return Text("%.0f", value);
  }
  return tenth < 100 ? Text("%.3f", value) : Text("%.1f", value);
}

std::string Indented(const std::string& table) {
  std::string out;
  size_t at = 0;
  while (at < table.size()) {
    const size_t end = table.find('\n', at);
    out += "  " + table.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return out;
}

double Per(double value, double unit) { return unit > 0 ? value / unit : 0; }
double Per(uint64_t value, uint64_t unit) {
  return Per(static_cast<double>(value), static_cast<double>(unit));
}

std::string Plural(uint64_t count, const char* what) {
  return Text("%llu %s%s", static_cast<unsigned long long>(count), what,
              count == 1 ? "" : "s");
}

std::string Head(const Profile& p) {
  std::string out =
      p.kernel +
      Text("\n  %ux%ux%u workgroups of %ux%ux%u work-items, ", p.grid[0],
           p.grid[1], p.grid[2], p.block[0], p.block[1], p.block[2]) +
      Plural(p.waves_per_group, "wave") + " each\n";
  if (p.groups_run < p.groups) {
    out += Text(
        "  %llu of %llu workgroups ran, spread evenly: counts are theirs, the "
        "launch has %.4g times as much\n",
        static_cast<unsigned long long>(p.groups_run),
        static_cast<unsigned long long>(p.groups), p.scale());
  }
  out += Text(
      "  registers  %d VGPR + %d AGPR of %d, %d SGPR; %u VGPR and %u SGPR "
      "spills\n",
      p.registers.arch, p.registers.acc, kRegisters, p.registers.scalar,
      p.vgpr_spills, p.sgpr_spills);
  out += Text(
      "  memory     %u B of %d B LDS a workgroup, %u B scratch a "
      "work-item\n",
      p.lds_bytes, kLdsBytes, p.scratch_bytes);
  out += "  occupancy  " + Plural(p.occupancy.waves_per_simd, "wave") +
         " a SIMD, " + Plural(p.occupancy.groups_per_cu, "workgroup") +
         " a CU; limited by " + p.occupancy.limit + '\n';
  return out;
}

Row ClassNames(const char* first) {
  Row row = {first, "all"};
  for (int c = 0; c < kClasses; ++c) {
    row.push_back(NameOf(static_cast<Class>(c)));
  }
  return row;
}

Row WaveRow(const std::string& name, const WaveProfile& wave) {
  Row row = {name, Amount(wave.total)};
  for (const double count : wave.by_class) row.push_back(Amount(count));
  return row;
}

// Waves that do the same share a row.
void AddWaves(const Profile& p, std::vector<Row>* rows) {
  for (size_t first = 0; first < p.waves.size();) {
    size_t last = first;
    while (last + 1 < p.waves.size() &&
           p.waves[last + 1].by_class == p.waves[first].by_class) {
      ++last;
    }
    std::string name = "wave " + std::to_string(first);
    if (last > first)
      name = "waves " + std::to_string(first) + "-" + std::to_string(last);
    rows->push_back(WaveRow(name, p.waves[first]));
    first = last + 1;
  }
}

std::string Instructions(const Profile& p, size_t top) {
  const Tally& t = p.tally;
  std::vector<Row> rows = {ClassNames("")};
  AddWaves(p, &rows);
  Row all = {"all that ran", std::to_string(t.total)}, share = {"share", ""};
  for (const uint64_t count : t.by_class) {
    all.push_back(std::to_string(count));
    share.push_back(Text("%.1f%%", 100 * Per(count, t.total)));
  }
  rows.push_back(all);
  rows.push_back(share);
  std::string out = "\ninstructions (of a wave, by workgroup)\n";
  out += Indented(FormatTable(rows));
  out += Text(
      "  %.4g FLOP by MFMA, %.4g by lanes; %.1f of 64 lanes active in "
      "vector instructions; %llu accumulator moves, %llu scratch "
      "accesses\n",
      t.matrix_flops, t.vector_flops, Per(t.lanes, t.vector),
      static_cast<unsigned long long>(t.acc_moves),
      static_cast<unsigned long long>(t.scratch_accesses));
  out += "  most frequent:";
  for (size_t n = 0; n < std::min(top, p.mnemonics.size()); ++n) {
    const Mnemonic& m = p.mnemonics[n];
    out += Text("%s %s %.1f%%", n == 0 ? "" : ",", m.name.c_str(),
                100 * Per(m.count, t.total));
  }
  return out + '\n';
}

// "vmcnt(0) lgkmcnt(0)", with how many of them when there are several.
std::string Waits(const std::vector<Wait>& waits) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const Wait& wait : waits) {
    const auto found =
        std::find_if(kinds.begin(), kinds.end(),
                     [&](const auto& k) { return k.first == wait.text; });
    if (found == kinds.end()) {
      kinds.push_back({wait.text, 1});
    } else {
      ++found->second;
    }
  }
  std::string out;
  for (const auto& [text, count] : kinds) {
    out += (out.empty() ? "" : ", ") + text;
    if (count > 1) out += Text(" x%d", count);
  }
  return out.empty() ? "none" : out;
}

std::string Bound(const Clocks& clocks) {
  const Clocks::Entry bound = clocks.Bound();
  std::string out = Text("bound by %s:", bound.name);
  for (const Clocks::Entry& entry : clocks.List()) {
    if (entry.clocks == 0) continue;
    out += Text(" %s %s", entry.name, Amount(entry.clocks).c_str());
  }
  return out + " clk";
}

std::string Conflicts(const MemoryUse& m) {
  if (m.lds_clocks == 0) return "no LDS access";
  return Text("LDS conflict degree %.3g mean, %.3g max",
              Per(m.lds_clocks, m.lds_least), m.lds_degree);
}

// "1024 B global read, 512 B LDS written", of what is not 0.
std::string Moved(const MemoryUse& m, uint64_t unit) {
  const struct {
    const char* what;
    uint64_t bytes;
  } kinds[] = {{"global read", m.global.read},
               {"global written", m.global.written},
               {"scalar read", m.scalar.read},
               {"LDS read", m.lds.read},
               {"LDS written", m.lds.written},
               {"scratch read", m.scratch.read},
               {"scratch written", m.scratch.written}};
  std::string out;
  for (const auto& kind : kinds) {
    if (kind.bytes == 0) continue;
    out += (out.empty() ? "" : ", ") + Amount(Per(kind.bytes, unit)) + " B " +
           kind.what;
  }
  return out;
}

std::string LoopDetails(size_t index, const LoopProfile& l) {
  const MemoryUse& m = l.tally.memory;
  const uint64_t n = l.loop.iterations;
  std::string out =
      Text("  loop %zu: %s trips; waits %s\n", index,
           Amount(Per(n, l.loop.entries)).c_str(), Waits(l.waits).c_str());
  if (l.least != l.most) {
    out += Text("    a wave iterates %llu to %llu times\n",
                static_cast<unsigned long long>(l.least),
                static_cast<unsigned long long>(l.most));
  }
  if (l.loop.calls) out += "    calls functions, which are not counted in\n";
  const std::string moved = Moved(m, n);
  if (!moved.empty()) {
    out += "    a wave's iteration: " + moved + "; " + Conflicts(m) + '\n';
  }
  return out + "    modelled, the workgroup's iteration: " + Bound(l.clocks) +
         '\n';
}

std::string Loops(const Profile& p) {
  if (p.loops.empty()) return "\nloops: none\n";
  std::vector<Row> rows = {ClassNames("loop")};
  rows[0].insert(rows[0].end(), {"acc_moves", "scratch"});
  for (size_t n = 0; n < p.loops.size(); ++n) {
    const LoopProfile& l = p.loops[n];
    const uint64_t times = l.loop.iterations;
    Row row = {Text("%*s%zu at 0x%llx", 2 * l.loop.depth, "", n,
                    static_cast<unsigned long long>(l.loop.header)),
               Amount(Per(l.tally.total, times))};
    for (const uint64_t count : l.tally.by_class) {
      row.push_back(Amount(Per(count, times)));
    }
    row.push_back(Amount(Per(l.tally.acc_moves, times)));
    row.push_back(Amount(Per(l.tally.scratch_accesses, times)));
    rows.push_back(row);
  }
  std::string out =
      "\nloops (instructions of a wave's iteration, inner loops "
      "counted in)\n";
  out += Indented(FormatTable(rows));
  for (size_t n = 0; n < p.loops.size(); ++n) {
    out += LoopDetails(n, p.loops[n]);
  }
  if (p.flow.irreducible > 0) {
    out += "  " + Plural(static_cast<uint64_t>(p.flow.irreducible), "jump") +
           " into the middle of a loop: such loops are not shown\n";
  }
  return out;
}

Row ByteRow(const char* name, const Bytes& bytes, const Bytes& least) {
  const auto over = [](uint64_t value, uint64_t minimum) {
    return minimum == 0 ? std::string("-") : Text("%.3g", Per(value, minimum));
  };
  return {name, FormatBytes(static_cast<double>(bytes.read)),
          over(bytes.read, least.read),
          FormatBytes(static_cast<double>(bytes.written)),
          over(bytes.written, least.written)};
}

std::string Traffic(const Profile& p) {
  const MemoryUse& m = p.tally.memory;
  Bytes requested = m.global;
  requested.Add(m.scalar);
  const Bytes& least = p.launch_distinct;
  std::vector<Row> rows = {
      {"", "read", "x least", "written", "x least"},
      ByteRow("requested", requested, least),
      ByteRow("64-byte lines, by instruction", m.lines64, least),
      ByteRow("128-byte lines, by instruction", m.lines128, least),
      ByteRow("distinct in a workgroup, summed", p.group_distinct, least),
      ByteRow("distinct in all that ran", least, least)};
  std::string out = "\nglobal memory\n" + Indented(FormatTable(rows));
  if (p.groups_run < p.groups) {
    out += "  the whole launch moves at least " + FormatBytes(p.hbm_bytes) +
           " (extrapolated within each buffer)\n";
  }
  for (const BufferProfile& buffer : p.buffers) {
    out +=
        "  " + buffer.name + ": " +
        FormatBytes(static_cast<double>(buffer.distinct.read)) + " read and " +
        FormatBytes(static_cast<double>(buffer.distinct.written)) +
        " written of " + FormatBytes(static_cast<double>(buffer.bytes)) + '\n';
  }
  if (m.lds.both() > 0) {
    out += "LDS\n  " + FormatBytes(static_cast<double>(m.lds.read)) +
           " read, " + FormatBytes(static_cast<double>(m.lds.written)) +
           " written; " + Conflicts(m) + '\n';
  }
  if (m.scratch.both() > 0) {
    out += "scratch\n  " + FormatBytes(static_cast<double>(m.scratch.read)) +
           " read, " + FormatBytes(static_cast<double>(m.scratch.written)) +
           " written\n";
  }
  return out;
}

std::string ConflictsOf(const Spot& s) {
  return Text(": degree %.3g mean, %.3g max",
              Per(s.memory.lds_clocks, s.memory.lds_least),
              s.memory.lds_degree);
}

std::string LinesOf(const Spot& s) {
  const MemoryUse& m = s.memory;
  const uint64_t asked = std::max(m.global.read, m.global.written);
  const uint64_t lines = std::max(m.lines128.read, m.lines128.written);
  return ": " + Amount(Per(asked, s.count)) + " B asked for in " +
         Amount(Per(lines, kCacheLineBytes * s.count)) + " lines of 128 B";
}

// A line for each instruction, or for all that do the same as often.
std::string Spots(const char* title, const std::vector<Spot>& spots, size_t top,
                  std::string (*describe)(const Spot&)) {
  struct Line {
    std::string text;
    uint64_t offset;
    int more = 0;
  };
  std::vector<Line> lines;
  for (const Spot& s : spots) {
    const std::string text =
        s.name + describe(s) +
        Text(", %llu times", static_cast<unsigned long long>(s.count));
    const auto same =
        std::find_if(lines.begin(), lines.end(),
                     [&](const Line& line) { return line.text == text; });
    if (same == lines.end()) {
      lines.push_back({text, s.offset});
    } else {
      ++same->more;
    }
  }
  std::string out = lines.empty() ? "" : std::string(title) + '\n';
  for (size_t n = 0; n < std::min(top, lines.size()); ++n) {
    out += Text("  0x%llx", static_cast<unsigned long long>(lines[n].offset));
    if (lines[n].more > 0) out += Text(" and %d others", lines[n].more);
    out += ' ' + lines[n].text + '\n';
  }
  return out;
}

std::string Time(const Profile& p) {
  if (p.time.microseconds == 0) return "";
  std::string out = Text(
      "  with latencies, waits and power: %.2f us, matrix units busy %.1f %% "
      "at "
      "%.2f GHz",
      p.time.microseconds, 100 * p.time.matrix_share, p.time.clock_ghz);
  if (p.tally.matrix_flops > 0) {
    out += Text(", %.4g TFLOP/s", Per(p.tally.matrix_flops * p.scale(),
                                      p.time.microseconds * 1e6));
  }
  return out + '\n';
}

std::string Model(const Profile& p) {
  const LaunchModel& m = p.model;
  std::string out =
      "\nmodelled (rates of gfx950; bounds without latency or stall)\n";
  out += "  a workgroup: " + Bound(p.clocks) + '\n';
  out += Text("  the launch on %d CUs at %.1f GHz: ", kComputeUnits,
              kClockHz / 1e9) +
         Plural(m.groups_on_busiest_cu, "workgroup") +
         " on the busiest CU, in " + Plural(m.rounds, "round") + '\n';
  out += "  at least";
  for (const LaunchModel::Entry& entry : m.times) {
    if (entry.microseconds == 0) continue;
    out += Text(" %s %.2f", entry.name.c_str(), entry.microseconds);
  }
  out += Text(" us: bound by %s, %.2f us", m.bound.c_str(), m.microseconds);
  if (p.tally.matrix_flops > 0) {
    out += Text(", %.4g TFLOP/s of MFMA then",
                Per(p.tally.matrix_flops * p.scale(), m.microseconds * 1e6));
  }
  out +=
      Text("\n  HBM at the %.1f TB/s that streaming kernels reach: %.2f us\n",
           kStreamBytesPerSecond / 1e12, m.hbm_stream_us);
  return out + Time(p);
}

}  // namespace

std::string ToText(const Profile& profile, size_t top) {
  return Head(profile) + Instructions(profile, top) + Loops(profile) +
         Traffic(profile) +
         Spots("LDS bank conflicts, the costliest", profile.lds_spots, top,
               ConflictsOf) +
         Spots("accesses in more lines than needed", profile.vmem_spots, top,
               LinesOf) +
         Model(profile);
}

}  // namespace ingot::profile
