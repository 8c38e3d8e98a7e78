#include "tests/emulator/taint.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "tests/emulator/launch.h"
#include "tests/emulator/taint_check.h"

namespace ingot::emulator {
namespace taint {
namespace {

RegRange Sgprs(int first, int count) {
  return {static_cast<uint16_t>(kSgprSpace + first),
          static_cast<uint16_t>(count)};
}
constexpr RegRange kSccRange{kScc, 1};

class PlanMaker {
 public:
  explicit PlanMaker(const Inst& inst) : i_(inst), op_(*inst.op) {}

  Plan Make() {
    // What has no rule is taken to mix all that it reads.
    static constexpr Rule kAny{How::kTuple};
    p_.rule = RuleOf(op_);
    if (p_.rule == nullptr) p_.rule = &kAny;
    std::copy_n(i_.reads, i_.reads_count, p_.reads);
    p_.reads_count = i_.reads_count;
    std::copy_n(i_.writes, i_.writes_count, p_.writes);
    p_.writes_count = i_.writes_count;
    const How how = p_.rule->how;
    p_.memory = how == How::kVectorMemory || how == How::kLds ||
                how == How::kScalarMemory;
    p_.masked = how != How::kMatrix && how != How::kWriteLane;
    p_.always = how == How::kWriteLane || how == How::kMoveRelFrom ||
                how == How::kMoveRelTo || how == How::kFork;
    if (Starts("scratch_")) p_.form = Form::kScratch;
    if (Starts("buffer_") || Starts("tbuffer_")) p_.form = Form::kBuffer;
    Implicit(how);
    if (KeepsOld()) Reads({i_.dst, op_.dst_words});
    return p_;
  }

 private:
  void Reads(RegRange range) {
    if (p_.reads_count < 12) p_.reads[p_.reads_count++] = range;
  }
  void Writes(RegRange range) {
    if (p_.writes_count < 5) p_.writes[p_.writes_count++] = range;
  }

  // What the decoder's ranges leave out: SCC, VCC, M0.
  void Implicit(How how) {
    for (const Operand& o : i_.src) {
      if (o.kind == Operand::kScc) Reads(kSccRange);
      if (o.kind == Operand::kVccz) Reads(Sgprs(kVcc, 2));
    }
    if ((op_.flags & kReadsScc) != 0) Reads(kSccRange);
    p_.reads_vcc = Starts("v_div_fmas_");
    if (how == How::kBranchVcc || p_.reads_vcc) Reads(Sgprs(kVcc, 2));
    if ((op_.flags & kReadsM0) != 0 || how == How::kGprIndex)
      Reads(Sgprs(kM0, 1));
    if (how == How::kScalar) {
      // Conditional moves keep the destination.
      if ((op_.flags & kReadsScc) != 0 && i_.writes_count > 0)
        Reads(i_.writes[0]);
      if (SetsScc()) Writes(kSccRange);
    }
    if (how == How::kSaveExec || how == How::kWriteExec) Writes(kSccRange);
  }

  bool Starts(std::string_view prefix) const {
    return std::string_view(op_.name).starts_with(prefix);
  }

  // Asks the rule itself.
  bool SetsScc() const {
    Lane probe;
    probe.inst = &i_;
    probe.flag = {2, 2};
    p_.rule->lane(probe);
    return probe.flag.value != 2 || probe.flag.undef != 2;
  }

  // Vector results that leave bits or lanes of the register as they are.
  bool KeepsOld() const {
    const How how = p_.rule->how;
    if (how == How::kMix || how == How::kElements) return true;
    if (how != How::kVector) return false;
    if (i_.extra == Extra::kDpp) return true;
    if (i_.extra == Extra::kSdwa) return i_.dst_sel != 6 && i_.dst_unused == 2;
    return (p_.rule->halves & kHDst) != 0 &&
           ((i_.op_sel & 8) != 0 || (op_.flags & kPreservesHigh) != 0);
  }

  const Inst& i_;
  const OpInfo& op_;
  Plan p_;
};

// Looks on at the waves of one host thread.
class Check : public Watcher {
 public:
  Check()
      : Watcher(~(ClassBit(OpClass::kWait) | ClassBit(OpClass::kBarrier)),
                kMemoryClasses) {}
  void StartGroup(Group& group) override {
    memory_.StartGroup(group);
    while (waves_.size() < group.waves.size())
      waves_.push_back(std::make_unique<Registers>());
    for (const Wave* wave : group.waves)
      Inputs(*wave, waves_[static_cast<size_t>(wave->index)].get());
  }

  void Before(Wave& wave, const Inst& inst) override {
    const Plan& plan = PlanOf(inst);
    plan_ = &plan;
    Registers& regs = *waves_[static_cast<size_t>(wave.index)];
    bool undefined = plan.always || wave.gpr_idx;
    for (int n = 0; n < plan.reads_count; ++n)
      undefined |= regs.Any(plan.reads[n]);
    if (undefined) [[unlikely]] {
      Follow({wave, inst, plan, regs, memory_});
      return;
    }
    if (plan.memory) return;
    const uint64_t lanes = plan.masked ? wave.exec() : ~uint64_t{0};
    for (int n = 0; n < plan.writes_count; ++n)
      regs.Define(plan.writes[n], lanes);
  }

  void Barrier(Group&) override { memory_.LookAtLds(); }

  void After(Wave& wave, const Inst& inst,
             const AccessList& accesses) override {
    if (!plan_->memory) return;
    const Step step{wave, inst, *plan_,
                    *waves_[static_cast<size_t>(wave.index)], memory_};
    MoveMemory(step, accesses);
    CheckExec(step);
  }

 private:
  // User and system SGPRs are known by what stands there: the rest holds the
  // poison that registers start with.
  static void Inputs(const Wave& wave, Registers* regs) {
    regs->Reset();
    for (int n = 0; n < kSgprs; ++n) {
      if (wave.s[n] != kRegisterPoison) regs->SetScalar(n, 0);
    }
    regs->Clear(0, ~uint64_t{0});
  }

  const Plan& PlanOf(const Inst& inst) {
    if (inst.index >= plans_.size()) plans_.resize(inst.index + 64);
    std::unique_ptr<Plan>& plan = plans_[inst.index];
    if (plan == nullptr) plan = std::make_unique<Plan>(MakePlan(inst));
    return *plan;
  }

  void Follow(const Step& s) {
    if (s.wave.gpr_idx && s.inst.op->cls != OpClass::kSalu) {
      FollowIndexed(s);
      return;
    }
    Dispatch(s);
    CheckExec(s);
    if (!s.plan.memory) PassOrigin(s);
  }

  // The instruction as s_set_gpr_idx makes it.
  void FollowIndexed(const Step& s) {
    const bool vector =
        s.inst.op->cls == OpClass::kValu || s.inst.op->cls == OpClass::kTrans;
    if (!vector) {
      Dispatch(s);
      return;
    }
    // s_set_gpr_idx_on writes only the index and the modes.
    if ((s.regs.GetScalar(kM0) & 0xf0ff) != 0) {
      s.Report(FaultKind::kUndefinedAddress, -1, 0, kSgprSpace + kM0,
               "the index of a register");
      return;
    }
    const uint32_t index = s.wave.s[kM0] & 0xff,
                   modes = s.wave.s[kM0] >> 12 & 15;
    Inst moved = s.inst;
    const auto move = [index](uint16_t reg) {
      return static_cast<uint16_t>((reg & kAccBase) |
                                   (((reg & 0xff) + index) & 0xff));
    };
    for (int n = 0; n < 3; ++n) {
      if (moved.src[n].kind == Operand::kVgpr && (modes >> n & 1) != 0)
        moved.src[n].reg = move(moved.src[n].reg);
    }
    const bool to =
        (modes & 8) != 0 && (moved.op->flags & (kWritesSgpr | kCompare)) == 0;
    if (to) {
      for (int n = 0; n < moved.writes_count; ++n) {
        if (moved.writes[n].first == moved.dst)
          moved.writes[n].first = move(moved.dst);
      }
      moved.dst = move(moved.dst);
    }
    const Plan plan = MakePlan(moved);
    Dispatch({s.wave, moved, plan, s.regs, memory_});
  }

  static void Dispatch(const Step& s) {
    switch (s.plan.rule->how) {
      case How::kNothing:
        return;
      case How::kVector:
      case How::kCompare:
        return Vector(s);
      case How::kPacked16:
      case How::kPacked32:
      case How::kPackedMove:
      case How::kMix:
      case How::kElements:
      case How::kTuple:
        return Packed(s);
      case How::kReadFirstLane:
      case How::kReadLane:
      case How::kWriteLane:
      case How::kSwap:
      case How::kPermlaneSwap:
        return Exchange(s);
      case How::kLdsLanes:
        return LdsLanes(s);
      case How::kMatrix:
        return Matrix(s);
      case How::kVectorMemory:
      case How::kLds:
      case How::kScalarMemory:
        return CheckAddress(s);
      default:
        return Scalar(s);
    }
  }

  // Undefined bits of EXEC are branches by other means.
  static void CheckExec(const Step& s) {
    const uint64_t undef = s.regs.GetPair(kExec);
    if (undef == 0 || s.wave.state == WaveState::kFault) return;
    s.Report(FaultKind::kUndefinedBranch, __builtin_ctzll(undef), 0,
             FirstUndefined(s), "EXEC");
  }

  static int FirstUndefined(const Step& s) {
    for (int n = 0; n < s.plan.reads_count; ++n) {
      const RegRange& r = s.plan.reads[n];
      for (int reg = r.first; reg < r.first + r.count; ++reg) {
        if (s.regs.Any(reg)) return reg;
      }
    }
    return kSgprSpace + kExec;
  }

  // Results come from where the first undefined source came from.
  static void PassOrigin(const Step& s) {
    const uint32_t origin = s.regs.origin(FirstUndefined(s));
    for (int n = 0; n < s.plan.writes_count; ++n) {
      const RegRange& r = s.plan.writes[n];
      if (!s.regs.Any(r)) continue;
      for (int reg = r.first; reg < r.first + r.count; ++reg)
        s.regs.set_origin(reg, origin);
    }
  }

  std::vector<std::unique_ptr<Registers>> waves_;
  std::vector<std::unique_ptr<Plan>> plans_;  // by Inst::index
  const Plan* plan_ = nullptr;                // of the instruction under way
  Memory memory_;
};

std::string OriginText(const Step& s, int reg) {
  const Origin* origin = s.memory.FindOrigin(s.regs.origin(reg));
  if (origin == nullptr) return ", from a register that was never written";
  const char* space = origin->space == Space::kLds       ? "LDS"
                      : origin->space == Space::kScratch ? "scratch"
                                                         : "memory";
  char text[160];
  std::snprintf(text, sizeof(text),
                ", from %s at 0x%llx, read at pc 0x%llx and not written before",
                space, static_cast<unsigned long long>(origin->address),
                static_cast<unsigned long long>(
                    origin->pc - s.wave.launch->program->base()));
  return text;
}

}  // namespace

Plan MakePlan(const Inst& inst) { return PlanMaker(inst).Make(); }

std::string RegisterName(int reg) {
  if (reg == kScc) return "scc";
  if (reg >= kSgprSpace) {
    const int s = reg - kSgprSpace;
    if (s == kM0) return "m0";
    if (s == kVcc || s == kVcc + 1) return s == kVcc ? "vcc_lo" : "vcc_hi";
    if (s == kExec || s == kExec + 1) return s == kExec ? "exec_lo" : "exec_hi";
    return "s" + std::to_string(s);
  }
  return reg >= kAccBase ? "a" + std::to_string(reg - kAccBase)
                         : "v" + std::to_string(reg);
}

void Step::Report(FaultKind kind, int lane, uint64_t address, int reg,
                  const char* what) const {
  std::string text = std::string(what) + ": ";
  text += RegisterName(reg) + " has undefined bits";
  const uint32_t bits = reg < kSgprSpace ? (lane >= 0 ? regs.Get(reg, lane) : 0)
                        : reg < kScc     ? regs.GetScalar(reg - kSgprSpace)
                                         : 0;
  if (bits != 0) {
    char mask[16];
    std::snprintf(mask, sizeof(mask), " 0x%08x", bits);
    text += mask;
  }
  wave.Raise(kind, lane, address, (text + OriginText(*this, reg)).c_str());
}

}  // namespace taint

std::unique_ptr<Watcher> MakeTaintCheck() {
  return std::make_unique<taint::Check>();
}

}  // namespace ingot::emulator
