// Does a daemon lose, corrupt or hang anything while it is asked by many and
// everything around it fails?
#include <CLI/CLI.hpp>

#include "absl/strings/str_join.h"
#include "bench/report.h"
#include "bench/soak/soak.h"

namespace ingot::bench {
namespace {

int Main(int argc, char** argv) {
  bool json = false;
  SoakOptions options;
  CLI::App app("ingotd under load while workers, disk and it itself fail");
  app.add_flag("--json", json, "print one JSON object");
  app.add_option("--seconds", options.seconds, "how long")
      ->check(CLI::Range(5, 1000000));
  app.add_option("--connections", options.connections)
      ->check(CLI::Range(1, 4096));
  app.add_option("--hot", options.hot, "kernels that most hits ask for")
      ->check(CLI::Range(1, 10000));
  app.add_option("--think-ms", options.think_ms,
                 "mean pause of a connection between calls")
      ->check(CLI::Range(0, 10000));
  app.add_option("--disk-mib", options.disk_mib, "size of the store's disk")
      ->check(CLI::Range(32, 1 << 20));
  app.add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);

  Report report(absl::StrJoin(argv, argv + argc, " "), json);
  ReportSoak(RunSoak(options), &report);
  report.Finish();
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::Main(argc, argv); }
