// The LDS side of memory-to-LDS transfers.
#ifndef TESTS_EMULATOR_INTERP_DMA_H_
#define TESTS_EMULATOR_INTERP_DMA_H_

#include <cstdint>
#include <cstring>

#include "tests/emulator/interp/places.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

// Where one transfer instruction of a wave puts its lanes' data: M0[17:0] plus
// the instruction's offset plus lane * stride.
class DmaTarget {
 public:
  DmaTarget(const Wave& w, const Inst& i, uint32_t stride);
  // Whether every lane's place is LDS of the group.
  bool AllInLds(const Wave& w, int dwords) const {
    return uint64_t{base_} + stride_ * (kLanes - 1) +
               4u * static_cast<uint32_t>(dwords) <=
           w.group->lds_bytes;
  }
  // Moves all lanes' data, which AllInLds and `from` have cleared.
  template <int kDwords>
  void WriteAll(Wave& w, const Places& from) const;
  // False after a fault.
  bool Write(Wave& w, int lane, const uint32_t* data, int dwords);

 private:
  uint32_t base_;
  uint32_t stride_;
};

template <int kDwords>
void DmaTarget::WriteAll(Wave& w, const Places& from) const {
  uint8_t* const to = w.group->lds + base_;
  if (from.exec == kAllLanes) {
    for (int l = 0; l < kLanes; ++l)
      std::memcpy(to + stride_ * static_cast<uint32_t>(l), from.Host(l),
                  4 * kDwords);
  } else {
    for (uint64_t todo = from.exec; todo != 0; todo &= todo - 1) {
      const uint32_t l = static_cast<uint32_t>(__builtin_ctzll(todo));
      std::memcpy(to + stride_ * l, from.Host(static_cast<int>(l)),
                  4 * kDwords);
    }
  }
  if (w.accesses == nullptr) return;
  NoteAll(w, Space::kGlobal, from, 4 * kDwords);
  Places places;
  for (int l = 0; l < kLanes; ++l)
    places.at[l] = base_ + stride_ * static_cast<uint32_t>(l);
  places.Settle(from.exec);
  NoteAll(w, Space::kLds, places, 4 * kDwords);
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_DMA_H_
