// The interpreter's loop, and the tables of one build put together.
#include "tests/emulator/interp/interpreter.h"

#include <cfenv>

#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/tables.h"
#include "tests/emulator/launch.h"
#include "tests/emulator/watcher.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

// MODE's rounding to the host's.
constexpr int kHostRounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                 FE_TOWARDZERO};

[[gnu::noinline]] void RunRounded(Wave& w, const Inst& i) {
  const uint8_t round = (i.op->flags & kRounds64) != 0 ? w.round64 : w.round32;
  std::fesetround(kHostRounding[round]);
  i.run(w, i);
  std::fesetround(FE_TONEAREST);
}

// s_set_gpr_idx: M0[7:0] is added to the VGPR numbers that M0[15:12] selects.
[[gnu::noinline]] void RunIndexed(Wave& w, const Inst& i) {
  const uint32_t index = w.s[kM0] & 0xff, modes = w.s[kM0] >> 12 & 15;
  Inst moved = i;
  auto move = [&](uint16_t reg) {
    const uint32_t to = (reg & 0xff) + index;
    if (to > 0xff)
      w.Raise(FaultKind::kUnknownInstruction, -1, to,
              "indexed VGPR out of range");
    return static_cast<uint16_t>((reg & kAccBase) | (to & 0xff));
  };
  for (int n = 0; n < 3; ++n) {
    if (moved.src[n].kind == Operand::kVgpr && (modes >> n & 1) != 0) {
      moved.src[n].reg = move(moved.src[n].reg);
    }
  }
  if ((modes & 8) != 0 && (i.op->flags & (kWritesSgpr | kCompare)) == 0)
    moved.dst = move(i.dst);
  if (w.state == WaveState::kReady) i.run(w, moved);
}

[[gnu::noinline]] void NoInstruction(Wave& w) {
  const CodeObject& object = w.launch->program->object();
  const uint64_t offset = w.pc - w.launch->program->base();
  const bool inside =
      offset >= object.text_begin && offset < object.text_end && w.pc % 4 == 0;
  w.current = nullptr;
  w.Raise(
      inside ? FaultKind::kUnknownInstruction : FaultKind::kBadProgramCounter,
      -1, w.pc);
}

INGOT_EMULATOR_INLINE void TellBefore(Wave& w, const Inst& i) {
  for (Watcher* watcher : w.group->before[static_cast<int>(i.op->cls)])
    watcher->Before(w, i);
}
INGOT_EMULATOR_INLINE void TellAfter(Wave& w, const Inst& i) {
  for (Watcher* watcher : w.group->after[static_cast<int>(i.op->cls)])
    watcher->After(w, i, *w.accesses);
}

INGOT_EMULATOR_INLINE bool IsVector(const Inst& i) {
  return i.op->cls == OpClass::kValu || i.op->cls == OpClass::kTrans;
}

template <bool kWatched>
INGOT_EMULATOR_INLINE void Loop(Wave& w, int64_t budget) {
  Program& program = *w.launch->program;
  while (w.state == WaveState::kReady && budget-- > 0) {
    const Inst* i = program.At(w.pc);
    if (i == nullptr) [[unlikely]] {
      NoInstruction(w);
      return;
    }
    w.current = i;
    w.pc += i->size;
    ++w.executed[static_cast<int>(i->op->cls)];
    if (w.waits.any()) {
      CheckWaits(w, *i);
      if (w.state != WaveState::kReady) return;
    }
    if constexpr (kWatched) {
      w.accesses->Clear();
      TellBefore(w, *i);
      if (w.state == WaveState::kFault) return;
    }
    if (w.gpr_idx && IsVector(*i)) [[unlikely]] {
      RunIndexed(w, *i);
    } else if ((w.round32 | w.round64) != 0 &&
               (i->op->flags & (kMayRound | kRounds64)) != 0) [[unlikely]] {
      RunRounded(w, *i);
    } else {
      i->run(w, *i);
    }
    if constexpr (kWatched) {
      if (w.state == WaveState::kFault) return;
      TellAfter(w, *i);
    }
  }
}

}  // namespace

void RunWave(Wave& w, int64_t budget) {
  if (w.accesses == nullptr) {
    Loop<false>(w, budget);
  } else {
    Loop<true>(w, budget);
  }
}

const InstructionSet& Interpreter() {
  static constinit InstructionSet set{};
  auto at = [](Format f) -> OpTable& { return set.table[static_cast<int>(f)]; };
  at(Format::kSop1) = Sop1Table();
  at(Format::kSop2) = Sop2Table();
  at(Format::kSopk) = SopkTable();
  at(Format::kSopc) = SopcTable();
  at(Format::kSopp) = SoppTable();
  at(Format::kSmem) = SmemTable();
  at(Format::kVop1) = Vop1Table();
  at(Format::kVop2) = Vop2Table();
  at(Format::kVopc) = VopcTable();
  at(Format::kVop3) = Vop3Table();
  at(Format::kVop3p) = Vop3pTable();
  at(Format::kDs) = DsTable();
  at(Format::kMubuf) = MubufTable();
  at(Format::kMtbuf) = MtbufTable();
  at(Format::kFlat) = FlatTable();
  at(Format::kGlobal) = GlobalTable();
  at(Format::kScratch) = ScratchTable();
  set.more[0] = {Format::kVop3, Vop3ConvertTable()};
  set.more[1] = {Format::kVop3p, MfmaTable()};
  set.more[2] = {Format::kVop3, Vop3ScaleTable()};
  set.more[3] = {Format::kMubuf, MubufFormatTable()};
  set.run = &RunWave;
  set.name = INGOT_EMULATOR_LEVEL_NAME;
  return set;
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
