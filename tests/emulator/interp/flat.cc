// FLAT, GLOBAL and SCRATCH: loads, stores, atomics and global-to-LDS transfers.
#include "tests/emulator/interp/dma.h"
#include "tests/emulator/interp/memory.h"
#include "tests/emulator/interp/places.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

enum class Segment { kFlat, kGlobal, kScratch };

// The host pointer that `lane` addresses, or null after a fault.
template <Segment s>
INGOT_EMULATOR_INLINE uint8_t* At(Wave& w, const Inst& i, int lane,
                                  uint32_t bytes) {
  const int v = i.src[0].reg;
  if constexpr (s == Segment::kScratch) {
    uint32_t offset = static_cast<uint32_t>(i.imm);
    if (i.sve) offset += w.v[v][lane];
    if (i.saddr != kNoSaddr) offset += w.s[i.saddr];
    return ScratchAt(w, offset, bytes, lane);
  }
  uint64_t address;
  if (i.saddr != kNoSaddr) {
    address = w.S64(i.saddr) + w.v[v][lane];
  } else {
    address = w.v[v][lane] | uint64_t{w.v[v + 1][lane]} << 32;
  }
  address += static_cast<uint64_t>(int64_t{i.imm});
  if constexpr (s == Segment::kFlat) {
    if (address >> 48 == kSharedAperture >> 48) {
      return Lds(w, static_cast<uint32_t>(address), bytes, lane);
    }
    if (address >> 48 == kPrivateAperture >> 48) {
      return ScratchAt(w, address & 0xffffffff, bytes, lane);
    }
  }
  return Global(w, address, bytes, lane);
}

// What a flat instruction turns out to work on.
struct FlatTargets {
  bool lds = false, memory = false;

  FlatTargets(const Wave& w, const Inst& i) {
    for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
      const int l = __builtin_ctzll(todo);
      const bool shared =
          w.v[i.src[0].reg + 1][l] >> 16 == kSharedAperture >> 48;
      (shared ? lds : memory) = true;
    }
  }
};

// Flat instructions count in both counters and return through that of the
// memory they work on; the other one is taken back at an unknown time. Those
// that work on both return in any order.
void IssueFlat(Wave& w, const Inst& i, bool writes, const FlatTargets& to) {
  if (!w.count_waits) return;
  Pending p;
  const RegRange regs = {i.dst, i.op->dst_words};
  if (writes && to.memory) p.regs = regs;
  p.in_order = to.memory && !to.lds;
  w.waits.IssueVm(p);
  p = Pending();
  if (writes && to.lds) p.regs = regs;
  p.in_order = false;
  p.lds = to.lds;
  w.waits.IssueLgkm(p);
}

// Made before an instruction changes registers; counts it afterwards.
template <Segment s>
struct Counted {
  INGOT_EMULATOR_INLINE Counted(const Wave&, const Inst&) {}
  INGOT_EMULATOR_INLINE void Issue(Wave& w, const Inst& i, bool writes) const {
    IssueVm(w, i, writes);
  }
};
template <>
struct Counted<Segment::kFlat> {
  FlatTargets to;
  Counted(const Wave& w, const Inst& i) : to(w, i) {}
  void Issue(Wave& w, const Inst& i, bool writes) const {
    IssueFlat(w, i, writes, to);
  }
};

// Finds the places of all lanes; false where they need a look one by one.
template <Segment s>
INGOT_EMULATOR_INLINE bool AllInMemory(Wave& w, const Inst& i, uint32_t bytes,
                                       Places* places) {
  if (s == Segment::kScratch || w.exec() == 0) return false;
  const uint32_t* low = w.v[i.src[0].reg];
  uint64_t offset = static_cast<uint64_t>(int64_t{i.imm});
  if (i.saddr != kNoSaddr) {
    offset += w.S64(i.saddr);
    for (int l = 0; l < kLanes; ++l) places->at[l] = offset + low[l];
  } else {
    const uint32_t* high = w.v[i.src[0].reg + 1];
    for (int l = 0; l < kLanes; ++l)
      places->at[l] = offset + (low[l] | uint64_t{high[l]} << 32);
  }
  places->Settle(w.exec());
  // A flat address may be one of LDS or scratch.
  if (s == Segment::kFlat && places->high >= kSharedAperture) return false;
  return places->InMemory(w, bytes);
}

template <Segment s, Move m, int kDwords>
void LoadOp(Wave& w, const Inst& i) {
  const Counted<s> counted(w, i);
  Places places;
  if (AllInMemory<s>(w, i, MoveBytes(m, kDwords), &places)) {
    NoteAll(w, Space::kGlobal, places, MoveBytes(m, kDwords));
    LoadAll<m, kDwords>(w, i.dst, places);
    counted.Issue(w, i, true);
    return;
  }
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const uint8_t* p = At<s>(w, i, l, MoveBytes(m, kDwords));
    if (p == nullptr) return;
    LoadLane<m, kDwords>(w, i.dst, l, p);
  }
  counted.Issue(w, i, true);
}

template <Segment s, Move m, int kDwords>
void StoreOp(Wave& w, const Inst& i) {
  const Counted<s> counted(w, i);
  Places places;
  if (AllInMemory<s>(w, i, MoveBytes(m, kDwords), &places)) {
    NoteAll(w, Space::kGlobal, places, MoveBytes(m, kDwords));
    StoreAll<m, kDwords>(w, i.data, places);
    counted.Issue(w, i, false);
    return;
  }
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    uint8_t* p = At<s>(w, i, l, MoveBytes(m, kDwords));
    if (p == nullptr) return;
    StoreLane<m, kDwords>(w, i.data, l, p);
  }
  counted.Issue(w, i, false);
}

template <Segment s, Rmw op, class T>
void AtomicOp(Wave& w, const Inst& i) {
  constexpr bool kTwo = op == Rmw::kCmpSwap;
  constexpr int kWords = sizeof(T) / 4;
  const Counted<s> counted(w, i);
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    uint8_t* p = At<s>(w, i, l, sizeof(T));
    if (p == nullptr) return;
    if (reinterpret_cast<uint64_t>(p) % sizeof(T) != 0 && w.check_alignment) {
      w.Raise(FaultKind::kMisalignedAtomic, l, reinterpret_cast<uint64_t>(p));
      return;
    }
    // Memory atomics take the new value first and the comparand after it.
    const T first = ReadPair<T>(w, i.data, l);
    const T second = kTwo ? ReadPair<T>(w, i.data + kWords, l) : 0;
    const T old = kTwo ? AtomicRmw<op, T>(p, second, first)
                       : AtomicRmw<op, T>(p, first, 0);
    if (i.sc0) WritePair<T>(w, i.dst, l, old);
  }
  counted.Issue(w, i, i.sc0);
}

template <Segment s, Move m, int kDwords>
void ToLds(Wave& w, const Inst& i) {
  DmaTarget target(w, i, kDwords > 1 ? 16 : 4);
  Places places;
  if (m == Move::kDwords && target.AllInLds(w, kDwords) &&
      AllInMemory<s>(w, i, MoveBytes(m, kDwords), &places)) {
    target.WriteAll<kDwords>(w, places);
    IssueVm(w, i, false);
    return;
  }
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const uint8_t* p = At<s>(w, i, l, MoveBytes(m, kDwords));
    if (p == nullptr) return;
    uint32_t data[4] = {};
    if constexpr (m == Move::kDwords) {
      std::memcpy(data, p, 4 * kDwords);
    } else {
      data[0] = Widen<m>(p, 0);
    }
    if (!target.Write(w, l, data, kDwords)) return;
  }
  IssueVm(w, i, false);
}

template <Segment s, Move m, int kDwords>
constexpr OpInfo Ld(uint16_t opcode, const char* name) {
  return Line(opcode, name, &LoadOp<s, m, kDwords>,
              kLoad | (KeepsHalf(m) ? uint32_t{kPreservesHigh} : 0u), kDwords,
              0, static_cast<int>(MoveBytes(m, kDwords)));
}
template <Segment s, Move m, int kDwords>
constexpr OpInfo St(uint16_t opcode, const char* name) {
  return Line(opcode, name, &StoreOp<s, m, kDwords>, kStore, 0, kDwords,
              static_cast<int>(MoveBytes(m, kDwords)));
}
template <Segment s, Rmw op, class T>
constexpr OpInfo Rm(uint16_t opcode, const char* name) {
  constexpr int kWords = sizeof(T) / 4;
  return Line(opcode, name, &AtomicOp<s, op, T>, kAtomic, kWords,
              op == Rmw::kCmpSwap ? 2 * kWords : kWords, sizeof(T));
}
template <Segment s, Move m, int kDwords>
constexpr OpInfo Dma(uint16_t opcode, const char* name) {
  OpInfo o = Line(opcode, name, &ToLds<s, m, kDwords>, kLdsDest, 0, 0,
                  static_cast<int>(MoveBytes(m, kDwords)));
  o.cls = OpClass::kLdsDma;
  return o;
}

using U = uint32_t;
using UL = uint64_t;

#define INGOT_MOVES(s, p)                                      \
  Ld<s, Move::kU8, 1>(0x10, p "_load_ubyte"),                  \
      Ld<s, Move::kI8, 1>(0x11, p "_load_sbyte"),              \
      Ld<s, Move::kU16, 1>(0x12, p "_load_ushort"),            \
      Ld<s, Move::kI16, 1>(0x13, p "_load_sshort"),            \
      Ld<s, Move::kDwords, 1>(0x14, p "_load_dword"),          \
      Ld<s, Move::kDwords, 2>(0x15, p "_load_dwordx2"),        \
      Ld<s, Move::kDwords, 3>(0x16, p "_load_dwordx3"),        \
      Ld<s, Move::kDwords, 4>(0x17, p "_load_dwordx4"),        \
      St<s, Move::kU8, 1>(0x18, p "_store_byte"),              \
      St<s, Move::kU8High, 1>(0x19, p "_store_byte_d16_hi"),   \
      St<s, Move::kU16, 1>(0x1a, p "_store_short"),            \
      St<s, Move::kU16High, 1>(0x1b, p "_store_short_d16_hi"), \
      St<s, Move::kDwords, 1>(0x1c, p "_store_dword"),         \
      St<s, Move::kDwords, 2>(0x1d, p "_store_dwordx2"),       \
      St<s, Move::kDwords, 3>(0x1e, p "_store_dwordx3"),       \
      St<s, Move::kDwords, 4>(0x1f, p "_store_dwordx4"),       \
      Ld<s, Move::kU8Low, 1>(0x20, p "_load_ubyte_d16"),       \
      Ld<s, Move::kU8High, 1>(0x21, p "_load_ubyte_d16_hi"),   \
      Ld<s, Move::kI8Low, 1>(0x22, p "_load_sbyte_d16"),       \
      Ld<s, Move::kI8High, 1>(0x23, p "_load_sbyte_d16_hi"),   \
      Ld<s, Move::kU16Low, 1>(0x24, p "_load_short_d16"),      \
      Ld<s, Move::kU16High, 1>(0x25, p "_load_short_d16_hi")

#define INGOT_ATOMICS(s, p)                                     \
  Rm<s, Rmw::kSwap, U>(0x40, p "_atomic_swap"),                 \
      Rm<s, Rmw::kCmpSwap, U>(0x41, p "_atomic_cmpswap"),       \
      Rm<s, Rmw::kAdd, U>(0x42, p "_atomic_add"),               \
      Rm<s, Rmw::kSub, U>(0x43, p "_atomic_sub"),               \
      Rm<s, Rmw::kMinI, U>(0x44, p "_atomic_smin"),             \
      Rm<s, Rmw::kMinU, U>(0x45, p "_atomic_umin"),             \
      Rm<s, Rmw::kMaxI, U>(0x46, p "_atomic_smax"),             \
      Rm<s, Rmw::kMaxU, U>(0x47, p "_atomic_umax"),             \
      Rm<s, Rmw::kAnd, U>(0x48, p "_atomic_and"),               \
      Rm<s, Rmw::kOr, U>(0x49, p "_atomic_or"),                 \
      Rm<s, Rmw::kXor, U>(0x4a, p "_atomic_xor"),               \
      Rm<s, Rmw::kInc, U>(0x4b, p "_atomic_inc"),               \
      Rm<s, Rmw::kDec, U>(0x4c, p "_atomic_dec"),               \
      Rm<s, Rmw::kAddF, U>(0x4d, p "_atomic_add_f32"),          \
      Rm<s, Rmw::kPkAddF16, U>(0x4e, p "_atomic_pk_add_f16"),   \
      Rm<s, Rmw::kAddF, UL>(0x4f, p "_atomic_add_f64"),         \
      Rm<s, Rmw::kMinF, UL>(0x50, p "_atomic_min_f64"),         \
      Rm<s, Rmw::kMaxF, UL>(0x51, p "_atomic_max_f64"),         \
      Rm<s, Rmw::kPkAddBf16, U>(0x52, p "_atomic_pk_add_bf16"), \
      Rm<s, Rmw::kSwap, UL>(0x60, p "_atomic_swap_x2"),         \
      Rm<s, Rmw::kCmpSwap, UL>(0x61, p "_atomic_cmpswap_x2"),   \
      Rm<s, Rmw::kAdd, UL>(0x62, p "_atomic_add_x2"),           \
      Rm<s, Rmw::kSub, UL>(0x63, p "_atomic_sub_x2"),           \
      Rm<s, Rmw::kMinI, UL>(0x64, p "_atomic_smin_x2"),         \
      Rm<s, Rmw::kMinU, UL>(0x65, p "_atomic_umin_x2"),         \
      Rm<s, Rmw::kMaxI, UL>(0x66, p "_atomic_smax_x2"),         \
      Rm<s, Rmw::kMaxU, UL>(0x67, p "_atomic_umax_x2"),         \
      Rm<s, Rmw::kAnd, UL>(0x68, p "_atomic_and_x2"),           \
      Rm<s, Rmw::kOr, UL>(0x69, p "_atomic_or_x2"),             \
      Rm<s, Rmw::kXor, UL>(0x6a, p "_atomic_xor_x2"),           \
      Rm<s, Rmw::kInc, UL>(0x6b, p "_atomic_inc_x2"),           \
      Rm<s, Rmw::kDec, UL>(0x6c, p "_atomic_dec_x2")

#define INGOT_DMA(s, p)                                  \
  Dma<s, Move::kU8, 1>(0x26, p "_load_lds_ubyte"),       \
      Dma<s, Move::kI8, 1>(0x27, p "_load_lds_sbyte"),   \
      Dma<s, Move::kU16, 1>(0x28, p "_load_lds_ushort"), \
      Dma<s, Move::kI16, 1>(0x29, p "_load_lds_sshort"), \
      Dma<s, Move::kDwords, 1>(0x2a, p "_load_lds_dword")

constexpr OpInfo kFlatOps[] = {INGOT_MOVES(Segment::kFlat, "flat"),
                               INGOT_ATOMICS(Segment::kFlat, "flat")};
constexpr OpInfo kGlobalOps[] = {
    INGOT_MOVES(Segment::kGlobal, "global"),
    INGOT_ATOMICS(Segment::kGlobal, "global"),
    INGOT_DMA(Segment::kGlobal, "global"),
    Dma<Segment::kGlobal, Move::kDwords, 4>(0x7d, "global_load_lds_dwordx4"),
    Dma<Segment::kGlobal, Move::kDwords, 3>(0x7e, "global_load_lds_dwordx3")};
constexpr OpInfo kScratchOps[] = {INGOT_MOVES(Segment::kScratch, "scratch"),
                                  INGOT_DMA(Segment::kScratch, "scratch")};

#undef INGOT_MOVES
#undef INGOT_ATOMICS
#undef INGOT_DMA

}  // namespace

OpTable FlatTable() {
  return {kFlatOps, sizeof(kFlatOps) / sizeof(kFlatOps[0])};
}
OpTable GlobalTable() {
  return {kGlobalOps, sizeof(kGlobalOps) / sizeof(kGlobalOps[0])};
}
OpTable ScratchTable() {
  return {kScratchOps, sizeof(kScratchOps) / sizeof(kScratchOps[0])};
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
