// Checked access to global, scratch and LDS memory by one lane.
#ifndef TESTS_EMULATOR_INTERP_MEMORY_H_
#define TESTS_EMULATOR_INTERP_MEMORY_H_

#include <cstdint>
#include <cstring>

#include "tests/emulator/interp/lanes.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

INGOT_EMULATOR_INLINE void Note(Wave& w, Space space, uint64_t address,
                                uint32_t bytes, int lane) {
  if (w.accesses != nullptr) w.accesses->Add(space, address, bytes, lane);
}

// Host pointer of a global address, or null after raising a fault.
INGOT_EMULATOR_INLINE uint8_t* Global(Wave& w, uint64_t address, uint32_t bytes,
                                      int lane) {
  if (address < w.hit_begin || w.hit_end - address < bytes ||
      address >= w.hit_end) [[unlikely]] {
    if (!w.Find(address, bytes))
      return w.OutOfBounds(FaultKind::kIllegalAddress, lane, address);
  }
  Note(w, Space::kGlobal, address, bytes, lane);
  return reinterpret_cast<uint8_t*>(address);
}

INGOT_EMULATOR_INLINE uint8_t* ScratchAt(Wave& w, uint64_t offset,
                                         uint32_t bytes, int lane) {
  if (offset + bytes > w.scratch_bytes || offset > 0xffffffffu) [[unlikely]] {
    return w.OutOfBounds(FaultKind::kScratchOutOfRange, lane, offset);
  }
  Note(w, Space::kScratch, offset, bytes, lane);
  return w.scratch + uint64_t{w.scratch_bytes} * static_cast<uint32_t>(lane) +
         offset;
}

INGOT_EMULATOR_INLINE uint8_t* Lds(Wave& w, uint32_t offset, uint32_t bytes,
                                   int lane) {
  Group& g = *w.group;
  if (uint64_t{offset} + bytes > g.lds_bytes) [[unlikely]] {
    return w.OutOfBounds(FaultKind::kLdsOutOfRange, lane, offset);
  }
  Note(w, Space::kLds, offset, bytes, lane);
  return g.lds + offset;
}

template <class T>
INGOT_EMULATOR_INLINE T LoadAs(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// How a memory opcode moves a lane's data.
enum class Move : uint8_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kDwords,
  kU8Low,
  kU8High,
  kI8Low,
  kI8High,
  kU16Low,
  kU16High,  // d16: one half of a register
};

constexpr uint32_t MoveBytes(Move m, int dwords) {
  switch (m) {
    case Move::kDwords:
      return static_cast<uint32_t>(dwords) * 4;
    case Move::kU16:
    case Move::kI16:
    case Move::kU16Low:
    case Move::kU16High:
      return 2;
    default:
      return 1;
  }
}
constexpr bool KeepsHalf(Move m) { return m >= Move::kU8Low; }

// The register value of a sub-dword load.
template <Move m>
INGOT_EMULATOR_INLINE uint32_t Widen(const uint8_t* p, uint32_t old) {
  if constexpr (m == Move::kU8) return *p;
  if constexpr (m == Move::kI8)
    return static_cast<uint32_t>(static_cast<int8_t>(*p));
  if constexpr (m == Move::kU16) return LoadAs<uint16_t>(p);
  if constexpr (m == Move::kI16)
    return static_cast<uint32_t>(LoadAs<int16_t>(p));
  if constexpr (m == Move::kU8Low) return (old & 0xffff0000) | *p;
  if constexpr (m == Move::kU8High) return (old & 0xffff) | uint32_t{*p} << 16;
  if constexpr (m == Move::kI8Low) {
    return (old & 0xffff0000) |
           (static_cast<uint32_t>(static_cast<int8_t>(*p)) & 0xffff);
  }
  if constexpr (m == Move::kI8High) {
    return (old & 0xffff) | static_cast<uint32_t>(static_cast<int8_t>(*p))
                                << 16;
  }
  if constexpr (m == Move::kU16Low)
    return (old & 0xffff0000) | LoadAs<uint16_t>(p);
  if constexpr (m == Move::kU16High)
    return (old & 0xffff) | uint32_t{LoadAs<uint16_t>(p)} << 16;
  return old;
}

template <Move m, int kDwords>
INGOT_EMULATOR_INLINE void LoadLane(Wave& w, int reg, int lane,
                                    const uint8_t* p) {
  if constexpr (m == Move::kDwords) {
    for (int n = 0; n < kDwords; ++n)
      w.v[reg + n][lane] = LoadAs<uint32_t>(p + 4 * n);
  } else {
    w.v[reg][lane] = Widen<m>(p, w.v[reg][lane]);
  }
}

template <Move m, int kDwords>
INGOT_EMULATOR_INLINE void StoreLane(const Wave& w, int reg, int lane,
                                     uint8_t* p) {
  if constexpr (m == Move::kDwords) {
    for (int n = 0; n < kDwords; ++n)
      std::memcpy(p + 4 * n, &w.v[reg + n][lane], 4);
  } else {
    const uint32_t value =
        w.v[reg][lane] >> (m == Move::kU8High || m == Move::kU16High ? 16 : 0);
    std::memcpy(p, &value, MoveBytes(m, 0));
  }
}

// Read-modify-write of 4 or 8 bytes. The same table serves global, buffer, flat
// and LDS atomics.
enum class Rmw : uint8_t {
  kSwap,
  kCmpSwap,
  kAdd,
  kSub,
  kRsub,
  kMinI,
  kMinU,
  kMaxI,
  kMaxU,
  kAnd,
  kOr,
  kXor,
  kInc,
  kDec,
  kMskor,
  kWrap,
  kAddF,
  kMinF,
  kMaxF,
  kCmpSwapF,
  kPkAddF16,
  kPkAddBf16,
  kCondSwap,
};

// The new value; `data` and `other` as the instruction's operands. kFlush: f32
// denormals become zero.
template <Rmw op, bool kFlush, class T>
T Modify(T old, T data, T other);

// Performs the operation on host memory shared by all host threads; returns the
// old value. Out of line, so that all kinds of memory share one copy.
template <Rmw op, class T>
[[gnu::noinline]] T AtomicRmw(uint8_t* p, T data, T other) {
  T* target = reinterpret_cast<T*>(p);
  T old = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (true) {
    const T next = Modify<op, true, T>(old, data, other);
    if (__atomic_compare_exchange_n(target, &old, next, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

template <class T>
INGOT_EMULATOR_INLINE T ReadPair(const Wave& w, int reg, int lane) {
  if constexpr (sizeof(T) == 8) {
    return w.v[reg][lane] | uint64_t{w.v[reg + 1][lane]} << 32;
  } else {
    return w.v[reg][lane];
  }
}
template <class T>
INGOT_EMULATOR_INLINE void WritePair(Wave& w, int reg, int lane, T value) {
  w.v[reg][lane] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8)
    w.v[reg + 1][lane] = static_cast<uint32_t>(value >> 32);
}

// ---- Counters ----

INGOT_EMULATOR_INLINE void IssueVm(Wave& w, const Inst& i, bool writes) {
  if (!w.count_waits) return;
  Pending p;
  if (writes) p.regs = {i.dst, i.op->dst_words};
  w.waits.IssueVm(p);
}
// For LDS instructions.
INGOT_EMULATOR_INLINE void IssueLgkm(Wave& w, const Inst& i, bool writes) {
  if (!w.count_waits) return;
  Pending p;
  if (writes) p.regs = {i.dst, i.op->dst_words};
  p.lds = true;
  w.waits.IssueLgkm(p);
}

// A table's line for an instruction of vector memory: registers written, data
// registers read, bytes a lane.
constexpr OpInfo Line(uint16_t opcode, const char* name, Handler run,
                      uint32_t flags, int dst, int data, int bytes) {
  OpInfo o{opcode, name, run, OpClass::kVmem, flags};
  o.dst_words = static_cast<uint8_t>(dst);
  o.src_words[1] = static_cast<uint8_t>(data);
  o.bytes = static_cast<uint8_t>(bytes);
  return o;
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#include "tests/emulator/interp/rmw.h"

#endif  // TESTS_EMULATOR_INTERP_MEMORY_H_
