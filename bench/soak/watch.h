// What a soak sees of its daemon from outside: memory, counters, the listing of
// its store.
#ifndef INGOT_BENCH_SOAK_WATCH_H_
#define INGOT_BENCH_SOAK_WATCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ingot/v1/admin.pb.h"
#include "tests/support/daemon.h"

namespace ingot::bench {

// Not thread-safe.
class Watch {
 public:
  explicit Watch(const testing::Daemon& daemon) : daemon_(daemon) {}

  // Takes a sample of memory and counters; nothing when the daemon does not
  // answer.
  void Sample();
  // The counters begin at zero again; earlier values are added up.
  void NoteRestart();

  // Over all lives of the daemon, as sampled last.
  double Total(const std::string& counter) const;
  // As sampled last.
  double Now(const std::string& counter) const;

  // Keys in the store. Nullopt when the daemon does not answer.
  std::optional<std::set<std::string>> List() const;
  // Entries that Verify finds damaged, and drops; -1: no answer.
  int64_t Verify() const;

  // Resident memory since the last start: MiB that the last third of the time
  // takes more than the middle one, by their medians, and the most there was.
  double GrowthMib() const;
  double MostMib() const;

 private:
  const testing::Daemon& daemon_;
  std::map<std::string, double> now_;
  std::map<std::string, double> before_;
  std::vector<double> resident_mib_;
};

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SOAK_WATCH_H_
