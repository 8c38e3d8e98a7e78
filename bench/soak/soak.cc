#include "bench/soak/soak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "bench/soak/objects.h"
#include "bench/soak/requests.h"
#include "bench/soak/watch.h"
#include "tests/support/small_disk.h"

namespace ingot::bench {
namespace {

using testing::Daemon;
using testing::SmallDisk;

constexpr std::chrono::milliseconds kTick(50);
// Small enough that most hits reach the store, and that all are full before
// the daemon's growth is looked at.
const char* const kSmallCaches[] = {"--memory-cache-mib=1",
                                    "--reply-cache-mib=1", "--plan-cache-mib=4",
                                    "--store-memory-mib=4"};
constexpr int kCompared = 200;

std::unique_ptr<Daemon> Start(testing::DaemonOptions options) {
  absl::StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(options);
  if (!daemon.ok()) Die(std::string(daemon.status().message()));
  return *std::move(daemon);
}

std::unique_ptr<Daemon> StartOn(const SmallDisk& disk, int disk_mib) {
  testing::DaemonOptions options;
  options.state_dir = disk.path();
  options.flags.assign(std::begin(kSmallCaches), std::end(kSmallCaches));
  if (!disk.mounted()) {
    options.flags.push_back(absl::StrCat("--store-quota-mib=", disk_mib));
  }
  return Start(std::move(options));
}

// Compiles what most hits will ask for, and starts the daemon again, so that it
// lies in files where damage finds it.
void Prime(Daemon* daemon, Objects& objects, int hot, Tally* tally) {
  Requests requests(hot);
  Caller caller(daemon->address(), requests, objects, 0, 0);
  for (int problem = 0; problem < hot; ++problem) {
    if (caller.Make(Requests::GetKernel(problem)) != 0) {
      Die(absl::StrCat("problem ", problem, " does not compile"));
    }
  }
  tally->AddFaults(caller.tally());
  if (!daemon->Terminate().ok() || !daemon->Restart().ok()) {
    Die("the daemon does not start again");
  }
}

// Compiles up to kCompared of the objects anew in an empty, quiet daemon.
void Compare(Objects& objects, int asked, SoakOutcome* outcome) {
  const std::unique_ptr<Daemon> daemon = Start({});
  Requests requests(asked);
  Caller caller(daemon->address(), requests, objects, 0, 0);
  const int step = std::max(1, asked / kCompared);
  for (int problem = 0; problem < asked; problem += step) {
    caller.Make(Requests::GetKernel(problem));
    ++outcome->compared;
  }
  outcome->tally.AddFaults(caller.tally());
}

void Drain(Daemon* daemon, SoakOutcome* outcome) {
  absl::StatusOr<int> code = 0;
  outcome->drain_seconds = Seconds([&] { code = daemon->Terminate(); });
  if (code.value_or(-1) != 0) {
    outcome->harm.remarks.push_back(
        absl::StrCat("the daemon did not end well: ", code.status().message()));
  }
}

}  // namespace

SoakOutcome RunSoak(const SoakOptions& options) {
  const SmallDisk disk(options.disk_mib);
  const std::unique_ptr<Daemon> daemon = StartOn(disk, options.disk_mib);
  SoakOutcome outcome;
  Objects objects;
  Prime(daemon.get(), objects, options.hot, &outcome.tally);

  Requests requests(options.hot);
  Watch watch(*daemon);
  Adversary adversary(*daemon, disk, objects, watch, options.seconds,
                      options.seed);
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::thread> threads;
  std::atomic<bool> stop = false;
  for (int i = 0; i < options.connections; ++i) {
    callers.push_back(std::make_unique<Caller>(
        daemon->address(), requests, objects,
        options.seed * 1000 + static_cast<uint64_t>(i), options.think_ms));
    // Not through `callers`, which grows meanwhile.
    Caller* const caller = callers.back().get();
    threads.emplace_back([caller, &stop] { caller->Run(stop); });
  }
  const auto start = std::chrono::steady_clock::now();
  while (outcome.seconds < options.seconds) {
    adversary.Act(outcome.seconds);
    std::this_thread::sleep_for(kTick);
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();

  outcome.no_disk = disk.why();
  outcome.verified_damaged = watch.Verify();
  adversary.End();
  outcome.harm = adversary.harm();
  outcome.damaged_found = watch.Total("ingot_store_damaged_total");
  outcome.dropped_writes = watch.Total("ingot_store_dropped_writes_total");
  outcome.growth_mib = watch.GrowthMib();
  outcome.most_mib = watch.MostMib();
  for (const auto& caller : callers) {
    outcome.tally.Add(caller->tally());
    outcome.retries += caller->retries();
  }
  Drain(daemon.get(), &outcome);
  Compare(objects, requests.asked(), &outcome);
  return outcome;
}

}  // namespace ingot::bench
