// How fast the emulated gfx950 is: kernels of this project, with the strict
// checks and without, on all cores and on one.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/emulator/workload.h"
#include "bench/emulator/yardstick.h"
#include "bench/report.h"
#include "bench/samples.h"

namespace ingot::bench {
namespace {

using emulator::OpClass;
using emulator::Options;
using emulator::Statistics;

constexpr double kStrictTarget = 3;  // x the time without checks

Options WithChecks(bool enabled) {
  Options options = Options::FromEnvironment();
  for (const emulator::CheckName& check : emulator::kChecks)
    options.*check.enabled = enabled;
  return options;
}

// A way to run a workload; they take turns, so that load hits all alike.
struct Mode {
  std::string name;
  Options options;
  std::vector<double> seconds;
  // Processor time over that of the first mode, run by run: what else runs on
  // the machine hardly shows in it.
  std::vector<double> ratios;
};

enum : size_t { kWithout, kStrict, kAlone, kSingleChecks };

std::vector<Mode> Modes() {
  Options alone = WithChecks(true);
  alone.threads = 1;
  std::vector<Mode> modes(kSingleChecks);
  modes[kWithout] = {"without checks", WithChecks(false)};
  modes[kStrict] = {"strict", WithChecks(true)};
  modes[kAlone] = {"strict, one thread", alone};
  for (const emulator::CheckName& check : emulator::kChecks) {
    Options only = WithChecks(false);
    only.*check.enabled = true;
    modes.push_back({absl::StrCat("check of ", check.name, " alone"), only});
  }
  return modes;
}

constexpr const char* kClassNames[] = {"SALU",    "SMEM", "branch", "wait",
                                       "barrier", "VALU", "trans",  "MFMA",
                                       "LDS",     "VMEM", "LDS DMA"};
static_assert(std::size(kClassNames) == static_cast<size_t>(OpClass::kCount));

std::string ClassShares(const Statistics& statistics) {
  std::vector<std::string> shares;
  for (size_t c = 0; c < std::size(kClassNames); ++c) {
    const double share = 100.0 * static_cast<double>(statistics.executed[c]) /
                         static_cast<double>(statistics.total());
    if (share >= 0.05) {
      shares.push_back(absl::StrFormat("%s %.1f %%", kClassNames[c], share));
    }
  }
  return absl::StrJoin(shares, ", ");
}

// Runs all modes in turn; the statistics are the same for each.
Statistics Measure(const Workload& workload, int runs,
                   std::vector<Mode>* modes) {
  Statistics statistics;
  for (int run = 0; run < runs; ++run) {
    double without = 0;
    for (Mode& mode : *modes) {
      const Run sample = RunOnce(workload, mode.options);
      if (&mode == &modes->front()) without = sample.cpu_seconds;
      mode.seconds.push_back(sample.seconds);
      mode.ratios.push_back(sample.cpu_seconds / without);
      statistics = sample.statistics;
    }
  }
  return statistics;
}

void ReportWorkload(Report& report, const Workload& workload, int runs) {
  std::vector<Mode> modes = Modes();
  const Statistics statistics = Measure(workload, runs, &modes);
  const auto add = [&](const std::string& what, double value, const char* unit,
                       std::optional<Target> target = std::nullopt) {
    report.Add({absl::StrCat(workload.name, ", ", what), value, unit, target});
  };
  report.Section(absl::StrCat(workload.name, ", median of ", runs, "; ",
                              statistics.waves, " waves, ", statistics.total(),
                              " wave instructions: ", ClassShares(statistics)));
  const double strict = Median(modes[kStrict].seconds);
  add("strict", strict, "s", AtMost(workload.seconds_target));
  add("without checks", Median(modes[kWithout].seconds), "s");
  add("strict, one thread", Median(modes[kAlone].seconds), "s");
  add("strict", Median(modes[kStrict].ratios), "x without checks",
      AtMost(kStrictTarget));
  for (size_t n = kSingleChecks; n < modes.size(); ++n)
    add(modes[n].name, Median(modes[n].ratios), "x without checks");
  add("strict", static_cast<double>(statistics.total()) / strict / 1e6,
      "M wave instructions/s");
  if (workload.multiply_adds == 0) return;
  const double rate = workload.multiply_adds / strict;
  add("strict", rate / 1e9, "G multiply-adds/s");
  std::vector<double> host;
  for (int run = 0; run < runs; ++run)
    host.push_back(HostMultiplyAddsPerSecond());
  add("strict", rate / Median(host), "x a plain loop on one core");
}

int Main(int argc, char** argv) {
  bool json = false;
  int runs = 5;
  std::vector<std::string> names;
  for (const Workload& workload : Workloads()) names.push_back(workload.name);
  std::vector<std::string> only = names;
  CLI::App app("Speed of the emulated gfx950");
  app.add_flag("--json", json, "print one JSON object");
  app.add_option("--runs", runs, "of which medians are reported")
      ->check(CLI::PositiveNumber);
  app.add_option("--only", only, "workloads to run")
      ->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);
  Report report(absl::StrJoin(argv, argv + argc, " "), json);
  report.Section(absl::StrCat("interpreter ", emulator::InterpreterLevel()));
  for (const Workload& workload : Workloads()) {
    if (std::find(only.begin(), only.end(), workload.name) == only.end()) {
      continue;
    }
    ReportWorkload(report, workload, runs);
  }
  report.Finish();
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::Main(argc, argv); }
