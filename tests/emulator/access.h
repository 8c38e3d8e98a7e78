// The memory accesses of one instruction, lane by lane, for those who watch.
#ifndef TESTS_EMULATOR_ACCESS_H_
#define TESTS_EMULATOR_ACCESS_H_

#include <cstdint>

#include "tests/emulator/isa.h"

namespace ingot::emulator {

enum class Space : uint8_t { kGlobal, kLds, kScratch };

struct Access {
  // kGlobal: a host address; kLds: from the start of the group's LDS; kScratch:
  // from the start of the lane's scratch.
  uint64_t address;
  uint16_t bytes;
  int8_t lane;  // -1: a scalar access
  Space space;
};

// One access of each lane in `lanes`, which one check has cleared together.
struct AccessRow {
  alignas(64) uint64_t at[kLanes];  // of lanes that are off: of one that is on
  uint64_t lanes;                   // not 0
  uint64_t low, high;               // of at[]
  uint32_t bits;                    // of all addresses in at[], or-ed
  uint16_t bytes;
  Space space;
  bool adjoin;  // all lanes are on, and each begins where the last one ends

  uint64_t end() const { return high + bytes; }
  Access operator[](int lane) const {
    return {at[lane], bytes, static_cast<int8_t>(lane), space};
  }
};

// What the handlers of memory instructions note down: either rows, or accesses
// one by one. A wide buffer access is noted dword by dword, so an instruction
// makes at most 64 lanes * 4 dwords; a transfer to LDS one global and one LDS
// access a lane, which are two rows.
//
// Whoever iterates sees accesses in lane order; rows are spelt out for that,
// once, so who is in a hurry asks for the rows first.
class AccessList {
 public:
  static constexpr int kMost = 8 * kLanes;
  static constexpr int kMostRows = 2;

  [[gnu::always_inline]] void Clear() { count_ = rows_ = 0; }
  [[gnu::always_inline]] void Add(Space space, uint64_t address, uint32_t bytes,
                                  int lane) {
    if (count_ == kMost) return;
    list_[count_++] = {address, static_cast<uint16_t>(bytes),
                       static_cast<int8_t>(lane), space};
  }
  // Lane l accesses base + at[l]; `low` and `high` are those of at[].
  [[gnu::always_inline]] void AddRow(Space space, uint64_t base,
                                     const uint64_t* at, uint64_t low,
                                     uint64_t high, uint32_t bytes,
                                     uint64_t lanes) {
    if (rows_ == kMostRows) return;
    AccessRow& row = row_[rows_++];
    uint64_t bits = 0, differ = ~lanes;
    for (int l = 0; l < kLanes; ++l) {
      row.at[l] = base + at[l];
      bits |= row.at[l];
      differ |= at[l] ^ (at[0] + static_cast<uint64_t>(l) * bytes);
    }
    row.lanes = lanes;
    row.low = base + low;
    row.high = base + high;
    row.bits = static_cast<uint32_t>(bits);
    row.bytes = static_cast<uint16_t>(bytes);
    row.space = space;
    row.adjoin = differ == 0;
  }

  bool empty() const { return count_ == 0 && rows_ == 0; }
  // 0: the accesses are known one by one only.
  int rows() const { return rows_; }
  const AccessRow& row(int n) const { return row_[n]; }
  const AccessRow* FindRow(Space space) const {
    for (int n = 0; n < rows_; ++n) {
      if (row_[n].space == space) return &row_[n];
    }
    return nullptr;
  }
  const Access* begin() const {
    if (count_ == 0 && rows_ != 0) SpellOut();
    return list_;
  }
  const Access* end() const { return begin() + count_; }

 private:
  void SpellOut() const;

  mutable int count_ = 0;
  int rows_ = 0;
  AccessRow row_[kMostRows];
  mutable Access list_[kMost];
};

struct AccessKind {
  bool reads, writes;
};

// What an opcode does to the places in `space` that it names.
inline AccessKind KindOf(const OpInfo& op, Space space) {
  if ((op.flags & kLdsDest) != 0) {
    return {space != Space::kLds, space == Space::kLds};
  }
  if ((op.flags & kAtomic) != 0) return {true, true};
  const bool store = (op.flags & kStore) != 0;
  // An exchange of two places is a store that returns what was there.
  return {!store || (op.flags & kReturns) != 0, store};
}

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_ACCESS_H_
