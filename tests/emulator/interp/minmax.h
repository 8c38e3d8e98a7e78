// Minima, maxima and medians of floats, which follow MODE's IEEE bit: with it
// a signalling NaN wins and is quieted, without it every NaN loses.
#ifndef TESTS_EMULATOR_INTERP_MINMAX_H_
#define TESTS_EMULATOR_INTERP_MINMAX_H_

#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

template <Handler kIeee, Handler kPlain>
void ByIeee(Wave& w, const Inst& i) {
  ((w.mode >> 9 & 1) != 0 ? kIeee : kPlain)(w, i);
}

struct MinIeee {
  template <class T>
  INGOT_EMULATOR_INLINE T operator()(T a, T b) const {
    return MinNum(a, b);
  }
};
struct MaxIeee {
  template <class T>
  INGOT_EMULATOR_INLINE T operator()(T a, T b) const {
    return MaxNum(a, b);
  }
};
struct MinPlain {
  template <class T>
  INGOT_EMULATOR_INLINE T operator()(T a, T b) const {
    return MinOfNumbers(a, b);
  }
};
struct MaxPlain {
  template <class T>
  INGOT_EMULATOR_INLINE T operator()(T a, T b) const {
    return MaxOfNumbers(a, b);
  }
};
// The same of three.
template <class F>
struct Fold3 {
  INGOT_EMULATOR_INLINE float operator()(float a, float b, float c) const {
    return F{}(F{}(a, b), c);
  }
};
// With a NaN: the least of the three.
template <class Min>
struct Med3 {
  INGOT_EMULATOR_INLINE float operator()(float a, float b, float c) const {
    return IsNan(a) || IsNan(b) || IsNan(c) ? Fold3<Min>{}(a, b, c)
                                            : MedianOfNumbers(a, b, c);
  }
};

// Lines of the opcode tables: sources and result of type T.
template <class T, class Ieee, class Plain>
constexpr OpInfo MinMax2(uint16_t opcode, const char* name) {
  OpInfo o = Op2<T, T, T, Ieee{}>(opcode, name);
  o.run = &ByIeee<&Binary<T, T, T, Ieee{}>, &Binary<T, T, T, Plain{}>>;
  return o;
}
template <class T, class Ieee, class Plain>
constexpr OpInfo MinMax3(uint16_t opcode, const char* name) {
  OpInfo o = Op3<T, T, T, T, Ieee{}>(opcode, name);
  o.run = &ByIeee<&Ternary<T, T, T, T, Ieee{}>, &Ternary<T, T, T, T, Plain{}>>;
  return o;
}
template <class T>
constexpr OpInfo Min2(uint16_t opcode, const char* name) {
  return MinMax2<T, MinIeee, MinPlain>(opcode, name);
}
template <class T>
constexpr OpInfo Max2(uint16_t opcode, const char* name) {
  return MinMax2<T, MaxIeee, MaxPlain>(opcode, name);
}
template <class T>
constexpr OpInfo Min3(uint16_t opcode, const char* name) {
  return MinMax3<T, Fold3<MinIeee>, Fold3<MinPlain>>(opcode, name);
}
template <class T>
constexpr OpInfo Max3(uint16_t opcode, const char* name) {
  return MinMax3<T, Fold3<MaxIeee>, Fold3<MaxPlain>>(opcode, name);
}
template <class T>
constexpr OpInfo Median3(uint16_t opcode, const char* name) {
  return MinMax3<T, Med3<MinIeee>, Med3<MinPlain>>(opcode, name);
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_MINMAX_H_
