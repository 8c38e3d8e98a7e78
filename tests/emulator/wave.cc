#include "tests/emulator/wave.h"

#include <cstring>

#include "tests/emulator/launch.h"

namespace ingot::emulator {

void Wave::Raise(FaultKind kind, int lane, uint64_t address,
                 const char* detail) {
  if (state == WaveState::kFault) return;
  state = WaveState::kFault;
  fault = Fault();
  fault.kind = kind;
  fault.lane = lane;
  fault.address = address;
  fault.detail = detail;
}

void Wave::RaiseAgainst(FaultKind kind, int lane, uint64_t address,
                        const char* detail, int other_wave, uint64_t other_pc) {
  if (state == WaveState::kFault) return;
  Raise(kind, lane, address, detail);
  fault.other_wave = other_wave;
  fault.other_pc = other_pc;
}

uint8_t* Wave::OutOfBounds(FaultKind kind, int lane, uint64_t address) {
  if (check_bounds) {
    Raise(kind, lane, address);
    return nullptr;
  }
  std::memset(sink, 0, sizeof(sink));
  return sink;
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
