// Who accessed each part of LDS last, for LdsRaces.
//
// A stamp names an instruction of a wave (race_lds.h). Each unit of LDS has
// those of who wrote last and of the last two waves that read. Units begin with
// 16 bytes, as most accesses are that wide; the first access that does not fill
// its units makes them smaller, down to a dword, for good. Dwords that are
// accessed in parts have stamps for each byte.
//
// A stamp that is older than the epoch, or from the same wave and path,
// conflicts with nothing; any other is "foreign", and who owns it decides. A
// few compares a unit settle nearly every access.
#ifndef TESTS_EMULATOR_LDS_STAMPS_H_
#define TESTS_EMULATOR_LDS_STAMPS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/emulator/access.h"

namespace ingot::emulator {

class LdsStamps {
 public:
  // Grows with time; the low kWhoBits say which wave and path.
  using Stamp = int32_t;
  static constexpr int kWhoBits = 6;

  struct alignas(16) Entry {
    Stamp writer = 0;
    Stamp reader[2] = {};
    Stamp unused = 0;  // never foreign
  };

  // For LDS of this size. What is known stays if the size does.
  void Resize(uint32_t bytes);
  // All that happened is forgotten.
  void Forget();
  // Stamps below this are of earlier epochs.
  void SetBase(Stamp base) { base_ = base; }
  bool Foreign(Stamp stamp, Stamp mine) const {
    return stamp >= base_ && ((stamp ^ mine) & kWho) != 0;
  }

  // Puts the stamp on the bytes of all lanes if no foreign one is in the way;
  // false: there may be one, and nothing has changed.
  bool TryRow(const AccessRow& row, bool writes, Stamp stamp);
  bool TrySpan(uint32_t address, uint32_t bytes, bool writes, Stamp stamp);

  // Calls check(entry, address, bytes) for the parts of the span that share an
  // entry, until it returns false; returns what the last call did.
  template <class Check>
  bool ForEach(uint32_t address, uint32_t bytes, const Check& check);
  // Puts the stamp on bytes whatever stood there.
  void Mark(uint32_t address, uint32_t bytes, bool writes, Stamp stamp);

 private:
  static constexpr Stamp kWho = (1 << kWhoBits) - 1;
  // The writer of a dword whose stamps are in bytes_: like none that an access
  // can have.
  static constexpr Stamp kSplit = 0x7fffffff;
  static constexpr int kLeastShift = 2;

  uint32_t unit() const { return 1u << shift_; }
  // Makes units small enough for places with these bits in address and size;
  // false: they are not whole dwords.
  bool Fit(uint32_t bits);
  void Renew(bool writes, Stamp stamp, Entry* entry) const;
  void RenewAll(bool writes, Stamp stamp, Entry* first, uint32_t count) const;
  Entry* Split(uint32_t dword);

  int shift_ = 4;  // of a unit's bytes
  Stamp base_ = 0;
  uint32_t lds_bytes_ = 0;
  std::vector<Entry> units_;
  std::vector<Entry> bytes_;  // made when needed, in units of a dword only
};

template <class Check>
bool LdsStamps::ForEach(uint32_t address, uint32_t bytes, const Check& check) {
  const uint32_t end = address + bytes;
  for (uint32_t at = address; at < end;) {
    const uint32_t n = at >> shift_;
    const bool split = units_[n].writer == kSplit;
    const uint32_t next = split ? at + 1 : std::min(end, (n + 1) << shift_);
    if (!check(split ? bytes_[at] : units_[n], at, next - at)) return false;
    at = next;
  }
  return true;
}

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_LDS_STAMPS_H_
