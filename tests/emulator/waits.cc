#include "tests/emulator/waits.h"

#include <cstring>
#include <string>

#include "tests/emulator/wave.h"

namespace ingot::emulator {

void Waits::Reset(bool registers) {
  for (Queue* q : {&vm_, &lgkm_}) {
    q->list.clear();
    q->loose = 0;
    std::memset(q->count, 0, sizeof(q->count));
  }
  std::memset(issued_, 0, sizeof(issued_));
  std::memset(done_, 0, sizeof(done_));
  busy_ = 0;
  registers_ = registers;
}

void Waits::Mark(Queue* q, const RegRange& range, int delta) {
  if (!registers_) return;
  for (int r = range.first; r < range.first + range.count; ++r) {
    q->count[r] = static_cast<uint8_t>(q->count[r] + delta);
  }
  busy_ += static_cast<uint32_t>(delta * range.count);
}

void Waits::Issue(Queue* q, const Pending& p, uint32_t most) {
  q->list.push_back(p);
  q->loose += !p.in_order;
  Mark(q, p.regs, 1);
  if (q->list.size() > most) Wait(kMostVm, kMostLgkm);
}

void Waits::IssueVm(Pending p) {
  p.number = ++issued_[static_cast<int>(Path::kVm)];
  Issue(&vm_, p, kMostVm);
}

void Waits::IssueLgkm(Pending p) {
  if (p.lds) p.number = ++issued_[static_cast<int>(Path::kLds)];
  Issue(&lgkm_, p, kMostLgkm);
}

void Waits::Release(Queue* q, const Pending& p) {
  Mark(q, p.regs, -1);
  q->loose -= !p.in_order;
}

// At most `most` operations are still in flight.
void Waits::Drain(Queue* q, uint32_t most) {
  if (q->list.size() <= most) return;
  size_t sure = q->list.size() - most;
  if (most != 0) {
    // The completions that the count proves can all have been those of
    // operations that come back in any order.
    sure -= std::min<size_t>(sure, q->loose);
  }
  const bool all = most == 0;
  size_t kept = 0;
  for (const Pending& p : q->list) {
    if (all || (p.in_order && sure > 0)) {
      Release(q, p);
      sure -= sure > 0;
    } else {
      q->list[kept++] = p;
    }
  }
  q->list.resize(kept);
}

void Waits::Wait(uint32_t vmcnt, uint32_t lgkmcnt) {
  Drain(&vm_, vmcnt);
  Drain(&lgkm_, lgkmcnt);
  done_[0] = vm_.list.empty() ? issued_[0] : vm_.list.front().number - 1;
  done_[1] = issued_[1];
  for (const Pending& p : lgkm_.list) {
    if (!p.lds) continue;
    done_[1] = p.number - 1;
    break;
  }
}

int Waits::FirstBusy(const RegRange& range, bool vm, bool lgkm) const {
  for (int r = range.first; r < range.first + range.count; ++r) {
    if ((vm && vm_.count[r] != 0) || (lgkm && lgkm_.count[r] != 0)) return r;
  }
  return -1;
}

namespace {

std::string RegisterName(int r) {
  if (r == kSgprSpace + kVcc) return "vcc";
  if (r == kSgprSpace + kVcc + 1) return "vcc_hi";
  if (r == kSgprSpace + kM0) return "m0";
  if (r >= kSgprSpace) return "s" + std::to_string(r - kSgprSpace);
  if (r >= kAccBase) return "a" + std::to_string(r - kAccBase);
  return "v" + std::to_string(r);
}

// Loads of one counter write in order, so a load over a load of its own kind
// is fine; any other write could be overtaken by the load. A flat load may come
// back on either way.
void CountersThatOvertake(const Inst& inst, bool* vm, bool* lgkm) {
  const OpInfo& op = *inst.op;
  const bool flat =
      inst.words[0] >> 26 == 0x37 && (inst.words[0] >> 14 & 3) == 0;
  *vm = op.cls != OpClass::kVmem || flat;
  *lgkm = op.cls != OpClass::kLds;
}

// True for what reads VCC without naming it: s_cbranch_vccz and vccnz, and
// v_div_fmas.
bool ReadsVccUnnamed(const Inst& inst) {
  const uint32_t w = inst.words[0];
  return w >> 17 == 0xbf86 >> 1 || w >> 17 == 0xd1e2 >> 1;
}

// False after a fault.
bool CheckRead(Wave& wave, const RegRange& range) {
  const int r = wave.waits.FirstBusy(range, true, true);
  if (r < 0) return true;
  wave.Raise(
      FaultKind::kMissingWait, -1, 0,
      (RegisterName(r) + " is read while its load is in flight").c_str());
  return false;
}

}  // namespace

void CheckWaits(Wave& wave, const Inst& inst) {
  for (int i = 0; i < inst.reads_count; ++i) {
    if (!CheckRead(wave, inst.reads[i])) return;
  }
  if (ReadsVccUnnamed(inst) && !CheckRead(wave, {kSgprSpace + kVcc, 2})) return;
  if (inst.writes_count == 0) return;
  bool vm, lgkm;
  CountersThatOvertake(inst, &vm, &lgkm);
  for (int i = 0; i < inst.writes_count; ++i) {
    const int r = wave.waits.FirstBusy(inst.writes[i], vm, lgkm);
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
