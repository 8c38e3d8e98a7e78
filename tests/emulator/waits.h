// The wait counters of a wave, and what is still in flight under them.
//
// gfx9 counts vector memory in order under vmcnt, and LDS (in order), scalar
// loads (any order) and messages under lgkmcnt. What a load writes is "in
// flight" until an s_waitcnt covers the load; using it earlier works by luck on
// hardware, and is reported.
//
// The emulator itself delivers results at issue. That hides nothing: until the
// wait, no instruction may read or write the registers (CheckWaits), and no
// access may touch the LDS places (race_lds.h). A store's data and every
// address are read at issue on hardware too (expcnt guards exports and older
// chips only), so they may be overwritten at once.
#ifndef TESTS_EMULATOR_WAITS_H_
#define TESTS_EMULATOR_WAITS_H_

#include <cstdint>
#include <vector>

#include "tests/emulator/isa.h"

namespace ingot::emulator {

struct Wave;

// The largest counts; hardware holds an instruction back that would exceed
// them.
inline constexpr uint32_t kMostVm = 63;
inline constexpr uint32_t kMostLgkm = 15;

// An operation that was issued.
struct Pending {
  RegRange regs;         // registers it writes; count 0 for none
  bool in_order = true;  // false: may complete before or after its neighbours
  bool lds = false;      // works on LDS; has a number in Path::kLds
  uint64_t number = 0;   // on its path
};

// What completes in the order of issue: each wave numbers its operations.
enum class Path : uint8_t { kVm, kLds };

class Waits {
 public:
  // `registers`: keep the registers in flight, for FirstBusy.
  void Reset(bool registers);
  void IssueVm(Pending p);
  void IssueLgkm(Pending p);
  // s_waitcnt with the decoded counts.
  void Wait(uint32_t vmcnt, uint32_t lgkmcnt);

  // Number of the last operation of a path; the first one is 1.
  uint64_t issued(Path path) const { return issued_[static_cast<int>(path)]; }
  // All operations up to this number have been waited for.
  uint64_t done(Path path) const { return done_[static_cast<int>(path)]; }

  bool any() const { return busy_ != 0; }
  // The first register of `range` in flight under one of the counters asked
  // for, or -1.
  int FirstBusy(const RegRange& range, bool vm, bool lgkm) const;

 private:
  struct Queue {
    std::vector<Pending> list;
    uint32_t loose = 0;                       // entries that are not in order
    uint8_t count[kSgprSpace + kSgprs] = {};  // loads in flight per register
  };
  void Issue(Queue* q, const Pending& p, uint32_t most);
  void Drain(Queue* q, uint32_t most);
  void Release(Queue* q, const Pending& p);
  void Mark(Queue* q, const RegRange& range, int delta);

  Queue vm_, lgkm_;
  uint64_t issued_[2] = {}, done_[2] = {};
  uint32_t busy_ = 0;  // marks on registers
  bool registers_ = true;
};

// Stops the wave if `inst` touches a register in flight.
void CheckWaits(Wave& wave, const Inst& inst);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_WAITS_H_
