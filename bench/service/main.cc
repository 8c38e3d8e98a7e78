// What the service costs: hits beside an empty gRPC echo on the same kind of
// socket, many calls at once, its end, starts with full stores, memory. Cold
// compiles: bench/worker.
#include <CLI/CLI.hpp>

#include "absl/strings/str_join.h"
#include "bench/report.h"
#include "bench/service/hits.h"
#include "bench/service/start.h"
#include "bench/service/strain.h"

namespace ingot::bench {
namespace {

int Main(int argc, char** argv) {
  bool json = false;
  std::vector<std::string> only = {"hits", "strain", "start"};
  HitOptions hits;
  StrainOptions strain;
  StartOptions start;
  CLI::App app("Hits beside an empty gRPC echo; start-up and memory of ingotd");
  app.add_flag("--json", json, "print one JSON object");
  app.add_option("--only", only, "parts to run")
      ->check(CLI::IsMember({"hits", "strain", "start"}));
  app.add_option("--runs", hits.runs, "of which medians are reported")
      ->check(CLI::PositiveNumber);
  app.add_option("--calls", hits.calls, "of each subject, a run")
      ->check(CLI::Range(100, 1000000));
  app.add_option("--seconds", hits.seconds, "of each rate")
      ->check(CLI::PositiveNumber);
  app.add_option("--entries", start.entries, "stores to start with");
  CLI11_PARSE(app, argc, argv);
  start.runs = strain.runs = hits.runs;
  strain.calls = hits.calls;

  Report report(absl::StrJoin(argv, argv + argc, " "), json);
  for (const std::string& part : only) {
    if (part == "hits") ReportHits(report, hits);
    if (part == "strain") ReportStrain(report, strain);
    if (part == "start") ReportStart(report, start);
  }
  report.Finish();
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::Main(argc, argv); }
