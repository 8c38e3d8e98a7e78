// The wait counters of a wave, and what is still in flight under them.
//
// gfx9 counts vector memory in order under vmcnt, and LDS (in order), scalar
// loads (any order) and messages under lgkmcnt. A register that a load will
// write is "in flight" until an s_waitcnt covers the load; using it earlier
// works by luck on hardware, and is reported here.
#ifndef TESTS_EMULATOR_WAITS_H_
#define TESTS_EMULATOR_WAITS_H_

#include <cstdint>
#include <vector>

#include "tests/emulator/isa.h"

namespace ingot::emulator {

struct Wave;

// Why registers or LDS dwords are busy.
struct Pending {
  RegRange regs;        // registers a load writes; count 0 for a store
  bool scalar = false;  // completes out of order
  uint32_t dma = 0;     // != 0: id of an LDS-DMA whose dwords are in flight
};

// LDS dwords that a DMA or store of some wave has not been waited for.
struct LdsFlight {
  std::vector<uint32_t> dma;  // per dword: id of the transfer, 0 = none
  uint32_t next_id = 1;
  uint32_t live = 0;  // transfers not yet waited for
  std::vector<bool> done;
};

class Waits {
 public:
  void Reset();
  // A vector memory (vm) or LDS/scalar (lgkm) operation was issued.
  void IssueVm(const Pending& p);
  void IssueLgkm(const Pending& p);
  // s_waitcnt with the decoded counts.
  void Wait(uint32_t vmcnt, uint32_t lgkmcnt, LdsFlight* flight);
  bool any() const { return busy_ != 0; }
  // The first register of `range` in flight, or -1.
  int FirstBusy(const RegRange& range) const;

 private:
  void Release(const Pending& p, LdsFlight* flight);
  void Mark(const RegRange& range, int delta);

  uint32_t busy_ = 0;                        // registers in flight
  uint8_t count_[kSgprSpace + kSgprs] = {};  // loads in flight per register
  std::vector<Pending> vm_, lgkm_;
};

// Stops the wave if `inst` touches a register in flight.
void CheckWaits(Wave& wave, const Inst& inst);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_WAITS_H_
