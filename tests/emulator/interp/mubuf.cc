// MUBUF: loads, stores, atomics and LDS transfers through a buffer resource.
//
// Raw buffers (no index or no stride) are checked byte-exactly, dword by dword;
// structured ones by index. What is out of range reads 0 and is not written.
#include "tests/emulator/interp/buffer.h"
#include "tests/emulator/interp/dma.h"
#include "tests/emulator/interp/memory.h"
#include "tests/emulator/interp/places.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

// Finds the places of all lanes in a raw buffer; false where they need a look
// one by one.
INGOT_EMULATOR_INLINE bool AllInRange(Wave& w, const Inst& i, const Resource& r,
                                      uint32_t bytes, Places* places) {
  if (r.check != Resource::Check::kBytes || r.index_stride != 0 ||
      w.exec() == 0) {
    return false;
  }
  const uint32_t offset = static_cast<uint32_t>(i.imm);
  if (i.offen) {
    const uint32_t* v = w.v[i.src[0].reg + (i.idxen ? 1 : 0)];
    for (int l = 0; l < kLanes; ++l)
      places->at[l] = uint64_t{v[l] + offset} + r.soffset;
  } else {
    for (int l = 0; l < kLanes; ++l)
      places->at[l] = uint64_t{offset} + r.soffset;
  }
  places->base = r.base;
  places->Settle(w.exec());
  return places->high + bytes <= r.records && places->InMemory(w, bytes);
}

template <Move m, int kDwords>
void LoadOp(Wave& w, const Inst& i) {
  const Resource r(w, i);
  Places places;
  if (AllInRange(w, i, r, MoveBytes(m, kDwords), &places)) {
    NoteAll(w, Space::kGlobal, places, MoveBytes(m, kDwords));
    LoadAll<m, kDwords>(w, i.dst, places);
    IssueVm(w, i, true);
    return;
  }
  constexpr uint32_t kPart = m == Move::kDwords ? 4 : MoveBytes(m, 1);
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const BufferPlace place(w, i, r, l);
    if (place.InRange(r, 0, MoveBytes(m, kDwords))) {
      const uint8_t* p = Global(w, place.address, MoveBytes(m, kDwords), l);
      if (p == nullptr) return;
      LoadLane<m, kDwords>(w, i.dst, l, p);
      continue;
    }
    for (int n = 0; n < kDwords; ++n) {
      alignas(4) static constexpr uint8_t kZero[4] = {};
      const uint8_t* p = kZero;
      if (place.InRange(r, 4u * static_cast<uint32_t>(n), kPart)) {
        p = Global(w, place.address + 4u * static_cast<uint32_t>(n), kPart, l);
        if (p == nullptr) return;
      } else {
        ++w.clipped_loads;
      }
      LoadLane<m, 1>(w, i.dst + n, l, p);
    }
  }
  IssueVm(w, i, true);
}

template <Move m, int kDwords>
void StoreOp(Wave& w, const Inst& i) {
  const Resource r(w, i);
  Places places;
  if (AllInRange(w, i, r, MoveBytes(m, kDwords), &places)) {
    NoteAll(w, Space::kGlobal, places, MoveBytes(m, kDwords));
    StoreAll<m, kDwords>(w, i.data, places);
    IssueVm(w, i, false);
    return;
  }
  constexpr uint32_t kPart = m == Move::kDwords ? 4 : MoveBytes(m, 1);
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const BufferPlace place(w, i, r, l);
    for (int n = 0; n < kDwords; ++n) {
      if (!place.InRange(r, 4u * static_cast<uint32_t>(n), kPart)) {
        ++w.clipped_stores;
        continue;
      }
      uint8_t* p =
          Global(w, place.address + 4u * static_cast<uint32_t>(n), kPart, l);
      if (p == nullptr) return;
      StoreLane<m, 1>(w, i.data + n, l, p);
    }
  }
  IssueVm(w, i, false);
}

template <Rmw op, class T>
void AtomicOp(Wave& w, const Inst& i) {
  constexpr bool kTwo = op == Rmw::kCmpSwap;
  constexpr int kWords = sizeof(T) / 4;
  const Resource r(w, i);
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const BufferPlace place(w, i, r, l);
    T old = 0;
    if (place.InRange(r, 0, sizeof(T))) {
      uint8_t* p = Global(w, place.address, sizeof(T), l);
      if (p == nullptr) return;
      if (place.address % sizeof(T) != 0 && w.check_alignment) {
        w.Raise(FaultKind::kMisalignedAtomic, l, place.address);
        return;
      }
      const T first = ReadPair<T>(w, i.data, l);
      const T second = kTwo ? ReadPair<T>(w, i.data + kWords, l) : 0;
      old = kTwo ? AtomicRmw<op, T>(p, second, first)
                 : AtomicRmw<op, T>(p, first, 0);
    } else {
      ++w.clipped_stores;
    }
    if (i.sc0) WritePair<T>(w, i.dst, l, old);
  }
  IssueVm(w, i, i.sc0);
}

template <Move m, int kDwords>
void ToLds(Wave& w, const Inst& i) {
  const Resource r(w, i);
  DmaTarget target(w, i, kDwords > 1 ? 16 : 4);
  Places places;
  if (m == Move::kDwords && target.AllInLds(w, kDwords) &&
      AllInRange(w, i, r, MoveBytes(m, kDwords), &places)) {
    target.WriteAll<kDwords>(w, places);
    IssueVm(w, i, false);
    return;
  }
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const BufferPlace place(w, i, r, l);
    uint32_t data[4] = {};
    if (place.InRange(r, 0, MoveBytes(m, kDwords))) {
      const uint8_t* p = Global(w, place.address, MoveBytes(m, kDwords), l);
      if (p == nullptr) return;
      if constexpr (m == Move::kDwords) {
        std::memcpy(data, p, 4 * kDwords);
      } else {
        data[0] = Widen<m>(p, 0);
      }
    } else {
      w.clipped_loads += kDwords;
    }
    if (!target.Write(w, l, data, kDwords)) return;
  }
  IssueVm(w, i, false);
}

void Nothing(Wave&, const Inst&) {}

template <Move m, int kDwords>
constexpr OpInfo Ld(uint16_t opcode, const char* name) {
  return Line(opcode, name, &LoadOp<m, kDwords>,
              kLoad | (KeepsHalf(m) ? uint32_t{kPreservesHigh} : 0u), kDwords,
              0, static_cast<int>(MoveBytes(m, kDwords)));
}
template <Move m, int kDwords>
constexpr OpInfo St(uint16_t opcode, const char* name) {
  return Line(opcode, name, &StoreOp<m, kDwords>, kStore, 0, kDwords,
              static_cast<int>(MoveBytes(m, kDwords)));
}
template <Rmw op, class T>
constexpr OpInfo At(uint16_t opcode, const char* name) {
  constexpr int kWords = sizeof(T) / 4;
  return Line(opcode, name, &AtomicOp<op, T>, kAtomic, kWords,
              op == Rmw::kCmpSwap ? 2 * kWords : kWords, sizeof(T));
}
// The LDS forms sit at their plain opcode plus 0x80 (see the decoder).
template <Move m, int kDwords>
constexpr OpInfo Dma(uint16_t opcode, const char* name) {
  OpInfo o = Line(opcode | 0x80, name, &ToLds<m, kDwords>, kLdsDest, 0, 0,
                  static_cast<int>(MoveBytes(m, kDwords)));
  o.cls = OpClass::kLdsDma;
  return o;
}

using U = uint32_t;
using UL = uint64_t;

constexpr OpInfo kMubuf[] = {
    Ld<Move::kU8, 1>(0x10, "buffer_load_ubyte"),
    Ld<Move::kI8, 1>(0x11, "buffer_load_sbyte"),
    Ld<Move::kU16, 1>(0x12, "buffer_load_ushort"),
    Ld<Move::kI16, 1>(0x13, "buffer_load_sshort"),
    Ld<Move::kDwords, 1>(0x14, "buffer_load_dword"),
    Ld<Move::kDwords, 2>(0x15, "buffer_load_dwordx2"),
    Ld<Move::kDwords, 3>(0x16, "buffer_load_dwordx3"),
    Ld<Move::kDwords, 4>(0x17, "buffer_load_dwordx4"),
    St<Move::kU8, 1>(0x18, "buffer_store_byte"),
    St<Move::kU8High, 1>(0x19, "buffer_store_byte_d16_hi"),
    St<Move::kU16, 1>(0x1a, "buffer_store_short"),
    St<Move::kU16High, 1>(0x1b, "buffer_store_short_d16_hi"),
    St<Move::kDwords, 1>(0x1c, "buffer_store_dword"),
    St<Move::kDwords, 2>(0x1d, "buffer_store_dwordx2"),
    St<Move::kDwords, 3>(0x1e, "buffer_store_dwordx3"),
    St<Move::kDwords, 4>(0x1f, "buffer_store_dwordx4"),
    Ld<Move::kU8Low, 1>(0x20, "buffer_load_ubyte_d16"),
    Ld<Move::kU8High, 1>(0x21, "buffer_load_ubyte_d16_hi"),
    Ld<Move::kI8Low, 1>(0x22, "buffer_load_sbyte_d16"),
    Ld<Move::kI8High, 1>(0x23, "buffer_load_sbyte_d16_hi"),
    Ld<Move::kU16Low, 1>(0x24, "buffer_load_short_d16"),
    Ld<Move::kU16High, 1>(0x25, "buffer_load_short_d16_hi"),
    Line(0x28, "buffer_wbl2", &Nothing, 0, 0, 0, 0),
    Line(0x29, "buffer_inv", &Nothing, 0, 0, 0, 0),
    Dma<Move::kU8, 1>(0x10, "buffer_load_ubyte lds"),
    Dma<Move::kI8, 1>(0x11, "buffer_load_sbyte lds"),
    Dma<Move::kU16, 1>(0x12, "buffer_load_ushort lds"),
    Dma<Move::kI16, 1>(0x13, "buffer_load_sshort lds"),
    Dma<Move::kDwords, 1>(0x14, "buffer_load_dword lds"),
    Dma<Move::kDwords, 3>(0x16, "buffer_load_dwordx3 lds"),
    Dma<Move::kDwords, 4>(0x17, "buffer_load_dwordx4 lds"),
    At<Rmw::kSwap, U>(0x40, "buffer_atomic_swap"),
    At<Rmw::kCmpSwap, U>(0x41, "buffer_atomic_cmpswap"),
    At<Rmw::kAdd, U>(0x42, "buffer_atomic_add"),
    At<Rmw::kSub, U>(0x43, "buffer_atomic_sub"),
    At<Rmw::kMinI, U>(0x44, "buffer_atomic_smin"),
    At<Rmw::kMinU, U>(0x45, "buffer_atomic_umin"),
    At<Rmw::kMaxI, U>(0x46, "buffer_atomic_smax"),
    At<Rmw::kMaxU, U>(0x47, "buffer_atomic_umax"),
    At<Rmw::kAnd, U>(0x48, "buffer_atomic_and"),
    At<Rmw::kOr, U>(0x49, "buffer_atomic_or"),
    At<Rmw::kXor, U>(0x4a, "buffer_atomic_xor"),
    At<Rmw::kInc, U>(0x4b, "buffer_atomic_inc"),
    At<Rmw::kDec, U>(0x4c, "buffer_atomic_dec"),
    At<Rmw::kAddF, U>(0x4d, "buffer_atomic_add_f32"),
    At<Rmw::kPkAddF16, U>(0x4e, "buffer_atomic_pk_add_f16"),
    At<Rmw::kAddF, UL>(0x4f, "buffer_atomic_add_f64"),
    At<Rmw::kMinF, UL>(0x50, "buffer_atomic_min_f64"),
    At<Rmw::kMaxF, UL>(0x51, "buffer_atomic_max_f64"),
    At<Rmw::kPkAddBf16, U>(0x52, "buffer_atomic_pk_add_bf16"),
    At<Rmw::kSwap, UL>(0x60, "buffer_atomic_swap_x2"),
    At<Rmw::kCmpSwap, UL>(0x61, "buffer_atomic_cmpswap_x2"),
    At<Rmw::kAdd, UL>(0x62, "buffer_atomic_add_x2"),
    At<Rmw::kSub, UL>(0x63, "buffer_atomic_sub_x2"),
    At<Rmw::kMinI, UL>(0x64, "buffer_atomic_smin_x2"),
    At<Rmw::kMinU, UL>(0x65, "buffer_atomic_umin_x2"),
    At<Rmw::kMaxI, UL>(0x66, "buffer_atomic_smax_x2"),
    At<Rmw::kMaxU, UL>(0x67, "buffer_atomic_umax_x2"),
    At<Rmw::kAnd, UL>(0x68, "buffer_atomic_and_x2"),
    At<Rmw::kOr, UL>(0x69, "buffer_atomic_or_x2"),
    At<Rmw::kXor, UL>(0x6a, "buffer_atomic_xor_x2"),
    At<Rmw::kInc, UL>(0x6b, "buffer_atomic_inc_x2"),
    At<Rmw::kDec, UL>(0x6c, "buffer_atomic_dec_x2"),
};

}  // namespace

OpTable MubufTable() { return {kMubuf, sizeof(kMubuf) / sizeof(kMubuf[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
