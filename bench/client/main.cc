// What libingot costs the process it lives in: ingot_prepare of a spec that the
// client knows and of one that only the daemon knows, launches, the library's
// size, and the same of Python and PyTorch.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/client/calls.h"
#include "bench/client/launches.h"
#include "bench/client/scripts.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "bench/service/daemon.h"
#include "ingot/ingot.h"

namespace ingot::bench {
namespace {

constexpr int kHandles = 1000;

// Without the GPU runtime: what is measured is the client and the call.
ingot_prepared* PrepareOnly(Client& client, const RmsnormSpecC& spec) {
  return Prepare(client, spec, INGOT_PREPARE_NO_LOAD);
}

// Nanoseconds of one ingot_prepare, releases not counted.
double KnownSpec(Client& client, const RmsnormSpecC& spec) {
  std::vector<ingot_prepared*> handles(kHandles);
  const double seconds = Seconds([&] {
    for (ingot_prepared*& handle : handles) handle = PrepareOnly(client, spec);
  });
  for (ingot_prepared* handle : handles) ingot_prepared_release(handle);
  return seconds / kHandles * 1e9;
}

// Microseconds of the first ingot_prepare of a client, connection included, and
// of a second spec on that connection.
void NewSpecs(const Daemon& daemon, const RmsnormSpecC& first,
              const RmsnormSpecC& second, std::vector<double>& connecting,
              std::vector<double>& connected) {
  Client client = Connect(daemon.socket());
  ingot_prepared* handle = nullptr;
  connecting.push_back(Seconds([&] { handle = PrepareOnly(client, first); }) *
                       1e6);
  ingot_prepared_release(handle);
  connected.push_back(Seconds([&] { handle = PrepareOnly(client, second); }) *
                      1e6);
  ingot_prepared_release(handle);
}

int Main(int argc, char** argv) {
  bool json = false;
  int runs = 201;
  CLI::App app("What libingot costs the process it lives in");
  app.add_flag("--json", json, "print one JSON object");
  app.add_option("--runs", runs, "of which medians are reported")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  Report report(absl::StrJoin(argv, argv + argc, " "), json);
  const TemporaryDirectory folder;
  const Daemon daemon(folder.path());
  const RmsnormSpecC first(4096);
  const RmsnormSpecC second(8192);
  Client client = Connect(daemon.socket());
  ingot_prepared_release(PrepareOnly(client, first));
  ingot_prepared_release(PrepareOnly(client, second));

  std::vector<double> known;
  std::vector<double> connecting;
  std::vector<double> connected;
  for (int run = 0; run < runs; ++run) {
    known.push_back(KnownSpec(client, first));
    NewSpecs(daemon, first, second, connecting, connected);
  }
  report.Section(absl::StrCat("ingot_prepare, median of ", runs));
  report.Add({"known to the client", Median(known), "ns", AtMost(200)});
  report.Add({"known to the daemon, with kernels", Median(connected), "us",
              std::nullopt});
  report.Add({"first of a client, connection included", Median(connecting),
              "us", std::nullopt});
  ReportLaunches(daemon.socket(), runs, report);
  ReportLibrary(folder.path(), report);
  ReportPython(daemon.socket(), folder.path(), runs, report);
  report.Finish();
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::Main(argc, argv); }
