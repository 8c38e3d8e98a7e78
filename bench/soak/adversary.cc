#include "bench/soak/adversary.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "bench/soak/blob_damage.h"

namespace ingot::bench {
namespace {

constexpr double kWorkerKillPeriod = 2;  // seconds
constexpr double kSamplePeriod = 0.5;
constexpr double kDamagedShare = 0.01;
constexpr double kDamageRounds = 10;

// Shares of the time. Apart, so that what a kill loses is not what a full disk
// dropped; the last tenth is quiet.
constexpr double kDaemonKills[] = {0.20, 0.50};
constexpr double kDiskFull[] = {0.30, 0.65};
constexpr double kFullAtLeast = 0.08;
constexpr double kFullAtMost = 0.18;  // when nobody writes
constexpr double kQuiet = 0.9;

}  // namespace

Adversary::Adversary(testing::Daemon& daemon, const testing::SmallDisk& disk,
                     Objects& objects, Watch& watch, double seconds,
                     uint64_t seed)
    : daemon_(daemon),
      disk_(disk),
      objects_(objects),
      watch_(watch),
      seconds_(seconds),
      random_(seed) {}

bool Adversary::Due(double* next, double elapsed, double period) {
  if (elapsed < *next) return false;
  *next = elapsed + period;
  return true;
}

void Adversary::Act(double elapsed) {
  const double share = elapsed / seconds_;
  if (Due(&next_sample_, elapsed, kSamplePeriod)) watch_.Sample();
  ActOnDisk(share);
  if (share >= kQuiet) return;
  if (Due(&next_worker_kill_, elapsed, kWorkerKillPeriod)) KillWorkers();
  if (Due(&next_damage_, elapsed, seconds_ / kDamageRounds)) Damage();
  const size_t kills = static_cast<size_t>(harm_.daemon_kills);
  if (kills < std::size(kDaemonKills) && share >= kDaemonKills[kills] &&
      !objects_.disk_full()) {
    RestartDaemon();
  }
}

void Adversary::KillWorkers() {
  for (const pid_t worker : daemon_.Workers()) {
    if (kill(worker, SIGKILL) == 0) ++harm_.workers_killed;
  }
}

void Adversary::Damage() {
  for (const std::string& digest :
       DamageObjects(daemon_.state_dir() + "/store", kDamagedShare, random_)) {
    objects_.NoteDamaged(digest);
    ++harm_.objects_damaged;
  }
}

void Adversary::ActOnDisk(double share) {
  const auto fill = static_cast<size_t>(fills_);
  if (!disk_.mounted()) return;
  const bool read_only = watch_.Now("ingot_store_read_only") != 0;
  if (filled_) {
    seen_read_only_ = seen_read_only_ || read_only;
    const double full = share - kDiskFull[fill];
    if (full < (seen_read_only_ ? kFullAtLeast : kFullAtMost)) {
      disk_.Fill();  // what the store gives back is taken, too
    } else {
      EmptyDisk();
    }
  } else if (objects_.disk_full()) {
    if (!read_only) NoteHealed();
  } else if (fill < std::size(kDiskFull) && share >= kDiskFull[fill]) {
    FillDisk();
  }
}

void Adversary::FillDisk() {
  objects_.SetDiskFull(true);
  watch_.Sample();
  given_up_before_ = GivenUp();
  filled_ = true;
  seen_read_only_ = false;
  disk_.Fill();
}

void Adversary::EmptyDisk() {
  disk_.Free();
  filled_ = false;
  ++fills_;
  if (seen_read_only_) ++harm_.disk_fills;
}

void Adversary::NoteHealed() {
  watch_.Sample();
  explained_ += GivenUp() - given_up_before_;
  objects_.SetDiskFull(false);
  if (seen_read_only_) ++harm_.disk_heals;
}

double Adversary::GivenUp() const {
  return watch_.Total("ingot_store_dropped_writes_total") +
         watch_.Total("ingot_store_evictions_total");
}

void Adversary::RestartDaemon() {
  CountLost();  // what goes missing from here on is the kill's doing
  watch_.Sample();
  daemon_.Kill();
  ++harm_.daemon_kills;
  absl::Status started;
  const double seconds = Seconds([&] { started = daemon_.Restart(); });
  if (!started.ok()) Die(std::string(started.message()));
  harm_.restart_seconds = std::max(harm_.restart_seconds, seconds);
  watch_.NoteRestart();
  CountLost();
}

void Adversary::CountLost() {
  const std::set<std::string> before = objects_.stored();
  const std::optional<std::set<std::string>> listed = watch_.List();
  if (!listed.has_value()) {
    harm_.remarks.push_back("List was not answered");
    return;
  }
  const auto missing =
      static_cast<double>(objects_.TakeMissing(before, *listed).size());
  watch_.Sample();
  const double explained = std::min(missing, GivenUp() - explained_);
  explained_ += explained;
  if (missing > explained) {
    harm_.lost += static_cast<int64_t>(missing - explained);
    harm_.remarks.push_back(absl::StrCat(
        missing - explained, " of ", before.size(),
        " stored objects were not listed after ", harm_.daemon_kills,
        " kills of the daemon and ", harm_.disk_fills, " fills of the disk"));
  }
}

void Adversary::End() {
  if (filled_) EmptyDisk();
  if (objects_.disk_full()) {
    harm_.remarks.push_back("the store did not write again after a full disk");
  }
  CountLost();
}

}  // namespace ingot::bench
