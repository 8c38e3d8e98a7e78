// Runs the workgroups of a launch on the host's cores.
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>

#include "tests/emulator/checks.h"
#include "tests/emulator/launch.h"
#include "tests/emulator/report.h"
#include "tests/emulator/watcher.h"

namespace ingot::emulator {
namespace {

// Instructions a wave runs before the next gets its turn, so that a wave that
// polls another's flag does not poll for ever; s_sleep ends its turn at once.
constexpr uint64_t kSlice = 1 << 14;
constexpr uint64_t kDefaultLimit = uint64_t{1} << 34;

// Memory for waves, kept from group to group.
class Arena {
 public:
  explicit Arena(size_t bytes) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_ = p == MAP_FAILED ? nullptr : p;
  }
  ~Arena() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }

 private:
  void* data_;
  size_t bytes_;
};

struct Shared {
  Launch* launch;
  uint64_t groups;
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  RunResult result;  // guarded by mutex
  uint64_t fault_group = ~uint64_t{0};
};

class Worker {
 public:
  explicit Worker(Shared* shared)
      : shared_(*shared),
        launch_(*shared->launch),
        threads_(launch_.block[0] * launch_.block[1] * launch_.block[2]),
        waves_count_((threads_ + kLanes - 1) / kLanes),
        waves_(waves_count_ * sizeof(Wave)),
        lds_(launch_.lds_bytes + 16),
        scratch_bytes_(launch_.kernel->scratch_bytes),
        scratch_(std::max<size_t>(
            size_t{scratch_bytes_} * kLanes * waves_count_, 16)) {}

  bool ok() const {
    return waves_.data() != nullptr && lds_.data() != nullptr &&
           scratch_.data() != nullptr;
  }

  void Loop() {
    for (size_t n = 0; n < waves_count_; ++n) {
      group_.waves.push_back(new (waves_.data() + n * sizeof(Wave)) Wave);
    }
    group_.launch = &launch_;
    watchers_ = MakeChecks(launch_.options);
    for (const WatcherFactory& make : launch_.watchers)
      watchers_.push_back(make());
    for (const auto& watcher : watchers_) {
      group_.watchers.push_back(watcher.get());
      for (int c = 0; c < static_cast<int>(OpClass::kCount); ++c) {
        if ((watcher->before() >> c & 1) != 0)
          group_.before[c].push_back(watcher.get());
        if ((watcher->after() >> c & 1) != 0)
          group_.after[c].push_back(watcher.get());
      }
    }
    group_.lds = lds_.data();
    group_.lds_bytes = launch_.lds_bytes;
    while (!launch_.stop.load(std::memory_order_relaxed)) {
      const uint64_t next = shared_.next.fetch_add(1);
      if (next >= shared_.groups) break;
      if (!RunGroup(launch_.groups.empty() ? next : launch_.groups[next]))
        break;
    }
    std::lock_guard<std::mutex> lock(shared_.mutex);
    shared_.result.statistics.Add(statistics_);
    for (Wave* w : group_.waves) w->~Wave();
  }

 private:
  void StartGroup(uint64_t index) {
    group_.id[0] = static_cast<uint32_t>(index % launch_.grid[0]);
    group_.id[1] =
        static_cast<uint32_t>(index / launch_.grid[0] % launch_.grid[1]);
    group_.id[2] =
        static_cast<uint32_t>(index / launch_.grid[0] / launch_.grid[1]);
    std::fill_n(reinterpret_cast<uint32_t*>(lds_.data()), launch_.lds_bytes / 4,
                kRegisterPoison);
    std::memset(scratch_.data(), 0xa5,
                size_t{scratch_bytes_} * kLanes * waves_count_);
    for (size_t n = 0; n < waves_count_; ++n) StartWave(n);
    for (Watcher* watcher : group_.watchers) watcher->StartGroup(group_);
  }

  // Registers that the kernel may use: the descriptor counts both files.
  void PoisonRegisters(Wave& w) const {
    const KernelInfo& k = *launch_.kernel;
    const uint32_t total = ((k.rsrc1 & 63) + 1) * 8;
    const uint32_t accum =
        std::min<uint32_t>(((k.rsrc3 & 63) + 1) * 4, kAccBase);
    const uint32_t arch = std::min(total, accum);
    std::fill_n(&w.v[0][0], size_t{arch} * kLanes, kRegisterPoison);
    std::fill_n(&w.v[kAccBase][0],
                std::min<size_t>(total - arch, kAccBase) * kLanes,
                kRegisterPoison);
    std::fill_n(w.s, kSgprs, kRegisterPoison);
  }

  void StartWave(size_t n) {
    Wave& w = *group_.waves[n];
    w.index = static_cast<int>(n);
    w.group = &group_;
    w.launch = &launch_;
    w.state = WaveState::kReady;
    w.pc = launch_.entry;
    w.scc = 0;
    w.gpr_idx = false;
    w.check_waits = launch_.options.check_waits;
    w.check_alignment = launch_.options.check_alignment;
    w.check_bounds = launch_.options.check_bounds;
    w.count_waits = w.check_waits || launch_.options.check_lds_races;
    w.hit_begin = w.hit_end = 0;
    w.waits.Reset(w.check_waits);
    w.accesses = group_.watchers.empty() ? nullptr : &accesses_;
    w.fault = Fault();
    w.scratch_bytes = scratch_bytes_;
    w.scratch = scratch_.data() + size_t{scratch_bytes_} * kLanes * n;
    std::memset(w.executed, 0, sizeof(w.executed));
    w.clipped_loads = w.clipped_stores = 0;
    w.misaligned_loads = w.misaligned_stores = 0;
    PoisonRegisters(w);
    ScalarInputs(w);
    VectorInputs(w);
    const uint32_t rsrc1 = launch_.kernel->rsrc1;
    w.SetMode((rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 |
              (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23);
  }

  // User and system SGPRs, in the order of the kernel descriptor.
  void ScalarInputs(Wave& w) {
    const KernelInfo& k = *launch_.kernel;
    int at = 0;
    auto skip = [&](int bit, int words) {
      if ((k.properties >> bit & 1) != 0) at += words;
    };
    auto pair = [&](int bit, uint64_t value) {
      if ((k.properties >> bit & 1) == 0) return;
      w.SetS64(at, value);
      at += 2;
    };
    skip(0, 4);  // the private segment buffer of older ABIs
    pair(1, reinterpret_cast<uint64_t>(launch_.packet));
    pair(2, reinterpret_cast<uint64_t>(
                launch_.packet));  // a queue pointer that can be read
    pair(3, launch_.kernarg_address);
    pair(4, 0);
    skip(5, 2);
    if ((k.properties >> 6 & 1) != 0) w.s[at++] = k.scratch_bytes;
    const int preload = k.preload & 0x7f;
    const size_t from = size_t{k.preload} >> 7 & 0x1ff;
    for (int n = 0; n < preload && at < 16; ++n) {
      const size_t byte = (from + static_cast<size_t>(n)) * 4;
      if (byte + 4 <= launch_.kernarg.size())
        std::memcpy(&w.s[at], &launch_.kernarg[byte], 4);
      ++at;
    }
    at = std::max<int>(at, static_cast<int>(k.rsrc2 >> 1 & 31));
    for (int d = 0; d < 3; ++d) {
      if ((k.rsrc2 >> (7 + d) & 1) != 0) w.s[at++] = group_.id[d];
    }
    if ((k.rsrc2 >> 10 & 1) != 0)
      w.s[at++] = static_cast<uint32_t>(waves_count_);
    w.SetS64(kFlatScratch, kPrivateAperture);
  }

  void VectorInputs(Wave& w) {
    uint64_t exec = 0;
    for (int l = 0; l < kLanes; ++l) {
      const uint32_t flat = static_cast<uint32_t>(w.index * kLanes + l);
      if (flat < threads_) exec |= uint64_t{1} << l;
      const uint32_t x = flat % launch_.block[0];
      const uint32_t y = flat / launch_.block[0] % launch_.block[1];
      const uint32_t z = flat / launch_.block[0] / launch_.block[1];
      w.v[0][l] = (x & 0x3ff) | (y & 0x3ff) << 10 | (z & 0x3ff) << 20;
    }
    w.SetS64(kExec, exec);
    w.born = exec;
  }

  // False after a fault.
  bool RunGroup(uint64_t index) {
    StartGroup(index);
    bool ok = true;
    while (ok && Turn(&ok)) {
    }
    for (const Wave* w : group_.waves) {
      for (int c = 0; c < static_cast<int>(OpClass::kCount); ++c) {
        statistics_.executed[c] += w->executed[c];
      }
      statistics_.clipped_loads += w->clipped_loads;
      statistics_.clipped_stores += w->clipped_stores;
      statistics_.misaligned_loads += w->misaligned_loads;
      statistics_.misaligned_stores += w->misaligned_stores;
    }
    statistics_.waves += waves_count_;
    if (ok && !launch_.stop.load(std::memory_order_relaxed)) {
      for (Watcher* watcher : group_.watchers) watcher->EndGroup(group_);
      ok = !ReportFault();
    }
    return ok;
  }

  // Gives each wave that can run one turn; false when none is left.
  bool Turn(bool* ok) {
    bool ready = false;
    for (size_t n = 0; n < waves_count_; ++n) {
      Wave& w =
          *group_
               .waves[launch_.options.reverse_waves ? waves_count_ - 1 - n : n];
      if (w.state != WaveState::kReady) continue;
      if (launch_.stop.load(std::memory_order_relaxed)) return false;
      launch_.isa->run(w, static_cast<int64_t>(std::min(kSlice, Limit() + 1)));
      if (w.state == WaveState::kYields) w.state = WaveState::kReady;
      if (w.state == WaveState::kReady) CheckLimit(w);
      if (w.state == WaveState::kFault) {
        Report(w);
        *ok = false;
        return false;
      }
      ready = ready || w.state == WaveState::kReady;
    }
    return ready || PassBarrier(ok);
  }

  // Lets the waves that wait at a barrier go on; false when there is none, or
  // after a fault.
  bool PassBarrier(bool* ok) {
    const auto waits = [](const Wave* w) {
      return w->state == WaveState::kBarrier;
    };
    if (std::none_of(group_.waves.begin(), group_.waves.end(), waits))
      return false;
    for (Watcher* watcher : group_.watchers) watcher->Barrier(group_);
    if (ReportFault()) {
      *ok = false;
      return false;
    }
    for (Wave* w : group_.waves) {
      if (waits(w)) w->state = WaveState::kReady;
    }
    return true;
  }

  // Reports the fault that a watcher raised, if any.
  bool ReportFault() {
    for (const Wave* w : group_.waves) {
      if (w->state != WaveState::kFault) continue;
      Report(*w);
      return true;
    }
    return false;
  }

  // Instructions that a wave may run in all.
  uint64_t Limit() const {
    return launch_.options.max_instructions != 0
               ? launch_.options.max_instructions
               : kDefaultLimit;
  }

  void CheckLimit(Wave& w) const {
    uint64_t total = 0;
    for (const uint64_t n : w.executed) total += n;
    if (total > Limit()) {
      w.Raise(FaultKind::kStuck, -1, 0,
              "more instructions than the limit allows");
    }
  }

  // The lowest-numbered faulting group reports.
  void Report(const Wave& w) {
    launch_.stop.store(true);
    const uint64_t index =
        group_.id[0] +
        uint64_t{launch_.grid[0]} *
            (group_.id[1] + uint64_t{launch_.grid[1]} * group_.id[2]);
    std::lock_guard<std::mutex> lock(shared_.mutex);
    if (index >= shared_.fault_group) return;
    shared_.fault_group = index;
    shared_.result.status = w.fault.kind == FaultKind::kIllegalAddress
                                ? RunStatus::kIllegalAddress
                                : RunStatus::kLaunchFailure;
    shared_.result.report = FaultReport(w);
  }

  Shared& shared_;
  Launch& launch_;
  size_t threads_;
  size_t waves_count_;
  Arena waves_;
  Arena lds_;
  uint32_t scratch_bytes_;
  Arena scratch_;
  Group group_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  AccessList accesses_;
  Statistics statistics_;
};

int HostThreads(const Options& options) {
  if (options.threads > 0) return options.threads;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

RunResult Execute(Launch& launch) {
  Shared shared;
  shared.launch = &launch;
  shared.groups = launch.groups.empty() ? uint64_t{launch.grid[0]} *
                                              launch.grid[1] * launch.grid[2]
                                        : launch.groups.size();
  const auto work = [&shared] {
    Worker worker(&shared);
    if (worker.ok()) {
      worker.Loop();
      return;
    }
    std::lock_guard<std::mutex> lock(shared.mutex);
    shared.result.status = RunStatus::kLaunchFailure;
    shared.result.report = "the host has no memory for a workgroup's state";
  };
  const int threads = static_cast<int>(std::min<uint64_t>(
      static_cast<uint64_t>(HostThreads(launch.options)), shared.groups));
  std::vector<std::thread> others;
  for (int n = 1; n < threads; ++n) others.emplace_back(work);
  if (shared.groups > 0) work();
  for (std::thread& t : others) t.join();
  return std::move(shared.result);
}

}  // namespace ingot::emulator
