// IEEE division: v_div_scale, v_div_fmas and v_div_fixup.
#ifndef TESTS_EMULATOR_INTERP_DIVISION_H_
#define TESTS_EMULATOR_INTERP_DIVISION_H_

#include "tests/emulator/interp/lanes.h"
#include "tests/emulator/interp/math.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

// Numbers as the ISA document gives them.
template <class T>
struct DivTraits;
template <>
struct DivTraits<F32> {
  using Wide = double;
  static constexpr int kMantissa = 23, kTop = 255, kFar = 96, kNear = 64,
                       kLow = 23, kUnder = -150;
  static int Exponent(float x) {
    return static_cast<int>(BitsOf(x) >> 23 & 0xff);
  }
  static float Nan() { return FloatOf(0xffc00000); }
  static float Inf() { return FloatOf(0x7f800000); }
};
template <>
struct DivTraits<F64> {
  using Wide = long double;
  static constexpr int kMantissa = 52, kTop = 2047, kFar = 768, kNear = 128,
                       kLow = 53, kUnder = -1075;
  static int Exponent(double x) {
    return static_cast<int>(BitsOf(x) >> 52 & 0x7ff);
  }
  static double Nan() { return DoubleOf(0xfff8000000000000); }
  static double Inf() { return DoubleOf(0x7ff0000000000000); }
};

template <class X>
void DivScale(Wave& w, const Inst& i) {
  using T = DivTraits<X>;
  using V = typename X::V;
  Buffer b0, b1, b2, r;
  const Lanes s0 = Fetch<X>(w, i, 0, b0), s1 = Fetch<X>(w, i, 1, b1),
              s2 = Fetch<X>(w, i, 2, b2);
  uint64_t vcc = 0;
  for (int l = 0; l < kLanes; ++l) {
    const V q = X::Get(s0, l), den = X::Get(s1, l), num = X::Get(s2, l);
    V d = q;
    const int en = T::Exponent(num), ed = T::Exponent(den);
    const auto denormal = [](V x) { return x != 0 && T::Exponent(x) == 0; };
    const V inverse = static_cast<V>(1) / den, ratio = num / den;
    bool flag = false;
    if (num == 0 || den == 0) {
      d = T::Nan();
    } else if (en - ed >= T::kFar) {
      flag = true;
      if (q == den) d = Ldexp(q, T::kNear);
    } else if (denormal(den)) {
      d = Ldexp(q, T::kNear);
    } else if (denormal(inverse) && denormal(ratio)) {
      // The document says up, which no large denominator would survive.
      flag = true;
      if (q == den) d = Ldexp(q, -T::kNear);
    } else if (denormal(inverse)) {
      d = Ldexp(q, -T::kNear);
    } else if (denormal(ratio)) {
      flag = true;
      if (q == num) d = Ldexp(q, T::kNear);
    } else if (en <= T::kLow) {
      d = Ldexp(q, T::kNear);
    }
    X::Put(r, l, d);
    vcc |= uint64_t{flag} << l;
  }
  Store<X>(w, i, r);
  w.SetS64(i.sdst, vcc & w.exec());
}

// Undoes what v_div_scale did: up where it scaled the denominator, down where
// it scaled the numerator; the quotient's size tells which.
template <class X>
void DivFmas(Wave& w, const Inst& i) {
  using T = DivTraits<X>;
  using V = typename X::V;
  Buffer b0, b1, b2, r;
  const Lanes a = Fetch<X>(w, i, 0, b0), b = Fetch<X>(w, i, 1, b1),
              c = Fetch<X>(w, i, 2, b2);
  const uint64_t vcc = w.S64(kVcc);
  for (int l = 0; l < kLanes; ++l) {
    const V x = X::Get(a, l), y = X::Get(b, l), addend = X::Get(c, l);
    V v;
    if ((vcc >> l & 1) == 0) {
      v = std::fma(x, y, addend);
    } else {
      // Scaled before it is rounded: a denormal quotient is rounded once.
      using Wide = typename T::Wide;
      const bool up = T::Exponent(addend) > T::kTop / 2;
      v = static_cast<V>(std::ldexp(std::fma(Wide{x}, Wide{y}, Wide{addend}),
                                    up ? T::kNear : -T::kNear));
    }
    X::Put(r, l, v);
  }
  Store<X>(w, i, r);
}

template <class X, class V>
V DivFixup(V q, V den, V num) {
  using T = DivTraits<X>;
  const bool negative = std::signbit(den) != std::signbit(num);
  const auto sign = [negative](V x) { return negative ? -x : x; };
  if (IsNan(num)) return Quiet(num);
  if (IsNan(den)) return Quiet(den);
  if (den == 0 && num == 0) return T::Nan();
  const bool inf_den = std::fabs(den) == T::Inf(),
             inf_num = std::fabs(num) == T::Inf();
  if (inf_den && inf_num) return T::Nan();
  if (den == 0 || inf_num) return sign(T::Inf());
  if (inf_den || num == 0) return sign(static_cast<V>(0));
  if (T::Exponent(num) - T::Exponent(den) < T::kUnder)
    return sign(static_cast<V>(0));
  // The estimate of a quotient that overflows.
  if (IsNan(q)) return sign(T::Inf());
  return sign(std::fabs(q));
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_DIVISION_H_
