#include "tests/emulator/wave.h"

#include "tests/emulator/launch.h"

namespace ingot::emulator {

void Wave::Raise(FaultKind kind, int lane, uint64_t address,
                 const char* detail) {
  if (state == WaveState::kFault) return;
  state = WaveState::kFault;
  fault = Fault{kind, lane, address, detail};
}

bool Wave::Find(uint64_t address, uint64_t bytes) {
  const Interval* i = launch->memory->Find(address, bytes);
  if (i == nullptr) return false;
  hit_begin = i->begin;
  hit_end = i->end;
  return true;
}

void Wave::SetMode(uint32_t value) {
  mode = value;
  round32 = value & 3;
  round64 = value >> 2 & 3;
  flush32 = (value >> 4 & 3) != 3;
  flush64 = (value >> 6 & 3) != 3;
  saturate16 = (value >> 23 & 1) != 0;
  special16 = saturate16 || round64 != 0;
}

}  // namespace ingot::emulator
