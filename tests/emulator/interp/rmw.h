// The arithmetic of atomic operations; included by memory.h.
#ifndef TESTS_EMULATOR_INTERP_RMW_H_
#define TESTS_EMULATOR_INTERP_RMW_H_

#include <type_traits>

#include "tests/emulator/interp/math.h"
#include "tests/emulator/interp/memory.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

template <class T>
INGOT_EMULATOR_INLINE auto AsFloat(T bits) {
  if constexpr (sizeof(T) == 8) {
    return DoubleOf(bits);
  } else {
    return FloatOf(bits);
  }
}
// f32 atomics of memory flush denormal inputs and results; for those of LDS see
// ds.cc.
template <bool kFlush>
INGOT_EMULATOR_INLINE float MaybeFlush(float f) {
  return kFlush ? NoDenormal(f) : f;
}
template <bool kFlush>
INGOT_EMULATOR_INLINE double MaybeFlush(double f) {
  return f;
}

template <Rmw op, bool kFlush, class T>
T ModifyFloat(T old, T data, T other) {
  const auto a = MaybeFlush<kFlush>(AsFloat(old)),
             b = MaybeFlush<kFlush>(AsFloat(data));
  if constexpr (op == Rmw::kAddF) return BitsOf(MaybeFlush<kFlush>(a + b));
  if constexpr (op == Rmw::kMinF) return BitsOf(MinNum(a, b));
  if constexpr (op == Rmw::kMaxF) return BitsOf(MaxNum(a, b));
  // Compare and swap: `data` is compared with, `other` is stored.
  return AsFloat(old) == AsFloat(data) ? other : old;
}

template <bool kBf16>
uint32_t PkAdd(uint32_t old, uint32_t data) {
  uint32_t r = 0;
  for (int n = 0; n < 32; n += 16) {
    const uint32_t a = old >> n & 0xffff, b = data >> n & 0xffff;
    r |= (kBf16 ? FloatToBf16(Bf16ToFloat(a) + Bf16ToFloat(b))
                : FloatToHalf(HalfToFloat(a) + HalfToFloat(b)))
         << n;
  }
  return r;
}

template <Rmw op, bool kFlush, class T>
T Modify(T old, T data, T other) {
  using S = std::make_signed_t<T>;
  if constexpr (op == Rmw::kSwap) return data;
  if constexpr (op == Rmw::kCmpSwap) return old == data ? other : old;
  if constexpr (op == Rmw::kAdd) return old + data;
  if constexpr (op == Rmw::kSub) return old - data;
  if constexpr (op == Rmw::kRsub) return data - old;
  if constexpr (op == Rmw::kMinI)
    return static_cast<S>(old) < static_cast<S>(data) ? old : data;
  if constexpr (op == Rmw::kMinU) return old < data ? old : data;
  if constexpr (op == Rmw::kMaxI)
    return static_cast<S>(old) > static_cast<S>(data) ? old : data;
  if constexpr (op == Rmw::kMaxU) return old > data ? old : data;
  if constexpr (op == Rmw::kAnd) return old & data;
  if constexpr (op == Rmw::kOr) return old | data;
  if constexpr (op == Rmw::kXor) return old ^ data;
  if constexpr (op == Rmw::kInc) return old >= data ? 0 : old + 1;
  if constexpr (op == Rmw::kDec) return old == 0 || old > data ? data : old - 1;
  if constexpr (op == Rmw::kMskor) return (old & ~data) | other;
  if constexpr (op == Rmw::kWrap) return old >= data ? old - data : old + other;
  if constexpr (op == Rmw::kPkAddF16)
    return PkAdd<false>(static_cast<uint32_t>(old),
                        static_cast<uint32_t>(data));
  if constexpr (op == Rmw::kPkAddBf16)
    return PkAdd<true>(static_cast<uint32_t>(old), static_cast<uint32_t>(data));
  if constexpr (op == Rmw::kCondSwap) {
    // Each dword whose bit 31 is set in `data` is replaced by the rest of it.
    T r = 0;
    for (int n = 0; n < static_cast<int>(sizeof(T)) * 8; n += 32) {
      const uint32_t d = static_cast<uint32_t>(data >> n),
                     o = static_cast<uint32_t>(old >> n);
      r |= static_cast<T>((d >> 31) != 0 ? d & 0x7fffffff : o) << n;
    }
    return r;
  }
  if constexpr (op == Rmw::kAddF || op == Rmw::kMinF || op == Rmw::kMaxF ||
                op == Rmw::kCmpSwapF) {
    return ModifyFloat<op, kFlush, T>(old, data, other);
  }
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_RMW_H_
