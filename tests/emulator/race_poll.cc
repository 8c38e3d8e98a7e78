#include "tests/emulator/race_poll.h"

#include <cstring>

namespace ingot::emulator {
namespace {

// Bytes of code to the loop's branch, and from there back to its start.
constexpr uint64_t kReach = 4096;

bool IsName(const Inst& i, const char* name) {
  return std::strcmp(i.op->name, name) == 0;
}

bool WritesRegister(const Inst& i, int reg) {
  for (int n = 0; n < i.writes_count; ++n) {
    const RegRange& r = i.writes[n];
    if (reg >= r.first && reg < r.first + r.count) return true;
  }
  return false;
}

// A scratch instruction, or a flat one: unoptimised code keeps its variables
// in scratch by flat stores, and has better ones for stores that others see.
bool IsPrivate(const Inst& i) {
  return i.words[0] >> 26 == 0x37 && (i.words[0] >> 14 & 3) < 2;
}

// Stores that somebody else sees, and whatever else no polling loop holds.
bool DoesWork(const Inst& i) {
  const OpClass c = i.op->cls;
  if (c == OpClass::kBarrier || c == OpClass::kMfma || c == OpClass::kLdsDma)
    return true;
  return (i.op->flags & (kStore | kAtomic)) != 0 && !IsPrivate(i);
}

class Loop {
 public:
  Loop(Program& program, uint64_t pc) : program_(program), pc_(pc) {
    FindEnd();
  }
  bool found() const { return end_ != 0; }

  bool OnlyWaits() const {
    for (uint64_t at = begin_; at < end_;) {
      const Inst* i = program_.At(at);
      if (i == nullptr || DoesWork(*i)) return false;
      at += i->size;
    }
    return true;
  }

  // Each round finds the same value in the register when it comes to pc_:
  // nothing in the loop writes it, or a move of what stays the same does.
  bool Keeps(int reg) const {
    const Inst* last = nullptr;  // the last write of the register before pc_
    bool written = false;
    for (uint64_t at = begin_; at < end_;) {
      const Inst* i = program_.At(at);
      if (i == nullptr) return false;
      if (WritesRegister(*i, reg)) {
        written = true;
        if (at < pc_) last = i;
      }
      at += i->size;
    }
    if (!written) return true;
    if (last == nullptr ||
        !(IsName(*last, "v_mov_b32") || IsName(*last, "s_mov_b32"))) {
      return false;
    }
    const Operand& from = last->src[0];
    if (from.kind == Operand::kConst) return true;
    return from.kind == Operand::kSgpr && from.reg + kSgprSpace != reg &&
           Keeps(kSgprSpace + from.reg);
  }

 private:
  // Looks for the branch back to pc_ or before it.
  void FindEnd() {
    for (uint64_t at = pc_; at < pc_ + kReach;) {
      const Inst* i = program_.At(at);
      if (i == nullptr || i->op->cls == OpClass::kBarrier) return;
      at += i->size;
      const bool branch = i->words[0] >> 23 == 0x17f &&
                          i->op->cls == OpClass::kBranch && i->imm < 0;
      const uint64_t target = at + static_cast<uint64_t>(int64_t{i->imm} * 4);
      if (!branch || target > pc_ || pc_ - target > kReach) continue;
      begin_ = target;
      end_ = at;
      return;
    }
  }

  Program& program_;
  uint64_t pc_;
  uint64_t begin_ = 0, end_ = 0;
};

bool PollsInLoop(Program& program, uint64_t pc, int address) {
  const Loop loop(program, pc);
  return loop.found() && loop.OnlyWaits() && loop.Keeps(address);
}

}  // namespace

bool IsPoll(Program& program, uint64_t pc) {
  const Inst* load = program.At(pc);
  if (load == nullptr || (load->op->flags & kLoad) == 0 ||
      load->src[0].kind != Operand::kVgpr) {
    return false;
  }
  const int address = load->src[0].reg;
  if (PollsInLoop(program, pc, address)) return true;
  // A first try is often made before the loop: the same load again.
  uint64_t at = pc + load->size;
  for (const Inst* i = load;
       !WritesRegister(*i, address) && at < pc + kReach;) {
    i = program.At(at);
    if (i == nullptr || DoesWork(*i)) return false;
    if (i->op == load->op && i->src[0].reg == address && i->imm == load->imm)
      return PollsInLoop(program, at, address);
    at += i->size;
  }
  return false;
}

}  // namespace ingot::emulator
