#include "tests/emulator/profile/cu_time.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>

namespace ingot::profile {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Operations that a counter counts, by when they are done; in order, as the
// hardware's counters are waited for.
class Outstanding {
 public:
  explicit Outstanding(size_t most) : most_(most) {}

  double last() const { return last_; }
  void Add(double done) {
    last_ = std::max(last_, done);
    done_.push_back(last_);
  }
  // When at most `left` are outstanding.
  double Until(size_t left) const {
    return done_.size() <= left ? 0 : done_[done_.size() - left - 1];
  }
  // When another one may be counted.
  double Room() const { return Until(most_ - 1); }
  void Forget(double now) {
    while (!done_.empty() && done_.front() <= now) done_.pop_front();
  }

 private:
  size_t most_;
  double last_ = 0;
  std::deque<double> done_;
};

struct Wave {
  int group = -1;  // place among the resident ones; -1 before any
  int simd = 0;
  const std::vector<uint32_t>* steps = nullptr;
  size_t next = 0;
  double ready = 0;
  double issued = 0;
  int priority = 0;
  bool at_barrier = false;
  Outstanding vm{kMostVm};
  Outstanding lgkm{kMostLgkm};

  bool ended() const { return next == steps->size(); }
};

struct Simd {
  double matrix_free = 0;
  double vector_issue = 0;  // MFMA and vector instructions share it
  double scalar_issue = 0;
  double matrix_busy = 0;
};

class ComputeUnit {
 public:
  explicit ComputeUnit(const CuWork& work) : work_(work) {}
  CuTime Run();

 private:
  const Step& NextOf(const Wave& wave) const {
    return work_.trace->steps[(*wave.steps)[wave.next]];
  }
  void Start(int place, double now);
  double EarliestIssue(const Wave& wave) const;
  void Issue(Wave& wave, double now);
  double Memory(const Step& step, double now);
  void LeaveBarrier(int group, double now);
  void End(const Wave& wave, double now);

  const CuWork& work_;
  std::vector<Wave> waves_;
  std::vector<int> running_;  // waves of each resident group
  std::array<Simd, kSimds> simds_;
  int started_ = 0;
  int next_simd_ = 0;
  double lds_free_ = 0;
  double vmem_free_ = 0;
  double l2_free_ = 0;
  double hbm_free_ = 0;
  double end_ = 0;
};

void ComputeUnit::Start(int place, double now) {
  ++started_;
  const Trace& trace = *work_.trace;
  running_[place] = static_cast<int>(trace.waves.size());
  const size_t first = static_cast<size_t>(place) * trace.waves.size();
  for (size_t n = 0; n < trace.waves.size(); ++n) {
    Wave wave;
    wave.group = place;
    wave.simd = next_simd_;
    next_simd_ = (next_simd_ + 1) % kSimds;
    wave.steps = &trace.waves[n];
    wave.ready = now;
    waves_[first + n] = std::move(wave);
  }
  for (size_t n = 0; n < trace.waves.size(); ++n) {
    if (waves_[first + n].ended()) End(waves_[first + n], now);
  }
}

double ComputeUnit::EarliestIssue(const Wave& wave) const {
  if (wave.ended() || wave.at_barrier) return kNever;
  const Step& step = NextOf(wave);
  const Simd& simd = simds_[wave.simd];
  double at = wave.ready;
  switch (step.cls) {
    case Class::kMfma:
      at = std::max({at, simd.vector_issue, simd.matrix_free});
      break;
    case Class::kValu:
    case Class::kTrans:
      at = std::max(at, simd.vector_issue);
      break;
    case Class::kSalu:
      at = std::max(at, simd.scalar_issue);
      break;
    case Class::kWait:
      at = std::max(
          {at, wave.vm.Until(step.waits.vm), wave.lgkm.Until(step.waits.lgkm)});
      break;
    default:
      break;
  }
  if (step.counts_vm) at = std::max(at, wave.vm.Room());
  if (step.counts_lgkm) at = std::max(at, wave.lgkm.Room());
  return at;
}

// When the bytes of a vector memory instruction have come or gone.
double ComputeUnit::Memory(const Step& step, double now) {
  vmem_free_ = std::max(now, vmem_free_) + step.vmem_clocks;
  l2_free_ =
      std::max(vmem_free_, l2_free_) + step.l2_bytes / kL2ReachedBytesPerClock;
  const double from_hbm = step.l2_bytes * work_.hbm_share;
  const double bytes_per_clock = work_.hbm_bytes_per_second / work_.clock_hz;
  hbm_free_ = std::max(vmem_free_, hbm_free_) + from_hbm / bytes_per_clock;
  // A step of many lines waits for the slowest of them.
  const double latency =
      (work_.hbm_share > 0.05 ? kHbmSeconds : kL2Seconds) * work_.clock_hz;
  return std::max(l2_free_, hbm_free_) + latency;
}

void ComputeUnit::Issue(Wave& wave, double now) {
  const Step& step = NextOf(wave);
  Simd& simd = simds_[wave.simd];
  ++wave.next;
  wave.issued = now;
  wave.ready = now + kIssueClocks * step.slots;
  wave.vm.Forget(now);
  wave.lgkm.Forget(now);
  if (step.priority >= 0) wave.priority = step.priority;
  switch (step.cls) {
    case Class::kMfma:
      simd.matrix_free = now + step.unit_clocks;
      simd.matrix_busy += step.unit_clocks;
      simd.vector_issue = now + kIssueClocks;
      break;
    case Class::kValu:
    case Class::kTrans:
      simd.vector_issue = now + step.unit_clocks;
      break;
    case Class::kSalu:
      simd.scalar_issue = now + kSaluClocks;
      break;
    case Class::kSmem:
      wave.lgkm.Add(now + kScalarSeconds * work_.clock_hz);
      break;
    case Class::kLds:
      lds_free_ = std::max(now, lds_free_) + step.lds_clocks;
      wave.lgkm.Add(lds_free_ + kLdsLatencyClocks);
      break;
    case Class::kLdsDma:
      lds_free_ = std::max(now, lds_free_) + step.lds_clocks;
      wave.vm.Add(Memory(step, now));
      break;
    case Class::kVmem:
      wave.vm.Add(Memory(step, now));
      break;
    case Class::kBarrier:
      wave.at_barrier = true;
      LeaveBarrier(wave.group, now);
      break;
    default:
      break;
  }
  if (wave.ended()) End(wave, wave.ready);
}

// A group's waves go on when all have come that have not ended.
void ComputeUnit::LeaveBarrier(int group, double now) {
  for (const Wave& wave : waves_) {
    if (wave.group == group && !wave.ended() && !wave.at_barrier) return;
  }
  for (Wave& wave : waves_) {
    if (wave.group != group || !wave.at_barrier) continue;
    wave.at_barrier = false;
    wave.ready = std::max(wave.ready, now + kBarrierClocks);
  }
}

void ComputeUnit::End(const Wave& wave, double now) {
  end_ = std::max({end_, now, wave.vm.last(), wave.lgkm.last()});
  if (--running_[wave.group] > 0) {
    LeaveBarrier(wave.group, now);
    return;
  }
  if (started_ < work_.groups) Start(wave.group, now + kDispatchClocks);
}

CuTime ComputeUnit::Run() {
  const int resident = std::min(work_.resident, work_.groups);
  waves_.resize(work_.trace->waves.size() * static_cast<size_t>(resident));
  running_.resize(static_cast<size_t>(resident));
  for (int place = 0; place < resident; ++place) Start(place, 0);
  for (;;) {
    Wave* chosen = nullptr;
    double at = kNever;
    for (Wave& wave : waves_) {
      const double issue = EarliestIssue(wave);
      if (issue == kNever || issue > at) continue;
      // Of those that could issue now: by priority, then who waited longest.
      if (issue == at && chosen != nullptr &&
          (wave.priority < chosen->priority ||
           (wave.priority == chosen->priority &&
            wave.issued >= chosen->issued))) {
        continue;
      }
      chosen = &wave;
      at = issue;
    }
    if (chosen == nullptr) break;
    Issue(*chosen, at);
  }
  CuTime time{.clocks = end_};
  for (const Simd& simd : simds_) {
    time.matrix_clocks = std::max(time.matrix_clocks, simd.matrix_busy);
  }
  return time;
}

}  // namespace

CuTime TimeOf(const CuWork& work) {
  if (work.trace->empty() || work.groups < 1) return {};
  return ComputeUnit(work).Run();
}

}  // namespace ingot::profile
