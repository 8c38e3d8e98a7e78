// Many connections against one daemon for a long time, while everything around
// it fails.
#ifndef INGOT_BENCH_SOAK_SOAK_H_
#define INGOT_BENCH_SOAK_SOAK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/soak/adversary.h"
#include "bench/soak/caller.h"

namespace ingot::bench {

struct SoakOptions {
  double seconds = 600;
  int connections = 64;
  int hot = 200;      // problems that most hits ask for
  int think_ms = 10;  // mean pause of a connection between calls
  int disk_mib = 512;
  uint64_t seed = 1;
};

struct SoakOutcome {
  Tally tally;
  Harm harm;
  uint64_t retries = 0;  // by libingot, within its calls
  double seconds = 0;
  std::string no_disk;           // why the disk could not be filled; else empty
  int64_t verified_damaged = 0;  // by Verify at the end; -1: no answer
  double damaged_found = 0;  // entries that the daemon found damaged, in all
  double dropped_writes = 0;
  int64_t compared = 0;   // objects compiled once more, by an untroubled daemon
  double growth_mib = 0;  // Watch::GrowthMib
  double most_mib = 0;
  double drain_seconds = 0;  // SIGTERM to exit, at the end
};

// From the first thread, before any other: it mounts a file system in a view of
// its own. Ends the program when a daemon does not start.
SoakOutcome RunSoak(const SoakOptions& options);

void ReportSoak(const SoakOutcome& outcome, Report* report);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SOAK_SOAK_H_
