// Which lane, and which part of it, a lane reads: the controls of DPP, SDWA and
// ds_swizzle.
//
// Always inlined, because builds for several host levels include this.
#ifndef TESTS_EMULATOR_LANE_ORDER_H_
#define TESTS_EMULATOR_LANE_ORDER_H_

#include <cstdint>

#include "tests/emulator/isa.h"

namespace ingot::emulator {

// The lane a DPP control reads for `lane`, or -1 when that is outside the row
// or the wave.
[[gnu::always_inline]] inline int DppSource(uint32_t ctrl, int lane) {
  const int row = lane & ~15, at = lane & 15;
  if (ctrl < 0x100)
    return (lane & ~3) | static_cast<int>(ctrl >> (2 * (lane & 3)) & 3);
  const int n = static_cast<int>(ctrl & 15);
  if (ctrl >= 0x101 && ctrl <= 0x10f) return at + n < 16 ? lane + n : -1;
  if (ctrl >= 0x111 && ctrl <= 0x11f) return at - n >= 0 ? lane - n : -1;
  if (ctrl >= 0x121 && ctrl <= 0x12f) return row | ((at - n) & 15);
  if (ctrl >= 0x150 && ctrl <= 0x15f) return row | n;
  switch (ctrl) {
    case 0x130:
      return lane + 1 < kLanes ? lane + 1 : -1;
    case 0x134:
      return (lane + 1) & 63;
    case 0x138:
      return lane - 1;
    case 0x13c:
      return (lane - 1) & 63;
    case 0x140:
      return row | (15 - at);
    case 0x141:
      return (lane & ~7) | (7 - (lane & 7));
    case 0x142:  // lane 15 of the row before; row 0 has none
      return row - 1;
    case 0x143:  // lane 31 into rows 2 and 3
      return lane >= 32 ? 31 : -1;
    default:
      return -1;
  }
}

// The lanes of EXEC that an instruction with DPP writes.
[[gnu::always_inline]] inline uint64_t DppLanes(const Inst& i, uint64_t exec) {
  uint64_t mask = 0;
  for (int l = 0; l < kLanes; ++l) {
    if ((i.row_mask >> (l / 16) & 1) == 0 ||
        (i.bank_mask >> (l % 16 / 4) & 1) == 0)
      continue;
    const int source = DppSource(i.dpp_ctrl, l);
    const bool valid = source >= 0 && (exec >> source & 1) != 0;
    if (valid || i.bound_ctrl) mask |= uint64_t{1} << l;
  }
  return mask & exec;
}

// The byte or half of `word` that an SDWA select names.
[[gnu::always_inline]] inline uint32_t SdwaSelect(uint32_t word, int sel,
                                                  bool sext) {
  if (sel >= 6) return word;  // the dword, or reserved
  const int bits = sel < 4 ? 8 : 16;
  const uint32_t field =
      sel < 4 ? word >> (8 * sel) & 0xff : word >> (16 * (sel - 4)) & 0xffff;
  if (!sext) return field;
  return static_cast<uint32_t>(static_cast<int32_t>(field << (32 - bits)) >>
                               (32 - bits));
}

// The source lane of ds_swizzle: quad permutation, rotation or bit masks inside
// 32 lanes.
[[gnu::always_inline]] inline int SwizzleSource(uint32_t mode, int lane) {
  if ((mode & 0xe000) == 0xe000) {
    // The order of an FFT: bits reversed, of which the masked ones stay.
    const int keep = static_cast<int>(mode & 31);
    int reversed = 0;
    for (int bit = 0; bit < 5; ++bit)
      reversed |= (lane >> bit & 1) << (4 - bit);
    return (lane & 32) | reversed >> __builtin_popcount(mode & 31) |
           (lane & keep);
  }
  if ((mode & 0xf000) == 0xc000 || (mode & 0xf000) == 0xd000) {
    const int n = static_cast<int>(mode >> 5 & 31),
              keep = static_cast<int>(mode & 31);
    const int moved = (mode >> 10 & 1) != 0 ? lane - n : lane + n;
    return (lane & 32) | (lane & keep) | (moved & 31 & ~keep);
  }
  if ((mode & 0x8000) != 0)
    return (lane & ~3) | static_cast<int>(mode >> (2 * (lane & 3)) & 3);
  const int masked =
      (lane & static_cast<int>(mode & 31)) | static_cast<int>(mode >> 5 & 31);
  return (lane & 32) | (masked ^ static_cast<int>(mode >> 10 & 31));
}

// What a lane of v_permlane16_swap and v_permlane32_swap receives from lane
// `from` of the other register: its value when that lane is on or fi (op_sel
// bit 0) is set, else 0 with bound_ctrl (bit 1) and nothing without.
enum class Received { kValue, kZero, kNothing };
[[gnu::always_inline]] inline Received ReceivedFrom(const Inst& i,
                                                    uint64_t exec, int from) {
  if ((exec >> from & 1) != 0 || (i.op_sel & 1) != 0) return Received::kValue;
  return (i.op_sel & 2) != 0 ? Received::kZero : Received::kNothing;
}

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_LANE_ORDER_H_
