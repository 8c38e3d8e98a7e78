#include <numeric>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/samples.h"
#include "bench/soak/soak.h"

namespace ingot::bench {
namespace {

constexpr double kDrainTarget = 10;  // seconds
// What a daemon at work may take more than it took a third of the time before.
constexpr double kGrowthTarget = 8;  // MiB

template <typename Count>
Figure Plain(const std::string& name, Count value, const std::string& unit) {
  return {name, static_cast<double>(value), unit, std::nullopt};
}

template <typename Count>
Figure None(const std::string& name, Count value) {
  return {name, static_cast<double>(value), "", AtMost(0)};
}

void ReportCalls(const SoakOutcome& outcome, Report* report) {
  const Tally& tally = outcome.tally;
  const int64_t calls =
      std::accumulate(tally.codes.begin(), tally.codes.end(), int64_t{0});
  report->Section("calls");
  report->Add(Plain("calls", calls, ""));
  report->Add(Plain("calls a second",
                    static_cast<double>(calls) / outcome.seconds, "1/s"));
  for (size_t code = 0; code < tally.codes.size(); ++code) {
    if (tally.codes[code] == 0) continue;
    report->Add(Plain(
        absl::StrCat("ended in ", absl::StatusCodeToString(
                                      static_cast<absl::StatusCode>(code))),
        tally.codes[code], ""));
  }
  report->Add(Plain("repeated by the client", outcome.retries, ""));
  constexpr const char* kNames[] = {"hit", "cold compile", "batch of 20",
                                    "object read", "bad request"};
  for (int kind = 0; kind < kKinds; ++kind) {
    const std::vector<float>& taken = tally.milliseconds[kind];
    if (taken.empty()) continue;
    const std::vector<double> samples(taken.begin(), taken.end());
    report->Add(Plain(absl::StrCat(kNames[kind], ", p50"),
                      Percentile(samples, 0.5), "ms"));
    report->Add(Plain(absl::StrCat(kNames[kind], ", p99"),
                      Percentile(samples, 0.99), "ms"));
  }
}

void ReportHarm(const SoakOutcome& outcome, Report* report) {
  const Harm& harm = outcome.harm;
  report->Section(outcome.no_disk.empty()
                      ? "what was done to it"
                      : absl::StrCat("what was done to it (the disk was not "
                                     "filled, a quota stands in: ",
                                     outcome.no_disk, ")"));
  report->Add(Plain("workers killed", harm.workers_killed, ""));
  report->Add(Plain("daemon killed", harm.daemon_kills, ""));
  report->Add(Plain("objects damaged on disk", harm.objects_damaged, ""));
  report->Add(Plain("entries found damaged", outcome.damaged_found, ""));
  report->Add(Plain("disk filled", harm.disk_fills, ""));
  report->Add(Plain("writes resumed", harm.disk_heals, ""));
  report->Add(Plain("writes dropped", outcome.dropped_writes, ""));
  report->Add(
      Plain("objects compared with a quiet daemon's", outcome.compared, ""));
}

}  // namespace

void ReportSoak(const SoakOutcome& outcome, Report* report) {
  ReportCalls(outcome, report);
  ReportHarm(outcome, report);
  report->Section("what came of it");
  report->Add(None("wrong answers", outcome.tally.wrong));
  report->Add(None("stuck calls", outcome.tally.stuck));
  report->Add(None("unexpected errors", outcome.tally.unexpected));
  report->Add(None("lost objects", outcome.harm.lost));
  report->Add({"restart after SIGKILL, longest", outcome.harm.restart_seconds,
               "s", AtMost(2)});
  report->Add({"drain", outcome.drain_seconds, "s", AtMost(kDrainTarget)});
  report->Add(Plain("daemon resident, most", outcome.most_mib, "MiB"));
  report->Add({"daemon resident, growth", outcome.growth_mib, "MiB",
               AtMost(kGrowthTarget)});
  for (const std::string& remark : outcome.harm.remarks) {
    report->Section(remark);
  }
  for (const std::string& example : outcome.tally.examples) {
    report->Section(example);
  }
}

}  // namespace ingot::bench
