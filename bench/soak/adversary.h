// What goes wrong during a soak: workers and daemon killed, stored bytes
// changed, the disk full; each at its share of the time.
#ifndef INGOT_BENCH_SOAK_ADVERSARY_H_
#define INGOT_BENCH_SOAK_ADVERSARY_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/soak/objects.h"
#include "bench/soak/watch.h"
#include "tests/support/daemon.h"
#include "tests/support/small_disk.h"

namespace ingot::bench {

struct Harm {
  int workers_killed = 0;
  int objects_damaged = 0;
  int disk_fills = 0;  // that made the store read-only
  int disk_heals = 0;  // after which it wrote again by itself
  int daemon_kills = 0;
  double restart_seconds = 0;  // the longest, until it served again
  // Objects that were stored and are gone, with no damage, eviction or dropped
  // write to account for them.
  int64_t lost = 0;
  std::vector<std::string> remarks;  // what should not have happened
};

// Used from the first thread only, which alone may start programs.
class Adversary {
 public:
  // All must outlive it; `seconds` is how long the soak takes.
  Adversary(testing::Daemon& daemon, const testing::SmallDisk& disk,
            Objects& objects, Watch& watch, double seconds, uint64_t seed);

  // Does what is due `elapsed` seconds after the start.
  void Act(double elapsed);
  // After the last call was made: frees the disk, and looks for what is lost.
  void End();

  const Harm& harm() const { return harm_; }

 private:
  // True once every `period` seconds.
  bool Due(double* next, double elapsed, double period);
  void KillWorkers();
  void Damage();
  void ActOnDisk(double share);
  void FillDisk();
  void EmptyDisk();
  void NoteHealed();
  void RestartDaemon();
  // Writes dropped and entries evicted so far.
  double GivenUp() const;
  void CountLost();

  testing::Daemon& daemon_;
  const testing::SmallDisk& disk_;
  Objects& objects_;
  Watch& watch_;
  const double seconds_;
  std::mt19937_64 random_;
  double next_worker_kill_ = 2;
  double next_damage_ = 1;
  double next_sample_ = 0;
  int fills_ = 0;                // of the disk, that are over
  bool filled_ = false;          // the ballast is there
  bool seen_read_only_ = false;  // since it is
  // GivenUp when the disk was filled, and of all what is spoken for: by a full
  // disk, whose time is not looked at, or by objects found missing.
  double given_up_before_ = 0;
  double explained_ = 0;
  Harm harm_;
};

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SOAK_ADVERSARY_H_
