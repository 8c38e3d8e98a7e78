// How scalar instructions read and write SGPRs.
#ifndef TESTS_EMULATOR_INTERP_SCALAR_H_
#define TESTS_EMULATOR_INTERP_SCALAR_H_

#include <cstdint>
#include <type_traits>

#include "tests/emulator/interp/lanes.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

template <class T>
INGOT_EMULATOR_INLINE T ReadScalar(const Wave& w, const Operand& o) {
  return static_cast<T>(Uniform(w, o, sizeof(T) == 8));
}

template <class T>
INGOT_EMULATOR_INLINE void WriteScalar(Wave& w, int reg, T value) {
  if constexpr (sizeof(T) == 8) {
    w.SetS64(reg, static_cast<uint64_t>(value));
  } else {
    w.s[reg] = static_cast<uint32_t>(value);
  }
}

template <class T>
constexpr SrcKind ScalarKind() {
  if (sizeof(T) == 4) return SrcKind::kB32;
  return std::is_signed_v<T> ? SrcKind::kI64 : SrcKind::kB64;
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_SCALAR_H_
