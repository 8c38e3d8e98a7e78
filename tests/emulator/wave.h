// State of one wave and of the workgroup it belongs to.
//
// Plain data that every build of the interpreter shares; the functions declared
// here are compiled once and called only off the fast paths.
#ifndef TESTS_EMULATOR_WAVE_H_
#define TESTS_EMULATOR_WAVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/access.h"
#include "tests/emulator/isa.h"
#include "tests/emulator/waits.h"

namespace ingot::emulator {

class Program;
class MemoryView;
class Watcher;
struct Launch;
struct Group;

// What registers and LDS hold before they are written: a signalling NaN, as f32
// and in the high half as f16 and bf16.
inline constexpr uint32_t kRegisterPoison = 0x7fbadbad;

enum class FaultKind : uint8_t {
  kNone,
  kUnknownInstruction,
  kIllegalAddress,
  kMisalignedAtomic,
  kLdsOutOfRange,
  kScratchOutOfRange,
  kMissingWait,
  kDataRace,
  kBarrierDivergence,
  kWrongExec,
  kMisaligned,
  kUndefinedOutput,
  kUndefinedAddress,
  kUndefinedBranch,
  kTrap,
  kBadProgramCounter,
  kStuck,
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  int lane = -1;  // -1: the whole wave
  uint64_t address = 0;
  std::string detail;
  uint64_t pc = 0;      // of the instruction; 0: the wave's current one
  int other_wave = -1;  // the other party of a conflict
  uint64_t other_pc = 0;
};

// kYields: ready, and gives the others their turn first.
enum class WaveState : uint8_t { kReady, kYields, kBarrier, kDone, kFault };

struct alignas(64) Wave {
  uint32_t v[kVgprs][kLanes];
  alignas(16) uint32_t s[kSgprs];
  uint64_t pc = 0;  // host address of the next instruction
  uint32_t scc = 0;
  uint32_t mode = 0;
  WaveState state = WaveState::kReady;
  bool flush32 = false;     // MODE flushes denormals
  bool flush64 = false;     // f16 and f64
  bool saturate16 = false;  // FP16_OVFL
  bool special16 = false;   // f16 results are not plainly rounded
  uint8_t round32 = 0;
  uint8_t round64 = 0;
  bool gpr_idx = false;
  bool check_waits = true;  // report registers used too early
  bool count_waits = true;  // some check needs the counters
  bool check_alignment = true;
  bool check_bounds = true;
  int index = 0;      // in its group
  uint64_t born = 0;  // the lanes that exist
  Group* group = nullptr;
  const Launch* launch = nullptr;
  const Inst* current = nullptr;
  uint8_t* scratch = nullptr;  // [lane][bytes]
  uint32_t scratch_bytes = 0;  // a lane
  // The last allocation that an access hit.
  uint64_t hit_begin = 0, hit_end = 0;
  Waits waits;
  // The current instruction's, when somebody watches; else null.
  AccessList* accesses = nullptr;
  Fault fault;
  uint64_t executed[static_cast<int>(OpClass::kCount)] = {};
  uint64_t clipped_loads = 0, clipped_stores = 0;
  uint64_t misaligned_loads = 0, misaligned_stores = 0;
  alignas(64) uint8_t sink[64];  // see OutOfBounds

  [[gnu::always_inline]] uint64_t S64(int reg) const {
    return s[reg] | uint64_t{s[reg + 1]} << 32;
  }
  [[gnu::always_inline]] void SetS64(int reg, uint64_t value) {
    s[reg] = static_cast<uint32_t>(value);
    s[reg + 1] = static_cast<uint32_t>(value >> 32);
  }
  [[gnu::always_inline]] uint64_t exec() const { return S64(kExec); }

  // Stops the wave (`detail` is copied); the first fault of a launch is the one
  // reported.
  void Raise(FaultKind kind, int lane, uint64_t address,
             const char* detail = "");
  // The same with a second party: the wave and instruction that this conflicts
  // with.
  void RaiseAgainst(FaultKind kind, int lane, uint64_t address,
                    const char* detail, int other_wave, uint64_t other_pc);
  // For an access outside its memory: raises and returns null, or, when bounds
  // are not checked, returns up to 64 zero bytes that stores may spoil.
  uint8_t* OutOfBounds(FaultKind kind, int lane, uint64_t address);
  // True when [address, address + bytes) lies inside one allocation; refreshes
  // the hit range.
  bool Find(uint64_t address, uint64_t bytes);
  // Applies a new MODE register value.
  void SetMode(uint32_t value);
};

struct Group {
  uint32_t id[3] = {};
  const Launch* launch = nullptr;
  uint8_t* lds = nullptr;
  uint32_t lds_bytes = 0;
  std::vector<Wave*> waves;
  std::vector<Watcher*> watchers;
  // Those that look at a class of instructions, before and after it.
  std::vector<Watcher*> before[static_cast<int>(OpClass::kCount)];
  std::vector<Watcher*> after[static_cast<int>(OpClass::kCount)];
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_WAVE_H_
