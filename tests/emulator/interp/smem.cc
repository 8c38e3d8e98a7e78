// SMEM: scalar loads, stores, atomics, clocks and cache controls.
#include "tests/emulator/interp/memory.h"
#include "tests/emulator/interp/scalar.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {
namespace {

INGOT_EMULATOR_INLINE void Issue(Wave& w, const Inst& i, bool writes) {
  if (!w.count_waits) return;
  Pending p;
  p.in_order = false;
  if (writes)
    p.regs = {static_cast<uint16_t>(kSgprSpace + i.dst), i.op->dst_words};
  w.waits.IssueLgkm(p);
}

INGOT_EMULATOR_INLINE uint64_t Offset(const Wave& w, const Inst& i) {
  return static_cast<uint64_t>(int64_t{i.imm}) +
         static_cast<uint32_t>(Uniform(w, i.src[0], false));
}

// The scratch forms count their SGPR offset in units of 64 bytes.
template <int kUnit>
INGOT_EMULATOR_INLINE uint64_t Address(const Wave& w, const Inst& i) {
  const uint64_t offset = static_cast<uint32_t>(Uniform(w, i.src[0], false));
  return (w.S64(i.saddr) + static_cast<uint64_t>(int64_t{i.imm}) +
          offset * kUnit) &
         ~uint64_t{3};
}

template <int kDwords, int kUnit = 1>
void Load(Wave& w, const Inst& i) {
  const uint64_t address = Address<kUnit>(w, i);
  const uint8_t* p = Global(w, address, 4 * kDwords, -1);
  if (p == nullptr) return;
  std::memcpy(&w.s[i.dst], p, 4 * kDwords);
  Issue(w, i, true);
}

template <int kDwords, int kUnit = 1>
void StoreWords(Wave& w, const Inst& i) {
  const uint64_t address = Address<kUnit>(w, i);
  uint8_t* p = Global(w, address, 4 * kDwords, -1);
  if (p == nullptr) return;
  std::memcpy(p, &w.s[i.data], 4 * kDwords);
  Issue(w, i, false);
}

// A buffer as the scalar unit sees it: base, and its size in bytes. The stride
// counts only for the size.
struct ScalarBuffer {
  uint64_t base, bytes;
  ScalarBuffer(const Wave& w, const Inst& i)
      : base(w.S64(i.saddr) & 0xfffffffffffc) {
    const uint32_t stride = w.s[i.saddr + 1] >> 16 & 0x3fff;
    bytes = uint64_t{w.s[i.saddr + 2]} * (stride == 0 ? 1 : stride);
  }
};

// Reads of a buffer past its end give 0, dword by dword.
template <int kDwords>
void BufferLoad(Wave& w, const Inst& i) {
  const ScalarBuffer buffer(w, i);
  const uint64_t offset = Offset(w, i) & 0xfffffffc;
  uint32_t out[kDwords];
  for (int n = 0; n < kDwords; ++n) {
    const uint64_t at = offset + 4u * static_cast<uint32_t>(n);
    out[n] = 0;
    if (at + 4 > buffer.bytes) {
      ++w.clipped_loads;
      continue;
    }
    const uint8_t* p = Global(w, buffer.base + at, 4, -1);
    if (p == nullptr) return;
    out[n] = LoadAs<uint32_t>(p);
  }
  std::memcpy(&w.s[i.dst], out, sizeof(out));
  Issue(w, i, true);
}

// Writes past the end are dropped.
template <int kDwords>
void BufferStore(Wave& w, const Inst& i) {
  const ScalarBuffer buffer(w, i);
  const uint64_t offset = Offset(w, i) & 0xfffffffc;
  for (int n = 0; n < kDwords; ++n) {
    const uint64_t at = offset + 4u * static_cast<uint32_t>(n);
    if (at + 4 > buffer.bytes) {
      ++w.clipped_stores;
      continue;
    }
    uint8_t* p = Global(w, buffer.base + at, 4, -1);
    if (p == nullptr) return;
    std::memcpy(p, &w.s[i.data + n], 4);
  }
  Issue(w, i, false);
}

// One machine, one clock: instructions retired, four cycles each.
void Clock(Wave& w, const Inst& i) {
  uint64_t total = 0;
  for (const uint64_t n : w.executed) total += n;
  w.SetS64(i.dst, total * 4);
  Issue(w, i, true);
}

// The operation at `p`, or nothing and 0 when that is null.
template <Rmw op, class T>
void AtomicAt(Wave& w, const Inst& i, uint8_t* p) {
  constexpr bool kTwo = op == Rmw::kCmpSwap;
  const Operand first{Operand::kSgpr, i.data, 0};
  const Operand second{Operand::kSgpr,
                       static_cast<uint16_t>(i.data + sizeof(T) / 4), 0};
  const T a = ReadScalar<T>(w, first), b = kTwo ? ReadScalar<T>(w, second) : 0;
  T old = 0;
  if (p != nullptr)
    old = kTwo ? AtomicRmw<op, T>(p, b, a) : AtomicRmw<op, T>(p, a, 0);
  if (i.sc0) WriteScalar<T>(w, i.dst, old);
  Issue(w, i, i.sc0);
}

template <Rmw op, class T>
void AtomicOp(Wave& w, const Inst& i) {
  const uint64_t address =
      (w.S64(i.saddr) + Offset(w, i)) & ~uint64_t{sizeof(T) - 1};
  uint8_t* p = Global(w, address, sizeof(T), -1);
  if (p != nullptr) AtomicAt<op, T>(w, i, p);
}

template <Rmw op, class T>
void BufferAtomic(Wave& w, const Inst& i) {
  const ScalarBuffer buffer(w, i);
  const uint64_t offset = Offset(w, i) & 0xffffffff & ~uint64_t{sizeof(T) - 1};
  uint8_t* p = nullptr;
  if (offset + sizeof(T) <= buffer.bytes) {
    p = Global(w, buffer.base + offset, sizeof(T), -1);
    if (p == nullptr) return;
  } else {
    ++w.clipped_stores;
  }
  AtomicAt<op, T>(w, i, p);
}

void CacheControl(Wave& w, const Inst& i) { Issue(w, i, false); }

constexpr OpInfo M(uint16_t opcode, const char* name, Handler run, int dst,
                   int base, int data, uint32_t flags = 0) {
  OpInfo o{opcode, name, run, OpClass::kSmem, flags};
  o.dst_words = static_cast<uint8_t>(dst);
  o.src_words[0] = static_cast<uint8_t>(base);
  o.src_words[1] = static_cast<uint8_t>(data);
  return o;
}
template <Rmw op, class T>
constexpr OpInfo A(uint16_t opcode, const char* name) {
  constexpr int kWords = sizeof(T) / 4;
  return M(opcode, name, &AtomicOp<op, T>, kWords, 2,
           op == Rmw::kCmpSwap ? 2 * kWords : kWords, kAtomic);
}
template <Rmw op, class T>
constexpr OpInfo B(uint16_t opcode, const char* name) {
  OpInfo o = A<op, T>(opcode, name);
  o.run = &BufferAtomic<op, T>;
  o.src_words[0] = 4;
  return o;
}

using U = uint32_t;
using UL = uint64_t;

constexpr OpInfo kSmem[] = {
    M(0x00, "s_load_dword", &Load<1>, 1, 2, 0),
    M(0x01, "s_load_dwordx2", &Load<2>, 2, 2, 0),
    M(0x02, "s_load_dwordx4", &Load<4>, 4, 2, 0),
    M(0x03, "s_load_dwordx8", &Load<8>, 8, 2, 0),
    M(0x04, "s_load_dwordx16", &Load<16>, 16, 2, 0),
    M(0x05, "s_scratch_load_dword", &Load<1, 64>, 1, 2, 0),
    M(0x06, "s_scratch_load_dwordx2", &Load<2, 64>, 2, 2, 0),
    M(0x07, "s_scratch_load_dwordx4", &Load<4, 64>, 4, 2, 0),
    M(0x08, "s_buffer_load_dword", &BufferLoad<1>, 1, 4, 0),
    M(0x09, "s_buffer_load_dwordx2", &BufferLoad<2>, 2, 4, 0),
    M(0x0a, "s_buffer_load_dwordx4", &BufferLoad<4>, 4, 4, 0),
    M(0x0b, "s_buffer_load_dwordx8", &BufferLoad<8>, 8, 4, 0),
    M(0x0c, "s_buffer_load_dwordx16", &BufferLoad<16>, 16, 4, 0),
    M(0x10, "s_store_dword", &StoreWords<1>, 0, 2, 1, kStore),
    M(0x11, "s_store_dwordx2", &StoreWords<2>, 0, 2, 2, kStore),
    M(0x12, "s_store_dwordx4", &StoreWords<4>, 0, 2, 4, kStore),
    M(0x15, "s_scratch_store_dword", &StoreWords<1, 64>, 0, 2, 1, kStore),
    M(0x16, "s_scratch_store_dwordx2", &StoreWords<2, 64>, 0, 2, 2, kStore),
    M(0x17, "s_scratch_store_dwordx4", &StoreWords<4, 64>, 0, 2, 4, kStore),
    M(0x18, "s_buffer_store_dword", &BufferStore<1>, 0, 4, 1, kStore),
    M(0x19, "s_buffer_store_dwordx2", &BufferStore<2>, 0, 4, 2, kStore),
    M(0x1a, "s_buffer_store_dwordx4", &BufferStore<4>, 0, 4, 4, kStore),
    M(0x20, "s_dcache_inv", &CacheControl, 0, 0, 0),
    M(0x21, "s_dcache_wb", &CacheControl, 0, 0, 0),
    M(0x22, "s_dcache_inv_vol", &CacheControl, 0, 0, 0),
    M(0x23, "s_dcache_wb_vol", &CacheControl, 0, 0, 0),
    M(0x24, "s_memtime", &Clock, 2, 0, 0),
    M(0x25, "s_memrealtime", &Clock, 2, 0, 0),
    M(0x26, "s_atc_probe", &CacheControl, 0, 2, 0),
    M(0x27, "s_atc_probe_buffer", &CacheControl, 0, 4, 0),
    M(0x28, "s_dcache_discard", &CacheControl, 0, 2, 0),
    M(0x29, "s_dcache_discard_x2", &CacheControl, 0, 2, 0),
    B<Rmw::kSwap, U>(0x40, "s_buffer_atomic_swap"),
    B<Rmw::kCmpSwap, U>(0x41, "s_buffer_atomic_cmpswap"),
    B<Rmw::kAdd, U>(0x42, "s_buffer_atomic_add"),
    B<Rmw::kSub, U>(0x43, "s_buffer_atomic_sub"),
    B<Rmw::kMinI, U>(0x44, "s_buffer_atomic_smin"),
    B<Rmw::kMinU, U>(0x45, "s_buffer_atomic_umin"),
    B<Rmw::kMaxI, U>(0x46, "s_buffer_atomic_smax"),
    B<Rmw::kMaxU, U>(0x47, "s_buffer_atomic_umax"),
    B<Rmw::kAnd, U>(0x48, "s_buffer_atomic_and"),
    B<Rmw::kOr, U>(0x49, "s_buffer_atomic_or"),
    B<Rmw::kXor, U>(0x4a, "s_buffer_atomic_xor"),
    B<Rmw::kInc, U>(0x4b, "s_buffer_atomic_inc"),
    B<Rmw::kDec, U>(0x4c, "s_buffer_atomic_dec"),
    B<Rmw::kSwap, UL>(0x60, "s_buffer_atomic_swap_x2"),
    B<Rmw::kCmpSwap, UL>(0x61, "s_buffer_atomic_cmpswap_x2"),
    B<Rmw::kAdd, UL>(0x62, "s_buffer_atomic_add_x2"),
    B<Rmw::kSub, UL>(0x63, "s_buffer_atomic_sub_x2"),
    B<Rmw::kMinI, UL>(0x64, "s_buffer_atomic_smin_x2"),
    B<Rmw::kMinU, UL>(0x65, "s_buffer_atomic_umin_x2"),
    B<Rmw::kMaxI, UL>(0x66, "s_buffer_atomic_smax_x2"),
    B<Rmw::kMaxU, UL>(0x67, "s_buffer_atomic_umax_x2"),
    B<Rmw::kAnd, UL>(0x68, "s_buffer_atomic_and_x2"),
    B<Rmw::kOr, UL>(0x69, "s_buffer_atomic_or_x2"),
    B<Rmw::kXor, UL>(0x6a, "s_buffer_atomic_xor_x2"),
    B<Rmw::kInc, UL>(0x6b, "s_buffer_atomic_inc_x2"),
    B<Rmw::kDec, UL>(0x6c, "s_buffer_atomic_dec_x2"),
    A<Rmw::kSwap, U>(0x80, "s_atomic_swap"),
    A<Rmw::kCmpSwap, U>(0x81, "s_atomic_cmpswap"),
    A<Rmw::kAdd, U>(0x82, "s_atomic_add"),
    A<Rmw::kSub, U>(0x83, "s_atomic_sub"),
    A<Rmw::kMinI, U>(0x84, "s_atomic_smin"),
    A<Rmw::kMinU, U>(0x85, "s_atomic_umin"),
    A<Rmw::kMaxI, U>(0x86, "s_atomic_smax"),
    A<Rmw::kMaxU, U>(0x87, "s_atomic_umax"),
    A<Rmw::kAnd, U>(0x88, "s_atomic_and"),
    A<Rmw::kOr, U>(0x89, "s_atomic_or"),
    A<Rmw::kXor, U>(0x8a, "s_atomic_xor"),
    A<Rmw::kInc, U>(0x8b, "s_atomic_inc"),
    A<Rmw::kDec, U>(0x8c, "s_atomic_dec"),
    A<Rmw::kSwap, UL>(0xa0, "s_atomic_swap_x2"),
    A<Rmw::kCmpSwap, UL>(0xa1, "s_atomic_cmpswap_x2"),
    A<Rmw::kAdd, UL>(0xa2, "s_atomic_add_x2"),
    A<Rmw::kSub, UL>(0xa3, "s_atomic_sub_x2"),
    A<Rmw::kMinI, UL>(0xa4, "s_atomic_smin_x2"),
    A<Rmw::kMinU, UL>(0xa5, "s_atomic_umin_x2"),
    A<Rmw::kMaxI, UL>(0xa6, "s_atomic_smax_x2"),
    A<Rmw::kMaxU, UL>(0xa7, "s_atomic_umax_x2"),
    A<Rmw::kAnd, UL>(0xa8, "s_atomic_and_x2"),
    A<Rmw::kOr, UL>(0xa9, "s_atomic_or_x2"),
    A<Rmw::kXor, UL>(0xaa, "s_atomic_xor_x2"),
    A<Rmw::kInc, UL>(0xab, "s_atomic_inc_x2"),
    A<Rmw::kDec, UL>(0xac, "s_atomic_dec_x2"),
};

}  // namespace

OpTable SmemTable() { return {kSmem, sizeof(kSmem) / sizeof(kSmem[0])}; }

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL
