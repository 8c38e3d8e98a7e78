#include "tests/emulator/report.h"

#include <cstdarg>
#include <cstdio>

#include "tests/emulator/launch.h"

namespace ingot::emulator {
namespace {

const char* KindText(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return "no fault";
    case FaultKind::kUnknownInstruction:
      return "unknown instruction";
    case FaultKind::kIllegalAddress:
      return "access outside every allocation";
    case FaultKind::kMisalignedAtomic:
      return "misaligned atomic";
    case FaultKind::kLdsOutOfRange:
      return "LDS access beyond the workgroup's LDS";
    case FaultKind::kScratchOutOfRange:
      return "scratch access beyond the work-item's scratch";
    case FaultKind::kMissingWait:
      return "missing s_waitcnt";
    case FaultKind::kDataRace:
      return "data race";
    case FaultKind::kBarrierDivergence:
      return "barrier divergence";
    case FaultKind::kWrongExec:
      return "lanes off where all are needed";
    case FaultKind::kMisaligned:
      return "misaligned access";
    case FaultKind::kUndefinedOutput:
      return "undefined value in memory";
    case FaultKind::kUndefinedAddress:
      return "undefined address";
    case FaultKind::kUndefinedBranch:
      return "undefined branch";
    case FaultKind::kTrap:
      return "trap";
    case FaultKind::kBadProgramCounter:
      return "the program counter left the code";
    case FaultKind::kStuck:
      return "the wave does not end";
  }
  return "fault";
}

[[gnu::format(printf, 2, 3)]] void Append(std::string* out, const char* format,
                                          ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  *out += text;
}

bool HasAddress(const Fault& fault) {
  const FaultKind kind = fault.kind;
  if (kind == FaultKind::kMissingWait) return fault.other_wave >= 0;
  return kind == FaultKind::kIllegalAddress ||
         kind == FaultKind::kMisalignedAtomic ||
         kind == FaultKind::kMisaligned || kind == FaultKind::kDataRace ||
         kind == FaultKind::kLdsOutOfRange ||
         kind == FaultKind::kScratchOutOfRange ||
         kind == FaultKind::kUndefinedOutput ||
         kind == FaultKind::kBadProgramCounter;
}

// "pc 0x1c0 in kernel: v_add_f32 (02020901)".
void AppendPlace(std::string* out, Program& program, uint64_t pc) {
  Append(out, "pc 0x%llx",
         static_cast<unsigned long long>(pc - program.base()));
  const std::string symbol = program.SymbolAt(pc);
  if (!symbol.empty()) *out += " in " + symbol;
  if (const Inst* inst = program.At(pc); inst != nullptr) {
    *out += ": " + Describe(*inst);
  } else {
    Append(out, ": (%08x %08x)", program.WordAt(pc), program.WordAt(pc + 4));
  }
}

// Where the wave's current instruction is, or the next one's place when there
// is no instruction.
uint64_t CurrentPc(const Wave& w) {
  return w.current != nullptr ? w.pc - w.current->size : w.pc;
}

}  // namespace

std::string FaultReport(const Wave& w) {
  const Launch& launch = *w.launch;
  Program& program = *launch.program;
  std::string out =
      "kernel " + launch.kernel->name + ": " + KindText(w.fault.kind);
  if (!w.fault.detail.empty()) out += ": " + w.fault.detail;
  if (HasAddress(w.fault)) {
    Append(&out, "\n  address 0x%llx",
           static_cast<unsigned long long>(w.fault.address));
  }
  const Interval* near = w.fault.kind == FaultKind::kIllegalAddress
                             ? launch.memory->Nearest(w.fault.address)
                             : nullptr;
  if (near != nullptr) {
    Append(&out,
           ", %lld bytes from the start of the allocation before it, which has "
           "%llu",
           static_cast<long long>(w.fault.address - near->begin),
           static_cast<unsigned long long>(near->end - near->begin));
  }
  out += "\n  at ";
  AppendPlace(&out, program, w.fault.pc != 0 ? w.fault.pc : CurrentPc(w));
  Append(&out, "\n  workgroup (%u, %u, %u), wave %d", w.group->id[0],
         w.group->id[1], w.group->id[2], w.index);
  if (w.fault.lane >= 0) Append(&out, ", lane %d", w.fault.lane);
  if (w.fault.other_wave >= 0) {
    Append(&out, "\n  against wave %d at ", w.fault.other_wave);
    AppendPlace(&out, program, w.fault.other_pc);
  }
  return out;
}

}  // namespace ingot::emulator
