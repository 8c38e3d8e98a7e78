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

// What the handlers of memory instructions note down. A wide buffer access is
// noted dword by dword, so an instruction makes at most 64 lanes * 4 dwords,
// and a transfer to LDS one global and one LDS access a lane.
struct AccessList {
  static constexpr int kMost = 8 * kLanes;
  int count = 0;
  Access list[kMost];

  [[gnu::always_inline]] void Add(Space space, uint64_t address, uint32_t bytes,
                                  int lane) {
    if (count == kMost) return;
    list[count++] = {address, static_cast<uint16_t>(bytes),
                     static_cast<int8_t>(lane), space};
  }
  // make(lane) for each lane of the mask.
  template <class Make>
  [[gnu::always_inline]] void AddLanes(uint64_t lanes, const Make& make) {
    if (count + kLanes > kMost) return;
    if (lanes == ~uint64_t{0}) {
      for (int l = 0; l < kLanes; ++l) list[count + l] = make(l);
      count += kLanes;
      return;
    }
    for (; lanes != 0; lanes &= lanes - 1)
      list[count++] = make(__builtin_ctzll(lanes));
  }
  const Access* begin() const { return list; }
  const Access* end() const { return list + count; }
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
