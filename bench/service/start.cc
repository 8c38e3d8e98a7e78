#include "bench/service/start.h"

#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "bench/service/daemon.h"
#include "bench/service/load.h"
#include "cache/bulk_fill.h"
#include "ingot/v1/admin.grpc.pb.h"

namespace ingot::bench {
namespace {

constexpr double kMiB = 1 << 20;
constexpr size_t kBodyBytes = 1 << 10;
constexpr double kServingTarget = 2;     // seconds, whatever the store holds
constexpr double kResidentTarget = 150;  // MiB, likewise; its caches are empty
constexpr std::chrono::seconds kSettle(1);

void Fill(const std::string& folder, int64_t entries) {
  cache::BulkFillOptions options;
  options.directory = StoreFolder(folder);
  options.entries = static_cast<uint64_t>(entries);
  options.object_bytes = kBodyBytes;
  const absl::Status filled = cache::BulkFill(options);
  if (!filled.ok()) Die(absl::StrCat("BulkFill: ", filled.message()));
}

// A start over an empty store would be quick too.
void ExpectEntries(const Daemon& daemon, int64_t entries) {
  const auto stub = v1::Admin::NewStub(OwnChannel(daemon.socket()));
  grpc::ClientContext context;
  v1::StatsResponse stats;
  const grpc::Status status = stub->Stats(&context, v1::StatsRequest(), &stats);
  if (!status.ok()) Die("Stats: " + status.error_message());
  if (stats.entries() != static_cast<uint64_t>(entries)) {
    Die(absl::StrCat("the daemon has ", stats.entries(), " entries, not ",
                     entries));
  }
}

// Of a daemon at rest: its own memory, and that of all its workers.
struct Rest {
  double daemon = 0;
  double workers = 0;
  int worker_count = 0;
};

Rest AtRest(const Daemon& daemon) {
  std::this_thread::sleep_for(kSettle);
  Rest rest;
  rest.daemon = MemoryOf(daemon.pid()).resident / kMiB;
  for (const pid_t worker : ChildrenOf(daemon.pid())) {
    rest.workers += MemoryOf(worker).resident / kMiB;
    ++rest.worker_count;
  }
  return rest;
}

}  // namespace

void ReportStart(Report& report, const StartOptions& options) {
  for (const int64_t entries : options.entries) {
    const std::string store = absl::StrCat(entries, " entries of 1 KiB");
    report.Section(absl::StrCat("ingotd with ", store, ", median of ",
                                options.runs, " starts"));
    const TemporaryDirectory folder;
    if (entries > 0) Fill(folder.path(), entries);
    std::vector<double> seconds;
    Rest rest;
    for (int run = 0; run < options.runs; ++run) {
      const Daemon daemon(folder.path());
      seconds.push_back(daemon.seconds_to_serving());
      if (run > 0) continue;
      ExpectEntries(daemon, entries);
      rest = AtRest(daemon);
    }
    report.Add({store + ": start to SERVING", Median(seconds), "s",
                AtMost(kServingTarget)});
    report.Add({store + ": daemon resident", rest.daemon, "MiB",
                AtMost(kResidentTarget)});
    report.Add(
        {absl::StrCat(store, ": ", rest.worker_count, " workers resident"),
         rest.workers, "MiB", std::nullopt});
  }
}

}  // namespace ingot::bench
