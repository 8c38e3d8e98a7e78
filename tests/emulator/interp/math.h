// Arithmetic of gfx950's vector ALU on one lane. Branch-free where the host
// compiler is meant to vectorise it.
#ifndef TESTS_EMULATOR_INTERP_MATH_H_
#define TESTS_EMULATOR_INTERP_MATH_H_

#include <cmath>
#include <cstdint>

#include "tests/emulator/interp/number.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

INGOT_EMULATOR_INLINE bool IsNan(float x) {
  return (BitsOf(x) & 0x7fffffff) > 0x7f800000;
}
INGOT_EMULATOR_INLINE bool IsNan(double x) {
  return (BitsOf(x) & 0x7fffffffffffffff) > 0x7ff0000000000000;
}
INGOT_EMULATOR_INLINE float Quiet(float x) {
  return FloatOf(BitsOf(x) | 0x400000);
}
INGOT_EMULATOR_INLINE double Quiet(double x) {
  return DoubleOf(BitsOf(x) | uint64_t{1} << 51);
}
INGOT_EMULATOR_INLINE bool IsSignalling(float x) {
  return IsNan(x) && (BitsOf(x) & 0x400000) == 0;
}
INGOT_EMULATOR_INLINE bool IsSignalling(double x) {
  return IsNan(x) && (BitsOf(x) & uint64_t{1} << 51) == 0;
}
INGOT_EMULATOR_INLINE uint32_t BitsFor(float x) { return BitsOf(x); }
INGOT_EMULATOR_INLINE float FromBits(uint32_t b, float) { return FloatOf(b); }
INGOT_EMULATOR_INLINE double FromBits(uint64_t b, double) {
  return DoubleOf(b);
}

// A NaN loses against a number. -0 < +0.
template <class T>
INGOT_EMULATOR_INLINE T MinOfNumbers(T a, T b) {
  const T equal = FromBits(BitsOf(a) | BitsOf(b), a);
  T r = a < b ? a : b < a ? b : equal;
  r = IsNan(b) ? a : r;
  return IsNan(a) ? b : r;
}
template <class T>
INGOT_EMULATOR_INLINE T MaxOfNumbers(T a, T b) {
  const T equal = FromBits(BitsOf(a) & BitsOf(b), a);
  T r = a > b ? a : b > a ? b : equal;
  r = IsNan(b) ? a : r;
  return IsNan(a) ? b : r;
}
// The same, but a signalling NaN wins, quieted.
template <class T>
INGOT_EMULATOR_INLINE T MinNum(T a, T b) {
  T r = MinOfNumbers(a, b);
  r = IsSignalling(b) ? Quiet(b) : r;
  return IsSignalling(a) ? Quiet(a) : r;
}
template <class T>
INGOT_EMULATOR_INLINE T MaxNum(T a, T b) {
  T r = MaxOfNumbers(a, b);
  r = IsSignalling(b) ? Quiet(b) : r;
  return IsSignalling(a) ? Quiet(a) : r;
}
// NaNs propagate.
template <class T>
INGOT_EMULATOR_INLINE T Minimum(T a, T b) {
  const T r = MinNum(a, b);
  return IsNan(a) ? Quiet(a) : IsNan(b) ? Quiet(b) : r;
}
template <class T>
INGOT_EMULATOR_INLINE T Maximum(T a, T b) {
  const T r = MaxNum(a, b);
  return IsNan(a) ? Quiet(a) : IsNan(b) ? Quiet(b) : r;
}
template <class T>
INGOT_EMULATOR_INLINE T MedianOfNumbers(T a, T b, T c) {
  return MaxOfNumbers(MinOfNumbers(a, b), MinOfNumbers(MaxOfNumbers(a, b), c));
}

// The transcendental unit neither reads nor makes f32 denormals.
INGOT_EMULATOR_INLINE float NoDenormal(float x) {
  return (BitsOf(x) & 0x7f800000) == 0 ? FloatOf(BitsOf(x) & 0x80000000) : x;
}

INGOT_EMULATOR_INLINE float Rcp(float x) {
  return NoDenormal(1.0f / NoDenormal(x));
}
INGOT_EMULATOR_INLINE float Rsq(float x) {
  const float d = NoDenormal(x);
  const float r =
      static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(d)));
  return d == 0 ? FloatOf(0x7f800000 | (BitsOf(d) & 0x80000000)) : r;
}
INGOT_EMULATOR_INLINE float Sqrt(float x) {
  return __builtin_sqrtf(NoDenormal(x));
}

// 2^x, within a thousandth of an ulp before the last rounding.
INGOT_EMULATOR_INLINE double Exp2Of(double x) {
  x = x > 1100 ? 1100.0 : x < -1100 ? -1100.0 : x;
  const double n = __builtin_floor(x + 0.5);
  const double f = (x - n) * 0.69314718055994530942;
  double p = 1.0 / 39916800;
  p = p * f + 1.0 / 3628800;
  p = p * f + 1.0 / 362880;
  p = p * f + 1.0 / 40320;
  p = p * f + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  // Two factors, so that neither leaves the range of double.
  const int64_t e = static_cast<int64_t>(static_cast<int32_t>(n));
  const int64_t half = e >> 1;
  return p * DoubleOf(static_cast<uint64_t>(half + 1023) << 52) *
         DoubleOf(static_cast<uint64_t>(e - half + 1023) << 52);
}
INGOT_EMULATOR_INLINE float Exp2(float x) {
  const float r = NoDenormal(
      static_cast<float>(Exp2Of(static_cast<double>(NoDenormal(x)))));
  return IsNan(x) ? Quiet(x) : r;
}

// log2 of a positive normal double.
INGOT_EMULATOR_INLINE double Log2Of(double x) {
  const uint64_t bits = BitsOf(x);
  // Mantissa in [1/sqrt 2, sqrt 2).
  const uint64_t shifted = bits - 0x3fe6a09e667f3bcd;
  const double e = static_cast<double>(
      static_cast<int32_t>(static_cast<int64_t>(shifted) >> 52));
  const double m = DoubleOf((shifted & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double p = 1.0 / 17;
  p = p * s2 + 1.0 / 15;
  p = p * s2 + 1.0 / 13;
  p = p * s2 + 1.0 / 11;
  p = p * s2 + 1.0 / 9;
  p = p * s2 + 1.0 / 7;
  p = p * s2 + 1.0 / 5;
  p = p * s2 + 1.0 / 3;
  p = p * s2 + 1.0;
  return e + 2 * 1.44269504088896340736 * s * p;
}
INGOT_EMULATOR_INLINE float Log2(float x) {
  const float d = NoDenormal(x);
  const float finite =
      static_cast<float>(Log2Of(static_cast<double>(d > 0 ? d : 1.0f)));
  float r = d == 0 ? FloatOf(0xff800000) : d < 0 ? FloatOf(0xffc00000) : finite;
  r = BitsOf(d) == 0x7f800000 ? d : r;
  return IsNan(x) ? Quiet(x) : r;
}

// sin and cos take revolutions; beyond 256 of them sin is 0 and cos is 1.
INGOT_EMULATOR_INLINE float SinOf(float x) {
  const double t = static_cast<double>(x);
  if (!(std::fabs(t) < 1e300)) return FloatOf(0xffc00000);
  if (std::fabs(t) > 256) return 0;
  return static_cast<float>(
      std::sin((t - std::nearbyint(t)) * 6.28318530717958647692));
}
INGOT_EMULATOR_INLINE float CosOf(float x) {
  const double t = static_cast<double>(x);
  if (!(std::fabs(t) < 1e300)) return FloatOf(0xffc00000);
  if (std::fabs(t) > 256) return 1;
  return static_cast<float>(
      std::cos((t - std::nearbyint(t)) * 6.28318530717958647692));
}

template <class T>
INGOT_EMULATOR_INLINE T Fract(T x, T below_one) {
  const T r =
      x - (sizeof(T) == 4
               ? static_cast<T>(__builtin_floorf(static_cast<float>(x)))
               : static_cast<T>(__builtin_floor(static_cast<double>(x))));
  return r >= 1 ? below_one : r;
}

// x * 2^n, rounded once.
INGOT_EMULATOR_INLINE float Ldexp(float x, int32_t n) {
  const int32_t e = n > 300 ? 300 : n < -300 ? -300 : n;
  return static_cast<float>(
      static_cast<double>(x) *
      DoubleOf(static_cast<uint64_t>(int64_t{e} + 1023) << 52));
}
INGOT_EMULATOR_INLINE double Ldexp(double x, int32_t n) {
  return std::scalbn(x, n);
}

// Exponent as v_frexp_exp gives it: 0 for zero, infinity and NaN.
INGOT_EMULATOR_INLINE int32_t FrexpExp(double x) {
  int e = 0;
  if (std::fabs(x) <= 1.7976931348623157e308) std::frexp(x, &e);
  return e;
}
INGOT_EMULATOR_INLINE double FrexpMant(double x) {
  int e = 0;
  return std::fabs(x) <= 1.7976931348623157e308 ? std::frexp(x, &e)
                                                : (IsNan(x) ? Quiet(x) : x);
}

template <class R, class T>
INGOT_EMULATOR_INLINE R ToInt(T x, T low, T high, R min, R max) {
  const bool below = !(x > low), above = x >= high;
  const T safe = below || above ? static_cast<T>(0) : x;
  R r = static_cast<R>(safe);
  r = below ? min : r;
  r = above ? max : r;
  return IsNan(x) ? 0 : r;
}
INGOT_EMULATOR_INLINE int32_t ToI32(float x) {
  return ToInt<int32_t, float>(x, -2147483648.0f, 2147483648.0f, INT32_MIN,
                               INT32_MAX);
}
INGOT_EMULATOR_INLINE int32_t ToI32(double x) {
  return ToInt<int32_t, double>(x, -2147483649.0, 2147483648.0, INT32_MIN,
                                INT32_MAX);
}
INGOT_EMULATOR_INLINE uint32_t ToU32(double x) {
  const double t = !(x > 0) ? 0 : x >= 4294967295.0 ? 4294967295.0 : x;
  return static_cast<uint32_t>(static_cast<int64_t>(t));
}

// The class bit of a float, as v_cmp_class tests it.
template <class B>
INGOT_EMULATOR_INLINE uint32_t ClassBit(B bits, int mantissa_bits, int width) {
  const B one = 1;
  const B sign = bits >> (width - 1) & one;
  const B magnitude = bits & ((one << (width - 1)) - 1);
  const B inf = ((one << (width - 1)) - 1) >> mantissa_bits << mantissa_bits;
  const B smallest_normal = one << mantissa_bits;
  if (magnitude > inf)
    return (magnitude >> (mantissa_bits - 1) & one) != 0 ? 2 : 1;
  uint32_t negative, positive;
  if (magnitude == inf) {
    negative = 1u << 2, positive = 1u << 9;
  } else if (magnitude >= smallest_normal) {
    negative = 1u << 3, positive = 1u << 8;
  } else if (magnitude != 0) {
    negative = 1u << 4, positive = 1u << 7;
  } else {
    negative = 1u << 5, positive = 1u << 6;
  }
  return sign != 0 ? negative : positive;
}

INGOT_EMULATOR_INLINE uint32_t ReverseBits(uint32_t a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(a);
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_MATH_H_
