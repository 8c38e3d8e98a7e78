// The places that all lanes of a memory instruction access, taken together:
// where one check clears them all, data moves in rows of lanes. An instruction
// that this cannot clear is executed lane by lane (memory.h), which finds the
// lane that faults.
#ifndef TESTS_EMULATOR_INTERP_PLACES_H_
#define TESTS_EMULATOR_INTERP_PLACES_H_

#include <cstdint>
#include <cstring>

#include "tests/emulator/interp/memory.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

// Lane l accesses the host's `base + at[l]`.
struct alignas(64) Places {
  uint64_t at[kLanes];
  uint64_t base = 0;
  uint64_t exec;
  uint64_t low, high;  // of at[]

  // at[] is filled, for lanes that are off with anything: they get the place of
  // one that is on, so that all may be read. At least one lane is on.
  INGOT_EMULATOR_INLINE void Settle(uint64_t lanes) {
    exec = lanes;
    if (exec != kAllLanes) {
      const uint64_t some = at[__builtin_ctzll(exec)];
      for (int l = 0; l < kLanes; ++l)
        at[l] = (exec >> l & 1) != 0 ? at[l] : some;
    }
    low = high = at[0];
    for (int l = 1; l < kLanes; ++l) {
      low = at[l] < low ? at[l] : low;
      high = at[l] > high ? at[l] : high;
    }
  }

  INGOT_EMULATOR_INLINE uint8_t* Host(int lane) const {
    return reinterpret_cast<uint8_t*>(base + at[lane]);
  }

  // Whether the lanes' places lie one behind the other.
  template <uint32_t kBytes>
  INGOT_EMULATOR_INLINE bool Adjoin() const {
    uint64_t differ = 0;
    for (int l = 0; l < kLanes; ++l)
      differ |= at[l] ^ (at[0] + static_cast<uint32_t>(l) * kBytes);
    return differ == 0;
  }

  // Whether all lie in one allocation.
  INGOT_EMULATOR_INLINE bool InMemory(Wave& w, uint32_t bytes) const {
    const uint64_t first = base + low, last = base + high;
    if (first >= w.hit_begin && last < w.hit_end && w.hit_end - last >= bytes)
        [[likely]] {
      return first <= last;
    }
    constexpr uint64_t kFar = uint64_t{1} << 47;
    return high - low < kFar && w.Find(first, high - low + bytes);
  }
};

INGOT_EMULATOR_INLINE void NoteAll(Wave& w, Space space, const Places& p,
                                   uint32_t bytes) {
  if (w.accesses == nullptr) return;
  w.accesses->AddRow(space, space == Space::kGlobal ? p.base : 0, p.at, p.low,
                     p.high, bytes, p.exec);
}

// ---- Rows ----

using FourDwords = uint32_t __attribute__((vector_size(16)));

// Turns four rows of four dwords into columns.
INGOT_EMULATOR_INLINE void Transpose(FourDwords (&x)[4]) {
  // Interleaves the low and the high halves of two rows.
  const auto low = [](FourDwords a, FourDwords b) {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
  };
  const auto high = [](FourDwords a, FourDwords b) {
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
  };
  const FourDwords a = low(x[0], x[2]), b = low(x[1], x[3]),
                   c = high(x[0], x[2]), d = high(x[1], x[3]);
  x[0] = low(a, b);
  x[1] = high(a, b);
  x[2] = low(c, d);
  x[3] = high(c, d);
}

template <int kDwords>
INGOT_EMULATOR_INLINE void LoadRows(const Places& p, uint32_t (*rows)[kLanes]) {
  if constexpr (kDwords == 4) {
    for (int l = 0; l < kLanes; l += 4) {
      FourDwords x[4];
      for (int n = 0; n < 4; ++n) std::memcpy(&x[n], p.Host(l + n), 16);
      Transpose(x);
      for (int n = 0; n < 4; ++n) std::memcpy(&rows[n][l], &x[n], 16);
    }
  } else if (kDwords == 1 && p.Adjoin<4>()) {
    std::memcpy(rows[0], p.Host(0), sizeof(rows[0]));
  } else {
    for (int l = 0; l < kLanes; ++l) {
      uint32_t x[kDwords];
      std::memcpy(x, p.Host(l), sizeof(x));
      for (int n = 0; n < kDwords; ++n) rows[n][l] = x[n];
    }
  }
}

template <int kDwords>
INGOT_EMULATOR_INLINE void StoreRows(const Places& p,
                                     const uint32_t (*rows)[kLanes]) {
  if constexpr (kDwords == 4) {
    for (int l = 0; l < kLanes; l += 4) {
      FourDwords x[4];
      for (int n = 0; n < 4; ++n) std::memcpy(&x[n], &rows[n][l], 16);
      Transpose(x);
      for (int n = 0; n < 4; ++n) std::memcpy(p.Host(l + n), &x[n], 16);
    }
  } else if (kDwords == 1 && p.Adjoin<4>()) {
    std::memcpy(p.Host(0), rows[0], sizeof(rows[0]));
  } else {
    for (int l = 0; l < kLanes; ++l) {
      uint32_t x[kDwords];
      for (int n = 0; n < kDwords; ++n) x[n] = rows[n][l];
      std::memcpy(p.Host(l), x, sizeof(x));
    }
  }
}

// ---- Registers ----

template <Move m, int kDwords>
void LoadAll(Wave& w, int reg, const Places& p) {
  if constexpr (m != Move::kDwords) {
    Buffer r;
    for (int l = 0; l < kLanes; ++l)
      r.w[0][l] = Widen<m>(p.Host(l), w.v[reg][l]);
    WriteLanes(w, reg, r.w[0], p.exec);
  } else if (p.exec == kAllLanes) {
    LoadRows<kDwords>(p, &w.v[reg]);
  } else {
    alignas(64) uint32_t rows[kDwords][kLanes];
    LoadRows<kDwords>(p, rows);
    for (int n = 0; n < kDwords; ++n) WriteLanes(w, reg + n, rows[n], p.exec);
  }
}

// Of lanes that write to one place the last one wins.
template <Move m, int kDwords>
void StoreAll(const Wave& w, int reg, const Places& p) {
  if (m == Move::kDwords && p.exec == kAllLanes) {
    StoreRows<kDwords>(p, &w.v[reg]);
    return;
  }
  for (uint64_t todo = p.exec; todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    StoreLane<m, kDwords>(w, reg, l, p.Host(l));
  }
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_PLACES_H_
