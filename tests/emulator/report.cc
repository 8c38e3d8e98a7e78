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
    case FaultKind::kBarrierDivergence:
      return "barrier divergence";
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

bool HasAddress(FaultKind kind) {
  return kind == FaultKind::kIllegalAddress ||
         kind == FaultKind::kMisalignedAtomic ||
         kind == FaultKind::kLdsOutOfRange ||
         kind == FaultKind::kScratchOutOfRange ||
         kind == FaultKind::kBadProgramCounter;
}

}  // namespace

std::string FaultReport(const Wave& w) {
  const Launch& launch = *w.launch;
  Program& program = *launch.program;
  std::string out =
      "kernel " + launch.kernel->name + ": " + KindText(w.fault.kind);
  if (!w.fault.detail.empty()) out += ": " + w.fault.detail;
  const uint64_t pc = w.current != nullptr ? w.pc - w.current->size : w.pc;
  if (HasAddress(w.fault.kind)) {
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
  Append(&out, "\n  at pc 0x%llx",
         static_cast<unsigned long long>(pc - program.base()));
  const std::string symbol = program.SymbolAt(pc);
  if (!symbol.empty()) out += " in " + symbol;
  if (w.current != nullptr) {
    out += ": " + Describe(*w.current);
  } else {
    Append(&out, ": (%08x %08x)", program.WordAt(pc), program.WordAt(pc + 4));
  }
  Append(&out, "\n  workgroup (%u, %u, %u), wave %d", w.group->id[0],
         w.group->id[1], w.group->id[2], w.index);
  if (w.fault.lane >= 0) Append(&out, ", lane %d", w.fault.lane);
  return out;
}

}  // namespace ingot::emulator
