// DS: LDS loads, stores and atomics, lane exchanges, transposing reads.
#include "tests/emulator/interp/dma.h"
#include "tests/emulator/interp/memory.h"
#include "tests/emulator/interp/places.h"
#include "tests/emulator/interp/tables.h"
#include "tests/emulator/lane_order.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

DmaTarget::DmaTarget(const Wave& w, const Inst& i, uint32_t stride)
    : base_((w.s[kM0] & 0x3ffff) + static_cast<uint32_t>(i.imm)),
      stride_(stride) {}

bool DmaTarget::Write(Wave& w, int lane, const uint32_t* data, int dwords) {
  Group& g = *w.group;
  const uint32_t at = base_ + stride_ * static_cast<uint32_t>(lane);
  const uint32_t bytes = 4u * static_cast<uint32_t>(dwords);
  if (uint64_t{at} + bytes > g.lds_bytes) {
    return w.OutOfBounds(FaultKind::kLdsOutOfRange, lane, at) != nullptr;
  }
  Note(w, Space::kLds, at, bytes, lane);
  std::memcpy(g.lds + at, data, bytes);
  return true;
}

namespace {

// Finds the places of all lanes; false where they need a look one by one.
INGOT_EMULATOR_INLINE bool AllInLds(const Wave& w, const Inst& i,
                                    uint32_t offset, uint32_t bytes,
                                    Places* places) {
  if (w.exec() == 0) return false;
  const uint32_t* address = w.v[i.src[0].reg];
  for (int l = 0; l < kLanes; ++l) places->at[l] = address[l] + offset;
  places->base = reinterpret_cast<uint64_t>(w.group->lds);
  places->Settle(w.exec());
  return places->high + bytes <= w.group->lds_bytes;
}

template <Move m, int kDwords>
void Read(Wave& w, const Inst& i) {
  Places places;
  if (AllInLds(w, i, static_cast<uint32_t>(i.imm), MoveBytes(m, kDwords),
               &places)) {
    NoteAll(w, Space::kLds, places, MoveBytes(m, kDwords));
    LoadAll<m, kDwords>(w, i.dst, places);
    IssueLgkm(w, i, true);
    return;
  }
  const uint32_t* address = w.v[i.src[0].reg];
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const uint8_t* p = Lds(w, address[l] + static_cast<uint32_t>(i.imm),
                           MoveBytes(m, kDwords), l);
    if (p == nullptr) return;
    LoadLane<m, kDwords>(w, i.dst, l, p);
  }
  IssueLgkm(w, i, true);
}

template <Move m, int kDwords>
void Write(Wave& w, const Inst& i) {
  Places places;
  if (AllInLds(w, i, static_cast<uint32_t>(i.imm), MoveBytes(m, kDwords),
               &places)) {
    NoteAll(w, Space::kLds, places, MoveBytes(m, kDwords));
    StoreAll<m, kDwords>(w, i.data, places);
    IssueLgkm(w, i, false);
    return;
  }
  const uint32_t* address = w.v[i.src[0].reg];
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    uint8_t* p = Lds(w, address[l] + static_cast<uint32_t>(i.imm),
                     MoveBytes(m, kDwords), l);
    if (p == nullptr) return;
    StoreLane<m, kDwords>(w, i.data, l, p);
  }
  IssueLgkm(w, i, false);
}

enum class Two { kRead, kWrite, kExchange };

// Two places of `kWords` dwords each; the byte-sized offsets count elements, or
// 64 elements in the st64 forms.
template <Two kind, int kWords, int kStride>
void Pair(Wave& w, const Inst& i) {
  constexpr uint32_t kScale = 4u * kWords * kStride;
  const uint32_t offset[2] = {(static_cast<uint32_t>(i.imm) & 0xff) * kScale,
                              (static_cast<uint32_t>(i.imm) >> 8) * kScale};
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const uint32_t base = w.v[i.src[0].reg][l];
    uint32_t old[2 * kWords];
    for (int n = 0; n < 2; ++n) {
      uint8_t* p = Lds(w, base + offset[n], 4 * kWords, l);
      if (p == nullptr) return;
      std::memcpy(&old[n * kWords], p, 4 * kWords);
      if (kind != Two::kRead)
        StoreLane<Move::kDwords, kWords>(w, n == 0 ? i.data : i.data1, l, p);
    }
    for (int n = 0; n < 2 * kWords && kind != Two::kWrite; ++n)
      w.v[i.dst + n][l] = old[n];
  }
  IssueLgkm(w, i, kind != Two::kWrite);
}

// f32 sums, minima and maxima of LDS follow MODE's denormal field (not its
// rounding, and f64 and packed ones neither).
template <Rmw op>
uint32_t ModifyF32(const Wave& w, uint32_t old, uint32_t data) {
  const auto flush = [](uint32_t bits) {
    return BitsOf(NoDenormal(FloatOf(bits)));
  };
  const uint32_t keeps = w.mode >> 4 & 3;
  if ((keeps & 1) == 0) {
    old = flush(old);
    data = flush(data);
  }
  const uint32_t r = Modify<op, false, uint32_t>(old, data, 0);
  return (keeps & 2) == 0 ? flush(r) : r;
}

template <Rmw op, class T>
T ModifyLds(const Wave& w, T old, T data, T other) {
  if constexpr (sizeof(T) == 4 &&
                (op == Rmw::kAddF || op == Rmw::kMinF || op == Rmw::kMaxF)) {
    return ModifyF32<op>(w, old, data);
  }
  return Modify<op, false, T>(old, data, other);
}

template <Rmw op, class T, bool kReturn>
void Atomic(Wave& w, const Inst& i) {
  constexpr bool kTwo = op == Rmw::kCmpSwap || op == Rmw::kCmpSwapF ||
                        op == Rmw::kMskor || op == Rmw::kWrap;
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const uint32_t at = w.v[i.src[0].reg][l] + static_cast<uint32_t>(i.imm);
    if (at % sizeof(T) != 0 && w.check_alignment) {
      w.Raise(FaultKind::kMisalignedAtomic, l, at);
      return;
    }
    uint8_t* p = Lds(w, at, sizeof(T), l);
    if (p == nullptr) return;
    const T data = ReadPair<T>(w, i.data, l),
            other = kTwo ? ReadPair<T>(w, i.data1, l) : 0;
    const T old = LoadAs<T>(p), next = ModifyLds<op, T>(w, old, data, other);
    std::memcpy(p, &next, sizeof(T));
    if (kReturn) WritePair<T>(w, i.dst, l, old);
  }
  IssueLgkm(w, i, kReturn);
}

// Transposing reads: 16 lanes load a tile of 64/bits rows by 16 columns (16
// rows for 6 bits); lane c of the group receives column c.
template <int kBits>
void ReadTransposed(Wave& w, const Inst& i) {
  constexpr int kWords = kBits == 6 ? 3 : 2;
  constexpr int kPerLane = 32 * kWords / kBits;  // elements a lane loads
  constexpr int kLanesPerRow = 16 / kPerLane > 0 ? 16 / kPerLane : 1;
  constexpr uint32_t kMask = (1u << kBits) - 1;
  const uint64_t exec = w.exec();
  uint32_t in[kLanes][4] = {};
  for (uint64_t todo = exec; todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    const uint8_t* p = Lds(
        w, w.v[i.src[0].reg][l] + static_cast<uint32_t>(i.imm), 4 * kWords, l);
    if (p == nullptr) return;
    std::memcpy(in[l], p, 4 * kWords);
  }
  for (int l = 0; l < kLanes; ++l) {
    if ((exec >> l & 1) == 0) continue;
    const int group = l & ~15, column = l & 15;
    uint32_t out[4] = {};
    for (int row = 0; row < kPerLane; ++row) {
      const int from = group + row * kLanesPerRow + column / kPerLane;
      const int bit = column % kPerLane * kBits;
      uint64_t two = in[from][bit / 32];
      if (bit / 32 + 1 < 4) two |= uint64_t{in[from][bit / 32 + 1]} << 32;
      const uint32_t element = static_cast<uint32_t>(two >> (bit % 32)) & kMask;
      const int to = row * kBits;
      out[to / 32] |= element << (to % 32);
      if (to % 32 + kBits > 32) out[to / 32 + 1] |= element >> (32 - to % 32);
    }
    for (int n = 0; n < kWords; ++n) w.v[i.dst + n][l] = out[n];
  }
  IssueLgkm(w, i, true);
}

void Permute(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  Buffer r = {};
  for (int l = 0; l < kLanes; ++l) {
    if ((exec >> l & 1) == 0) continue;
    const uint32_t to =
        (w.v[i.src[0].reg][l] + static_cast<uint32_t>(i.imm)) >> 2 & 63;
    r.w[0][to] = w.v[i.data][l];
  }
  WriteLanes(w, i.dst, r.w[0], exec);
  IssueLgkm(w, i, true);
}

void Bpermute(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  Buffer r;
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t from =
        (w.v[i.src[0].reg][l] + static_cast<uint32_t>(i.imm)) >> 2 & 63;
    r.w[0][l] = (exec >> from & 1) != 0 ? w.v[i.data][from] : 0;
  }
  WriteLanes(w, i.dst, r.w[0], exec);
  IssueLgkm(w, i, true);
}

void Swizzle(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  Buffer r;
  for (int l = 0; l < kLanes; ++l) {
    const int from = SwizzleSource(static_cast<uint32_t>(i.imm), l);
    r.w[0][l] = (exec >> from & 1) != 0 ? w.v[i.src[0].reg][from] : 0;
  }
  WriteLanes(w, i.dst, r.w[0], exec);
  IssueLgkm(w, i, true);
}

template <bool kWrite>
void AddTid(Wave& w, const Inst& i) {
  for (uint64_t todo = w.exec(); todo != 0; todo &= todo - 1) {
    const int l = __builtin_ctzll(todo);
    uint8_t* p = Lds(
        w, (w.s[kM0] & 0xffff) + static_cast<uint32_t>(i.imm + 4 * l), 4, l);
    if (p == nullptr) return;
    if (kWrite) {
      StoreLane<Move::kDwords, 1>(w, i.data, l, p);
    } else {
      LoadLane<Move::kDwords, 1>(w, i.dst, l, p);
    }
  }
  IssueLgkm(w, i, !kWrite);
}

template <bool kAppend>
void Counter(Wave& w, const Inst& i) {
  uint8_t* p =
      Lds(w, (w.s[kM0] & 0xffff) + static_cast<uint32_t>(i.imm), 4, -1);
  if (p == nullptr) return;
  const uint32_t n = static_cast<uint32_t>(__builtin_popcountll(w.exec()));
  const uint32_t old = LoadAs<uint32_t>(p), next = kAppend ? old + n : old - n;
  std::memcpy(p, &next, 4);
  Buffer r;
  Fill(r.w[0], old);
  WriteLanes(w, i.dst, r.w[0], w.exec());
  IssueLgkm(w, i, true);
}

void Nothing(Wave&, const Inst&) {}

constexpr OpInfo D(uint16_t opcode, const char* name, Handler run, int dst,
                   int data, uint32_t flags) {
  OpInfo o{opcode, name, run, OpClass::kLds, flags};
  o.dst_words = static_cast<uint8_t>(dst);
  o.src_words[1] = static_cast<uint8_t>(data);
  if (dst > 0) o.flags |= kReturns;
  return o;
}
template <Move m, int kDwords>
constexpr OpInfo Rd(uint16_t opcode, const char* name) {
  return D(opcode, name, &Read<m, kDwords>, kDwords, 0,
           kLoad | (KeepsHalf(m) ? uint32_t{kPreservesHigh} : 0u));
}
template <Move m, int kDwords>
constexpr OpInfo Wr(uint16_t opcode, const char* name) {
  return D(opcode, name, &Write<m, kDwords>, 0, kDwords, kStore);
}
template <Rmw op, class T, bool kReturn>
constexpr OpInfo At(uint16_t opcode, const char* name) {
  constexpr bool kTwo = op == Rmw::kCmpSwap || op == Rmw::kCmpSwapF ||
                        op == Rmw::kMskor || op == Rmw::kWrap;
  return D(opcode, name, &Atomic<op, T, kReturn>, kReturn ? sizeof(T) / 4 : 0,
           sizeof(T) / 4, kAtomic | (kTwo ? uint32_t{kTwoData} : 0u));
}
template <Two kind, int kWords, int kStride>
constexpr OpInfo Pr(uint16_t opcode, const char* name) {
  return D(
      opcode, name, &Pair<kind, kWords, kStride>,
      kind == Two::kWrite ? 0 : 2 * kWords, kind == Two::kRead ? 0 : kWords,
      kTwoAddress | (kind == Two::kRead ? uint32_t{kLoad} : kStore | kTwoData));
}

using U = uint32_t;
using UL = uint64_t;

// An atomic without and with a returned value; the latter 0x20 further on.
#define INGOT_RMW(op, T, code, stem, type)     \
  At<op, T, false>(code, "ds_" stem "_" type), \
      At<op, T, true>(code + 0x20, "ds_" stem "_rtn_" type)

constexpr OpInfo kDs[] = {
    INGOT_RMW(Rmw::kAdd, U, 0x00, "add", "u32"),
    INGOT_RMW(Rmw::kSub, U, 0x01, "sub", "u32"),
    INGOT_RMW(Rmw::kRsub, U, 0x02, "rsub", "u32"),
    INGOT_RMW(Rmw::kInc, U, 0x03, "inc", "u32"),
    INGOT_RMW(Rmw::kDec, U, 0x04, "dec", "u32"),
    INGOT_RMW(Rmw::kMinI, U, 0x05, "min", "i32"),
    INGOT_RMW(Rmw::kMaxI, U, 0x06, "max", "i32"),
    INGOT_RMW(Rmw::kMinU, U, 0x07, "min", "u32"),
    INGOT_RMW(Rmw::kMaxU, U, 0x08, "max", "u32"),
    INGOT_RMW(Rmw::kAnd, U, 0x09, "and", "b32"),
    INGOT_RMW(Rmw::kOr, U, 0x0a, "or", "b32"),
    INGOT_RMW(Rmw::kXor, U, 0x0b, "xor", "b32"),
    INGOT_RMW(Rmw::kMskor, U, 0x0c, "mskor", "b32"),
    Wr<Move::kDwords, 1>(0x0d, "ds_write_b32"),
    Pr<Two::kWrite, 1, 1>(0x0e, "ds_write2_b32"),
    Pr<Two::kWrite, 1, 64>(0x0f, "ds_write2st64_b32"),
    INGOT_RMW(Rmw::kCmpSwap, U, 0x10, "cmpst", "b32"),
    INGOT_RMW(Rmw::kCmpSwapF, U, 0x11, "cmpst", "f32"),
    INGOT_RMW(Rmw::kMinF, U, 0x12, "min", "f32"),
    INGOT_RMW(Rmw::kMaxF, U, 0x13, "max", "f32"),
    D(0x14, "ds_nop", &Nothing, 0, 0, kNoAddress),
    INGOT_RMW(Rmw::kAddF, U, 0x15, "add", "f32"),
    At<Rmw::kPkAddF16, U, false>(0x17, "ds_pk_add_f16"),
    At<Rmw::kPkAddBf16, U, false>(0x18, "ds_pk_add_bf16"),
    D(0x1d, "ds_write_addtid_b32", &AddTid<true>, 0, 1,
      kStore | kNoAddress | kReadsM0),
    Wr<Move::kU8, 1>(0x1e, "ds_write_b8"),
    Wr<Move::kU16, 1>(0x1f, "ds_write_b16"),
    At<Rmw::kSwap, U, true>(0x2d, "ds_wrxchg_rtn_b32"),
    Pr<Two::kExchange, 1, 1>(0x2e, "ds_wrxchg2_rtn_b32"),
    Pr<Two::kExchange, 1, 64>(0x2f, "ds_wrxchg2st64_rtn_b32"),
    At<Rmw::kWrap, U, true>(0x34, "ds_wrap_rtn_b32"),
    Rd<Move::kDwords, 1>(0x36, "ds_read_b32"),
    Pr<Two::kRead, 1, 1>(0x37, "ds_read2_b32"),
    Pr<Two::kRead, 1, 64>(0x38, "ds_read2st64_b32"),
    Rd<Move::kI8, 1>(0x39, "ds_read_i8"),
    Rd<Move::kU8, 1>(0x3a, "ds_read_u8"),
    Rd<Move::kI16, 1>(0x3b, "ds_read_i16"),
    Rd<Move::kU16, 1>(0x3c, "ds_read_u16"),
    D(0x3d, "ds_swizzle_b32", &Swizzle, 1, 0, kLoad),
    D(0x3e, "ds_permute_b32", &Permute, 1, 1, kLoad),
    D(0x3f, "ds_bpermute_b32", &Bpermute, 1, 1, kLoad),
    INGOT_RMW(Rmw::kAdd, UL, 0x40, "add", "u64"),
    INGOT_RMW(Rmw::kSub, UL, 0x41, "sub", "u64"),
    INGOT_RMW(Rmw::kRsub, UL, 0x42, "rsub", "u64"),
    INGOT_RMW(Rmw::kInc, UL, 0x43, "inc", "u64"),
    INGOT_RMW(Rmw::kDec, UL, 0x44, "dec", "u64"),
    INGOT_RMW(Rmw::kMinI, UL, 0x45, "min", "i64"),
    INGOT_RMW(Rmw::kMaxI, UL, 0x46, "max", "i64"),
    INGOT_RMW(Rmw::kMinU, UL, 0x47, "min", "u64"),
    INGOT_RMW(Rmw::kMaxU, UL, 0x48, "max", "u64"),
    INGOT_RMW(Rmw::kAnd, UL, 0x49, "and", "b64"),
    INGOT_RMW(Rmw::kOr, UL, 0x4a, "or", "b64"),
    INGOT_RMW(Rmw::kXor, UL, 0x4b, "xor", "b64"),
    INGOT_RMW(Rmw::kMskor, UL, 0x4c, "mskor", "b64"),
    Wr<Move::kDwords, 2>(0x4d, "ds_write_b64"),
    Pr<Two::kWrite, 2, 1>(0x4e, "ds_write2_b64"),
    Pr<Two::kWrite, 2, 64>(0x4f, "ds_write2st64_b64"),
    INGOT_RMW(Rmw::kCmpSwap, UL, 0x50, "cmpst", "b64"),
    INGOT_RMW(Rmw::kCmpSwapF, UL, 0x51, "cmpst", "f64"),
    INGOT_RMW(Rmw::kMinF, UL, 0x52, "min", "f64"),
    INGOT_RMW(Rmw::kMaxF, UL, 0x53, "max", "f64"),
    Wr<Move::kU8High, 1>(0x54, "ds_write_b8_d16_hi"),
    Wr<Move::kU16High, 1>(0x55, "ds_write_b16_d16_hi"),
    Rd<Move::kU8Low, 1>(0x56, "ds_read_u8_d16"),
    Rd<Move::kU8High, 1>(0x57, "ds_read_u8_d16_hi"),
    Rd<Move::kI8Low, 1>(0x58, "ds_read_i8_d16"),
    Rd<Move::kI8High, 1>(0x59, "ds_read_i8_d16_hi"),
    Rd<Move::kU16Low, 1>(0x5a, "ds_read_u16_d16"),
    Rd<Move::kU16High, 1>(0x5b, "ds_read_u16_d16_hi"),
    INGOT_RMW(Rmw::kAddF, UL, 0x5c, "add", "f64"),
    At<Rmw::kSwap, UL, true>(0x6d, "ds_wrxchg_rtn_b64"),
    Pr<Two::kExchange, 2, 1>(0x6e, "ds_wrxchg2_rtn_b64"),
    Pr<Two::kExchange, 2, 64>(0x6f, "ds_wrxchg2st64_rtn_b64"),
    Rd<Move::kDwords, 2>(0x76, "ds_read_b64"),
    Pr<Two::kRead, 2, 1>(0x77, "ds_read2_b64"),
    Pr<Two::kRead, 2, 64>(0x78, "ds_read2st64_b64"),
    At<Rmw::kCondSwap, UL, true>(0x7e, "ds_condxchg32_rtn_b64"),
    D(0xb6, "ds_read_addtid_b32", &AddTid<false>, 1, 0,
      kLoad | kNoAddress | kReadsM0),
    At<Rmw::kPkAddF16, U, true>(0xb7, "ds_pk_add_rtn_f16"),
    At<Rmw::kPkAddBf16, U, true>(0xb8, "ds_pk_add_rtn_bf16"),
    D(0xbd, "ds_consume", &Counter<false>, 1, 0,
      kAtomic | kNoAddress | kReadsM0),
    D(0xbe, "ds_append", &Counter<true>, 1, 0, kAtomic | kNoAddress | kReadsM0),
    Wr<Move::kDwords, 3>(0xde, "ds_write_b96"),
    Wr<Move::kDwords, 4>(0xdf, "ds_write_b128"),
    D(0xe0, "ds_read_b64_tr_b4", &ReadTransposed<4>, 2, 0, kLoad),
    D(0xe1, "ds_read_b96_tr_b6", &ReadTransposed<6>, 3, 0, kLoad),
    D(0xe2, "ds_read_b64_tr_b8", &ReadTransposed<8>, 2, 0, kLoad),
    D(0xe3, "ds_read_b64_tr_b16", &ReadTransposed<16>, 2, 0, kLoad),
    Rd<Move::kDwords, 3>(0xfe, "ds_read_b96"),
    Rd<Move::kDwords, 4>(0xff, "ds_read_b128"),
};

#undef INGOT_RMW

}  // namespace

OpTable DsTable() { return {kDs, sizeof(kDs) / sizeof(kDs[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
