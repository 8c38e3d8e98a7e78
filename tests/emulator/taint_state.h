// Which register bits of one wave are undefined.
#ifndef TESTS_EMULATOR_TAINT_STATE_H_
#define TESTS_EMULATOR_TAINT_STATE_H_

#include <cstdint>
#include <cstring>

#include "tests/emulator/isa.h"

namespace ingot::emulator::taint {

// SCC, numbered after the SGPRs.
inline constexpr uint16_t kScc = kSgprSpace + kSgprs;
inline constexpr int kRegisters = kScc + 1;

// Most registers are wholly defined at most times, so that question is answered
// from one bit a register. A VGPR's undefined lanes are a mask, and only lanes
// that are undefined in part have their bits spelt out.
class Registers {
 public:
  // Everything is undefined.
  void Reset() {
    std::memset(some_, 0xff, sizeof(some_));
    std::memset(full_, 0xff, sizeof(full_));
    std::memset(scalar_, 0xff, sizeof(scalar_));
    std::memset(dirty_, 0, sizeof(dirty_));
    std::memset(dirty_, 0xff, kRegisters / 8);
    for (int r = kRegisters / 8 * 8; r < kRegisters; ++r) SetDirty(r);
    std::memset(origin_, 0, sizeof(origin_));
  }

  // True when any bit of these registers is undefined. At most 56 registers.
  bool Any(RegRange range) const {
    uint64_t bits;
    std::memcpy(&bits, dirty_ + range.first / 8, 8);
    return (bits >> (range.first % 8) & ((uint64_t{1} << range.count) - 1)) !=
           0;
  }
  bool Any(int reg) const { return (dirty_[reg / 8] >> (reg % 8) & 1) != 0; }

  // ---- VGPRs ----

  uint64_t Lanes(int reg) const { return some_[reg]; }
  uint32_t Get(int reg, int lane) const {
    if ((some_[reg] >> lane & 1) == 0) return 0;
    return (full_[reg] >> lane & 1) != 0 ? ~0u : bits_[reg][lane];
  }
  void Set(int reg, int lane, uint32_t undef) {
    const uint64_t bit = uint64_t{1} << lane;
    some_[reg] = undef != 0 ? some_[reg] | bit : some_[reg] & ~bit;
    full_[reg] = undef == ~0u ? full_[reg] | bit : full_[reg] & ~bit;
    bits_[reg][lane] = undef;
    Note(reg);
  }
  void Clear(int reg, uint64_t lanes) {
    some_[reg] &= ~lanes;
    full_[reg] &= ~lanes;
    Note(reg);
  }
  void Fill(int reg, uint64_t lanes) {
    some_[reg] |= lanes;
    full_[reg] |= lanes;
    Note(reg);
  }

  // ---- SGPRs and SCC ----

  uint32_t GetScalar(int sgpr) const { return scalar_[sgpr]; }
  void SetScalar(int sgpr, uint32_t undef) {
    scalar_[sgpr] = undef;
    const int reg = kSgprSpace + sgpr;
    undef != 0 ? SetDirty(reg) : ClearDirty(reg);
  }
  uint64_t GetPair(int sgpr) const {
    return scalar_[sgpr] |
           (sgpr + 1 < kSgprs ? uint64_t{scalar_[sgpr + 1]} << 32 : 0);
  }
  void SetPair(int sgpr, uint64_t undef) {
    SetScalar(sgpr, static_cast<uint32_t>(undef));
    if (sgpr + 1 < kSgprs)
      SetScalar(sgpr + 1, static_cast<uint32_t>(undef >> 32));
  }
  bool scc() const { return Any(kScc); }
  void set_scc(bool undef) { undef ? SetDirty(kScc) : ClearDirty(kScc); }

  // ---- Any of them ----

  // Defined from now on: VGPRs in `lanes` only.
  void Define(RegRange range, uint64_t lanes) {
    if (!Any(range)) return;
    for (int r = range.first; r < range.first + range.count; ++r) {
      if (r < kSgprSpace) {
        Clear(r, lanes);
      } else if (r < kScc) {
        SetScalar(r - kSgprSpace, 0);
      } else {
        set_scc(false);
      }
    }
  }

  // Where the undefined bits of a register came from: a number that the owner
  // gives out; 0 is "never written".
  uint32_t origin(int reg) const { return origin_[reg]; }
  void set_origin(int reg, uint32_t origin) { origin_[reg] = origin; }

 private:
  void SetDirty(int reg) {
    dirty_[reg / 8] = static_cast<uint8_t>(dirty_[reg / 8] | 1 << (reg % 8));
  }
  void ClearDirty(int reg) {
    dirty_[reg / 8] = static_cast<uint8_t>(dirty_[reg / 8] & ~(1 << (reg % 8)));
  }
  void Note(int vgpr) { some_[vgpr] != 0 ? SetDirty(vgpr) : ClearDirty(vgpr); }

  uint64_t some_[kVgprs];  // lanes with an undefined bit
  uint64_t full_[kVgprs];  // lanes in which every bit is undefined
  uint32_t bits_[kVgprs][kLanes];
  uint32_t scalar_[kSgprs];
  uint8_t dirty_[kRegisters / 8 + 9];  // a bit a register; room for wide loads
  uint32_t origin_[kRegisters];
};

}  // namespace ingot::emulator::taint

#endif  // TESTS_EMULATOR_TAINT_STATE_H_
