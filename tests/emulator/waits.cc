#include "tests/emulator/waits.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/emulator/wave.h"

namespace ingot::emulator {

void Waits::Reset() {
  busy_ = 0;
  std::memset(count_, 0, sizeof(count_));
  vm_.clear();
  lgkm_.clear();
}

void Waits::Mark(const RegRange& range, int delta) {
  for (int r = range.first; r < range.first + range.count; ++r) {
    const bool was = count_[r] != 0;
    count_[r] = static_cast<uint8_t>(count_[r] + delta);
    busy_ += static_cast<uint32_t>((count_[r] != 0) - was);
  }
}

void Waits::IssueVm(const Pending& p) {
  vm_.push_back(p);
  Mark(p.regs, 1);
}

void Waits::IssueLgkm(const Pending& p) {
  lgkm_.push_back(p);
  Mark(p.regs, 1);
}

void Waits::Release(const Pending& p, LdsFlight* flight) {
  Mark(p.regs, -1);
  if (p.dma != 0) {
    flight->done[p.dma] = true;
    --flight->live;
  }
}

void Waits::Wait(uint32_t vmcnt, uint32_t lgkmcnt, LdsFlight* flight) {
  if (vm_.size() > vmcnt) {
    const size_t n = vm_.size() - vmcnt;
    for (size_t i = 0; i < n; ++i) Release(vm_[i], flight);
    vm_.erase(vm_.begin(), vm_.begin() + static_cast<long>(n));
  }
  if (lgkm_.size() <= lgkmcnt) return;
  if (lgkmcnt == 0) {
    for (const Pending& p : lgkm_) Release(p, flight);
    lgkm_.clear();
    return;
  }
  // Scalar loads may come back in any order, so the completions that the count
  // proves can all have been theirs.
  const size_t completed = lgkm_.size() - lgkmcnt;
  const size_t scalars = static_cast<size_t>(std::count_if(
      lgkm_.begin(), lgkm_.end(), [](const Pending& p) { return p.scalar; }));
  size_t sure = completed > scalars ? completed - scalars : 0;
  for (auto it = lgkm_.begin(); it != lgkm_.end() && sure > 0;) {
    if (it->scalar) {
      ++it;
      continue;
    }
    Release(*it, flight);
    it = lgkm_.erase(it);
    --sure;
  }
}

int Waits::FirstBusy(const RegRange& range) const {
  for (int r = range.first; r < range.first + range.count; ++r) {
    if (count_[r] != 0) return r;
  }
  return -1;
}

namespace {

std::string RegisterName(int r) {
  if (r >= kSgprSpace) return "s" + std::to_string(r - kSgprSpace);
  if (r >= kAccBase) return "a" + std::to_string(r - kAccBase);
  return "v" + std::to_string(r);
}

}  // namespace

void CheckWaits(Wave& wave, const Inst& inst) {
  for (int i = 0; i < inst.reads_count; ++i) {
    const int r = wave.waits.FirstBusy(inst.reads[i]);
    if (r >= 0) {
      wave.Raise(
          FaultKind::kMissingWait, -1, 0,
          (RegisterName(r) + " is read while its load is in flight").c_str());
      return;
    }
  }
  // Loads of one counter write in order, so a load over a load is fine; any
  // other write could be overtaken by the load.
  const bool memory = (inst.op->flags & (kLoad | kStore | kAtomic)) != 0;
  for (int i = 0; i < inst.writes_count && !memory; ++i) {
    const int r = wave.waits.FirstBusy(inst.writes[i]);
    if (r >= 0) {
      wave.Raise(
          FaultKind::kMissingWait, -1, 0,
          (RegisterName(r) + " is written while a load into it is in flight")
              .c_str());
      return;
    }
  }
}

}  // namespace ingot::emulator
