#include "tests/emulator/profile/recording.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "tests/emulator/launch.h"
#include "tests/emulator/profile/lds_banks.h"
#include "tests/emulator/program.h"
#include "tests/emulator/watcher.h"
#include "tests/emulator/wave.h"

namespace ingot::profile {

using emulator::Access;
using emulator::AccessKind;
using emulator::AccessList;
using emulator::Group;
using emulator::Inst;
using emulator::Space;
using emulator::Wave;

namespace {

void Count(const AccessKind& kind, uint64_t bytes, Bytes* to) {
  if (kind.reads) to->read += bytes;
  if (kind.writes) to->written += bytes;
}

// The distinct lines of one instruction; a wave touches at most a few hundred.
class Lines {
 public:
  void Add(uint64_t address, uint32_t bytes) {
    requested_ += bytes;
    for (uint64_t line = address / 64; line <= (address + bytes - 1) / 64;
         ++line) {
      if (lines_.empty() || lines_.back() != line) lines_.push_back(line);
    }
  }
  void Count(const AccessKind& kind, MemoryUse* use) {
    std::sort(lines_.begin(), lines_.end());
    uint64_t count64 = 0, count128 = 0;
    for (size_t n = 0; n < lines_.size(); ++n) {
      if (n == 0 || lines_[n] != lines_[n - 1]) ++count64;
      if (n == 0 || lines_[n] / 2 != lines_[n - 1] / 2) ++count128;
    }
    profile::Count(kind, 64 * count64, &use->lines64);
    profile::Count(kind, 128 * count128, &use->lines128);
    // Lines come out of the cache, and lanes' bytes go to the registers.
    use->vmem_clocks += std::max<uint64_t>(
        kVmemLeastClocks,
        std::max(count64 * 64, requested_) / kL1BytesPerClock);
    lines_.clear();
    requested_ = 0;
  }

 private:
  std::vector<uint64_t> lines_;
  uint64_t requested_ = 0;
};

BankUse BankUseOf(const Inst& inst) {
  const AccessKind kind = emulator::KindOf(*inst.op, Space::kLds);
  if (kind.reads && kind.writes) return BankUse::kAtomic;
  return kind.writes ? BankUse::kWrite : BankUse::kRead;
}

}  // namespace

void MemoryUse::Add(const MemoryUse& other) {
  global.Add(other.global);
  lds.Add(other.lds);
  scratch.Add(other.scratch);
  scalar.Add(other.scalar);
  lines64.Add(other.lines64);
  lines128.Add(other.lines128);
  first_lines += other.first_lines;
  vmem_clocks += other.vmem_clocks;
  lds_clocks += other.lds_clocks;
  lds_least += other.lds_least;
  lds_degree = std::max(lds_degree, other.lds_degree);
}

// One host thread's share.
class ThreadRecorder : public emulator::Watcher {
 public:
  explicit ThreadRecorder(Recorder* recorder) : recorder_(*recorder) {}
  ~ThreadRecorder() override { recorder_.Merge(Finish()); }

  void StartGroup(Group& group) override {
    const size_t waves = group.waves.size();
    part_.waves_per_group = waves;
    tracing_ = recorder_.ClaimTrace();
    if (tracing_) part_.trace.assign(waves, {});
    calls_.assign(waves, {});
    if (program_ == nullptr) {
      program_ = group.launch->program;
      functions_.insert(group.launch->entry - program_->base());
      slots_.assign(
          (program_->object().text_end - program_->object().text_begin) / 4 + 1,
          nullptr);
    }
  }

  void Before(Wave& wave, const Inst& inst) override {
    pc_ = wave.pc - inst.size;
    // A handler may change EXEC.
    exec_ = wave.exec();
  }

  void After(Wave& wave, const Inst& inst,
             const AccessList& accesses) override {
    Slot& slot = At(pc_, inst);
    ++slot.in_group[wave.index];
    if (tracing_) Trace(wave.index);
    Executed& e = slot.executed;
    if (e.facts.by_lane) e.lanes += std::popcount(exec_);
    if (e.facts.exchanges) AddCost(CostOfExchange(), &e.memory);
    if (!accesses.empty()) AddAccesses(inst, accesses, &e.memory);
    const uint64_t next = pc_ + inst.size;
    if (wave.pc != next || e.facts.calls) Jump(wave, e.facts, next);
  }

  void EndGroup(Group&) override {
    tracing_ = false;
    ++part_.groups;
    for (Slot* slot : executed_) CloseGroup(slot);
    part_.group_bytes.Add({group_read_.bytes(), group_written_.bytes()});
    part_.read.Merge(group_read_);
    part_.written.Merge(group_written_);
    group_read_.Clear();
    group_written_.Clear();
  }

 private:
  static constexpr size_t kMostWaves = 16;

  struct Slot {
    Executed executed;
    uint64_t in_group[kMostWaves] = {};  // executions in the running group
  };

  void Trace(size_t wave) {
    part_.trace[wave].push_back(static_cast<uint32_t>(pc_ - program_->base()));
    if (++traced_ < kMostTraced) return;
    tracing_ = false;
    part_.trace.clear();
  }

  Slot& At(uint64_t pc, const Inst& inst) {
    Slot*& slot =
        slots_[(pc - program_->base() - program_->object().text_begin) / 4];
    if (slot == nullptr) {
      owned_.push_back(std::make_unique<Slot>());
      slot = owned_.back().get();
      slot->executed.inst = &inst;
      slot->executed.facts = FactsOf(inst);
      slot->executed.by_wave.assign(kMostWaves, 0);
      offsets_.push_back(pc - program_->base());
      executed_.push_back(slot);
    }
    return *slot;
  }

  static void CloseGroup(Slot* slot) {
    Executed& e = slot->executed;
    for (size_t wave = 0; wave < kMostWaves; ++wave) {
      const uint64_t count = slot->in_group[wave];
      if (count == 0) continue;
      slot->in_group[wave] = 0;
      e.by_wave[wave] += count;
      e.count += count;
      e.least = e.waves == 0 ? count : std::min(e.least, count);
      e.most = std::max(e.most, count);
      ++e.waves;
    }
  }

  // Of one instruction that went elsewhere than to `next`.
  void Jump(Wave& wave, const Facts& facts, uint64_t next) {
    std::vector<uint64_t>& stack = calls_[wave.index];
    if (facts.calls) {
      stack.push_back(next);
      functions_.insert(wave.pc - program_->base());
    } else if (!stack.empty() && stack.back() == wave.pc) {
      stack.pop_back();
    } else if (!facts.ends) {
      ++part_.jumps[{pc_ - program_->base(), wave.pc - program_->base()}];
    }
  }

  static void AddCost(const BankCost& cost, MemoryUse* use) {
    use->lds_clocks += static_cast<uint64_t>(cost.clocks);
    use->lds_least += static_cast<uint64_t>(cost.least);
    use->lds_degree = std::max(use->lds_degree, cost.degree);
  }

  void AddAccesses(const Inst& inst, const AccessList& accesses,
                   MemoryUse* use) {
    bool lds = false, vector = false;
    for (const Access& access : accesses) {
      const AccessKind kind = emulator::KindOf(*inst.op, access.space);
      switch (access.space) {
        case Space::kLds:
          lds = true;
          Count(kind, access.bytes, &use->lds);
          break;
        case Space::kScratch:
          Count(kind, access.bytes, &use->scratch);
          break;
        case Space::kGlobal:
          Count(kind, access.bytes,
                access.lane < 0 ? &use->scalar : &use->global);
          Touch(kind, access, use);
          if (access.lane < 0) break;
          vector = true;
          lines_.Add(access.address, access.bytes);
          break;
      }
    }
    if (lds) AddCost(CostOf(accesses, BankUseOf(inst)), use);
    if (vector) lines_.Count(emulator::KindOf(*inst.op, Space::kGlobal), use);
  }

  void Touch(const AccessKind& kind, const Access& access, MemoryUse* use) {
    if (kind.reads) {
      const int lines = group_read_.Add(access.address, access.bytes);
      if (access.lane >= 0) use->first_lines += static_cast<uint64_t>(lines);
    }
    if (kind.writes) group_written_.Add(access.address, access.bytes);
  }

  Recording Finish() {
    for (size_t n = 0; n < executed_.size(); ++n) {
      part_.program[offsets_[n]] = std::move(executed_[n]->executed);
    }
    part_.functions = std::move(functions_);
    return std::move(part_);
  }

  Recorder& recorder_;
  emulator::Program* program_ = nullptr;
  Recording part_;
  std::set<uint64_t> functions_;
  std::vector<Slot*> slots_;  // by word of the code
  std::vector<std::unique_ptr<Slot>> owned_;
  std::vector<Slot*> executed_;
  std::vector<uint64_t> offsets_;             // of executed_
  std::vector<std::vector<uint64_t>> calls_;  // where waves return to
  ByteSet group_read_, group_written_;
  Lines lines_;
  bool tracing_ = false;
  uint64_t traced_ = 0;
  uint64_t pc_ = 0;
  uint64_t exec_ = 0;
};

emulator::WatcherFactory Recorder::Factory() {
  return [this] { return std::make_unique<ThreadRecorder>(this); };
}

void Recorder::Merge(Recording&& part) {
  std::lock_guard<std::mutex> lock(mutex_);
  Recording& all = recording_;
  for (auto& [offset, from] : part.program) {
    const auto [found, added] = all.program.try_emplace(offset);
    Executed& to = found->second;
    if (added) {
      to = std::move(from);
      continue;
    }
    for (size_t wave = 0; wave < to.by_wave.size(); ++wave) {
      to.by_wave[wave] += from.by_wave[wave];
    }
    to.count += from.count;
    if (from.waves > 0) {
      to.least = to.waves == 0 ? from.least : std::min(to.least, from.least);
    }
    to.most = std::max(to.most, from.most);
    to.waves += from.waves;
    to.lanes += from.lanes;
    to.memory.Add(from.memory);
  }
  if (!part.trace.empty()) all.trace = std::move(part.trace);
  for (const auto& [jump, count] : part.jumps) all.jumps[jump] += count;
  all.functions.merge(part.functions);
  all.groups += part.groups;
  all.waves_per_group = std::max(all.waves_per_group, part.waves_per_group);
  all.group_bytes.Add(part.group_bytes);
  all.read.Merge(part.read);
  all.written.Merge(part.written);
}

}  // namespace ingot::profile
