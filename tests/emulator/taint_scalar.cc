// Undefined bits through scalar instructions and program control.
#include "tests/emulator/taint_check.h"

namespace ingot::emulator::taint {

Bits Step::Scalar(const Operand& o, int bits) const {
  switch (o.kind) {
    case Operand::kSgpr:
      if (bits > 32) return {wave.S64(o.reg), regs.GetPair(o.reg)};
      return {wave.s[o.reg], regs.GetScalar(o.reg)};
    case Operand::kConst:
      return Low(Known(o.value), bits);
    case Operand::kVccz:
      return Not(NotZero({wave.S64(kVcc), regs.GetPair(kVcc)}), 1);
    case Operand::kExecz:
      return Truth(wave.exec() == 0, false);
    case Operand::kScc:
      return Truth(wave.scc != 0, regs.scc());
    default:
      return {};
  }
}

void WriteScalar(const Step& s, int sgpr, uint64_t undef, int words) {
  if (words == 2) {
    s.regs.SetPair(sgpr, undef);
  } else if (words == 1) {
    s.regs.SetScalar(sgpr, static_cast<uint32_t>(undef));
  }
}

namespace {

void Arithmetic(const Step& s) {
  const Inst& i = s.inst;
  const OpInfo& op = *i.op;
  const bool to_exec = s.plan.rule->how != How::kScalar;
  Lane l;
  l.inst = &i;
  l.width = op.dst_words == 2 ? 64 : 32;
  for (int n = 0; n < 2; ++n) {
    if (i.src[n].kind != Operand::kNone)
      l.s[n] = s.Scalar(i.src[n], op.src_words[n] == 2 ? 64 : 32);
  }
  if (to_exec) l.s[1] = Known(s.exec());
  const Operand self{Operand::kSgpr, i.dst, 0};
  if (i.dst < kSgprs) l.old = s.Scalar(self, l.width);
  l.carry = Truth(s.wave.scc != 0, s.regs.scc());
  l.flag = l.carry;
  const Bits out = s.plan.rule->lane(l);
  if (to_exec) {
    s.regs.SetPair(i.dst, s.plan.rule->how == How::kWriteExec ? out.undef : 0);
    s.regs.SetPair(kExec, out.undef);
  } else if (i.writes_count > 0) {
    WriteScalar(s, i.dst, out.undef, op.dst_words);
  }
  s.regs.set_scc((l.flag.undef & 1) != 0);
}

void Branch(const Step& s) {
  if (s.plan.rule->how == How::kBranchScc) {
    if (s.regs.scc()) {
      s.Report(FaultKind::kUndefinedBranch, -1, 0, kScc, "the condition");
    }
    return;
  }
  const Bits vcc{s.wave.S64(kVcc), s.regs.GetPair(kVcc)};
  if (NotZero(vcc).undef == 0) return;
  s.Report(FaultKind::kUndefinedBranch, __builtin_ctzll(vcc.undef), 0,
           kSgprSpace + kVcc, "the condition");
}

void Jump(const Step& s) {
  const Operand& target = s.inst.src[0];
  if (s.Scalar(target, 64).undef != 0) {
    s.Report(FaultKind::kUndefinedBranch, -1, 0, kSgprSpace + target.reg,
             "the target");
  }
  if (s.inst.writes_count > 0) s.regs.SetPair(s.inst.dst, 0);
}

// The index is used like an address. What M0 holds beside it stays.
void GprIndex(const Step& s) {
  const Operand& o = s.inst.src[0];
  if (o.kind == Operand::kSgpr && (s.Scalar(o, 32).undef & 0xff) != 0) {
    s.Report(FaultKind::kUndefinedAddress, -1, 0, kSgprSpace + o.reg,
             "the index of a register");
    return;
  }
  const bool mode = o.kind == Operand::kNone;
  const bool idx = s.inst.op->opcode == 0x32;
  const uint32_t kept = mode ? ~0xf000u : idx ? ~0xffu : ~0xf0ffu;
  s.regs.SetScalar(kM0, s.regs.GetScalar(kM0) & kept);
}

void MoveRelative(const Step& s) {
  const Inst& i = s.inst;
  if (s.regs.GetScalar(kM0) != 0) {
    s.Report(FaultKind::kUndefinedAddress, -1, 0, kSgprSpace + kM0,
             "the index of a register");
    return;
  }
  const int words = i.op->dst_words, bits = 32 * words;
  const auto moved = [&s](int reg) {
    return static_cast<uint16_t>((static_cast<uint32_t>(reg) + s.wave.s[kM0]) &
                                 (kSgprs - 1));
  };
  if (s.plan.rule->how == How::kMoveRelFrom) {
    const Operand from{Operand::kSgpr, moved(i.src[0].reg), 0};
    WriteScalar(s, i.dst, s.Scalar(from, bits).undef, words);
  } else {
    WriteScalar(s, moved(i.dst), s.Scalar(i.src[0], bits).undef, words);
  }
}

// Forks push EXEC and a program counter on SGPRs that MODE counts.
void Fork(const Step& s) {
  for (int n = 0; n < s.plan.reads_count; ++n) {
    if (!s.regs.Any(s.plan.reads[n])) continue;
    s.Report(FaultKind::kUndefinedBranch, -1, 0, s.plan.reads[n].first,
             "a fork");
    return;
  }
  const int at = static_cast<int>(s.wave.mode >> 29) * 4;
  for (int n = 0; n < 4; ++n) s.regs.SetScalar(at + n, 0);
}

}  // namespace

void Scalar(const Step& s) {
  switch (s.plan.rule->how) {
    case How::kBranchScc:
    case How::kBranchVcc:
      return Branch(s);
    case How::kJump:
      return Jump(s);
    case How::kSetMode:
      return s.Report(FaultKind::kUndefinedBranch, -1, 0,
                      kSgprSpace + s.inst.dst, "the MODE register");
    case How::kGprIndex:
      return GprIndex(s);
    case How::kMoveRelFrom:
    case How::kMoveRelTo:
      return MoveRelative(s);
    case How::kFork:
      return Fork(s);
    case How::kDefines:
      return WriteScalar(s, s.inst.dst, 0, s.inst.op->dst_words);
    default:
      return Arithmetic(s);
  }
}

}  // namespace ingot::emulator::taint
