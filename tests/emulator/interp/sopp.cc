// Program control: SOPP.
#include "tests/emulator/interp/scalar.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

void Nothing(Wave&, const Inst&) {}
void End(Wave& w, const Inst&) { w.state = WaveState::kDone; }
void Barrier(Wave& w, const Inst&) { w.state = WaveState::kBarrier; }
// Who sleeps waits for another wave.
void Sleep(Wave& w, const Inst&) { w.state = WaveState::kYields; }

INGOT_EMULATOR_INLINE void Jump(Wave& w, const Inst& i) {
  w.pc += static_cast<uint64_t>(int64_t{i.imm} * 4);
}
template <auto kCondition>
void Branch(Wave& w, const Inst& i) {
  if (kCondition(w)) Jump(w, i);
}

void Wait(Wave& w, const Inst& i) {
  const uint32_t imm = static_cast<uint32_t>(i.imm) & 0xffff;
  w.waits.Wait((imm & 15) | imm >> 14 << 4, imm >> 8 & 15);
}

void Trap(Wave& w, const Inst& i) {
  w.Raise(FaultKind::kTrap, -1, 0,
          i.imm == 2 ? "the kernel aborted (trap 2)" : "trap");
}

// A halted wave waits for a debugger, which there is none of.
void Halt(Wave& w, const Inst& i) {
  if ((i.imm & 1) != 0)
    w.Raise(FaultKind::kTrap, -1, 0, "the wave halts itself");
}
void MessageAndHalt(Wave& w, const Inst&) {
  w.Raise(FaultKind::kTrap, -1, 0, "the wave halts itself");
}

void GprIdxOff(Wave& w, const Inst&) { w.gpr_idx = false; }
void GprIdxMode(Wave& w, const Inst& i) {
  w.s[kM0] = (w.s[kM0] & ~0xf000u) | (static_cast<uint32_t>(i.imm) & 15) << 12;
}

constexpr OpInfo P(uint16_t opcode, const char* name, Handler run, OpClass cls,
                   uint32_t flags = 0) {
  OpInfo o{opcode, name, run, cls, flags};
  o.dst_words = 0;
  return o;
}

constexpr OpInfo kSopp[] = {
    P(0x00, "s_nop", &Nothing, OpClass::kSalu),
    P(0x01, "s_endpgm", &End, OpClass::kBranch, kEndsRun),
    P(0x02, "s_branch", &Jump, OpClass::kBranch, kEndsRun),
    P(0x03, "s_wakeup", &Nothing, OpClass::kSalu),
    P(0x04, "s_cbranch_scc0", &Branch<[](Wave& w) { return w.scc == 0; }>,
      OpClass::kBranch, kEndsRun | kReadsScc),
    P(0x05, "s_cbranch_scc1", &Branch<[](Wave& w) { return w.scc != 0; }>,
      OpClass::kBranch, kEndsRun | kReadsScc),
    P(0x06, "s_cbranch_vccz", &Branch<[](Wave& w) { return w.S64(kVcc) == 0; }>,
      OpClass::kBranch, kEndsRun),
    P(0x07, "s_cbranch_vccnz",
      &Branch<[](Wave& w) { return w.S64(kVcc) != 0; }>, OpClass::kBranch,
      kEndsRun),
    P(0x08, "s_cbranch_execz", &Branch<[](Wave& w) { return w.exec() == 0; }>,
      OpClass::kBranch, kEndsRun),
    P(0x09, "s_cbranch_execnz", &Branch<[](Wave& w) { return w.exec() != 0; }>,
      OpClass::kBranch, kEndsRun),
    P(0x0a, "s_barrier", &Barrier, OpClass::kBarrier, kEndsRun),
    P(0x0b, "s_setkill", &Nothing, OpClass::kSalu),
    P(0x0c, "s_waitcnt", &Wait, OpClass::kWait),
    P(0x0d, "s_sethalt", &Halt, OpClass::kSalu, kEndsRun),
    P(0x0e, "s_sleep", &Sleep, OpClass::kSalu),
    P(0x0f, "s_setprio", &Nothing, OpClass::kSalu),
    P(0x10, "s_sendmsg", &Nothing, OpClass::kSalu),
    P(0x11, "s_sendmsghalt", &MessageAndHalt, OpClass::kSalu, kEndsRun),
    P(0x12, "s_trap", &Trap, OpClass::kBranch, kEndsRun),
    P(0x13, "s_icache_inv", &Nothing, OpClass::kSalu),
    P(0x14, "s_incperflevel", &Nothing, OpClass::kSalu),
    P(0x15, "s_decperflevel", &Nothing, OpClass::kSalu),
    P(0x16, "s_ttracedata", &Nothing, OpClass::kSalu),
    P(0x17, "s_cbranch_cdbgsys", &Nothing, OpClass::kBranch),
    P(0x18, "s_cbranch_cdbguser", &Nothing, OpClass::kBranch),
    P(0x19, "s_cbranch_cdbgsys_or_user", &Nothing, OpClass::kBranch),
    P(0x1a, "s_cbranch_cdbgsys_and_user", &Nothing, OpClass::kBranch),
    P(0x1b, "s_endpgm_saved", &End, OpClass::kBranch, kEndsRun),
    P(0x1c, "s_set_gpr_idx_off", &GprIdxOff, OpClass::kSalu),
    P(0x1d, "s_set_gpr_idx_mode", &GprIdxMode, OpClass::kSalu),
    P(0x1e, "s_endpgm_ordered_ps_done", &End, OpClass::kBranch, kEndsRun),
    P(0x1f, "s_set_valu_coexec_mode", &Nothing, OpClass::kSalu),
};

}  // namespace

OpTable SoppTable() { return {kSopp, sizeof(kSopp) / sizeof(kSopp[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
