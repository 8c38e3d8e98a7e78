// Number formats of gfx950: conversions between f32 and the 16-, 8-, 6- and
// 4-bit floats, exact and independent of the host's floating-point modes.
#ifndef TESTS_EMULATOR_INTERP_NUMBER_H_
#define TESTS_EMULATOR_INTERP_NUMBER_H_

#include <cstdint>

#include "tests/emulator/interp/level.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

INGOT_EMULATOR_INLINE uint32_t BitsOf(float f) {
  return __builtin_bit_cast(uint32_t, f);
}
INGOT_EMULATOR_INLINE uint64_t BitsOf(double f) {
  return __builtin_bit_cast(uint64_t, f);
}
INGOT_EMULATOR_INLINE float FloatOf(uint32_t b) {
  return __builtin_bit_cast(float, b);
}
INGOT_EMULATOR_INLINE double DoubleOf(uint64_t b) {
  return __builtin_bit_cast(double, b);
}

// MODE's rounding: 0 nearest even, 1 up, 2 down, 3 toward zero.
enum : int { kRoundNearest = 0, kRoundUp = 1, kRoundDown = 2, kRoundZero = 3 };

// A small binary float. `special`: what the top exponent means.
struct Mini {
  enum Special { kNoSpecial, kIeee, kNanOnly };
  int exponent_bits, mantissa_bits, bias;
  Special special;
};
inline constexpr Mini kF16Format{5, 10, 15, Mini::kIeee};
inline constexpr Mini kBf16Format{8, 7, 127, Mini::kIeee};
inline constexpr Mini kFp8Format{4, 3, 7, Mini::kNanOnly};
inline constexpr Mini kBf8Format{5, 2, 15, Mini::kIeee};
inline constexpr Mini kFp6Format{2, 3, 1, Mini::kNoSpecial};
inline constexpr Mini kBf6Format{3, 2, 3, Mini::kNoSpecial};
inline constexpr Mini kFp4Format{2, 1, 1, Mini::kNoSpecial};

INGOT_EMULATOR_INLINE constexpr int Width(const Mini& m) {
  return 1 + m.exponent_bits + m.mantissa_bits;
}

// The value of a code; every such value is exact in f32.
template <Mini m>
INGOT_EMULATOR_INLINE float DecodeMini(uint32_t code) {
  const uint32_t sign = code >> (Width(m) - 1) & 1;
  const uint32_t exponent =
      code >> m.mantissa_bits & ((1u << m.exponent_bits) - 1);
  const uint32_t mantissa = code & ((1u << m.mantissa_bits) - 1);
  uint32_t bits;
  if (m.special == Mini::kIeee && exponent == (1u << m.exponent_bits) - 1) {
    bits = 0x7f800000u | mantissa << (23 - m.mantissa_bits);
  } else if (m.special == Mini::kNanOnly &&
             exponent == (1u << m.exponent_bits) - 1 &&
             mantissa == (1u << m.mantissa_bits) - 1) {
    bits = 0x7fc00000u;
  } else if (exponent == 0) {
    // mantissa * 2^(1 - bias - mantissa_bits); a normal f32 for all formats but
    // bf16, whose codes are the high halves of f32s.
    if (m.exponent_bits == 8) {
      bits = mantissa << (23 - m.mantissa_bits);
    } else {
      constexpr uint32_t kScale =
          static_cast<uint32_t>(127 + 1 - m.bias - m.mantissa_bits) << 23;
      bits = BitsOf(static_cast<float>(static_cast<int>(mantissa)) *
                    FloatOf(kScale));
    }
  } else {
    bits = (exponent + 127 - static_cast<uint32_t>(m.bias)) << 23 |
           mantissa << (23 - m.mantissa_bits);
  }
  return FloatOf(bits | sign << 31);
}

// What to do when a finite value exceeds the format.
enum class Overflow { kFormat, kSaturate };

namespace detail {

template <Mini m>
constexpr uint32_t MaxCode() {
  const uint32_t all = (1u << (m.exponent_bits + m.mantissa_bits)) - 1;
  if (m.special == Mini::kNanOnly) return all - 1;
  if (m.special == Mini::kIeee) return all - (1u << m.mantissa_bits);
  return all;
}

template <Mini m>
constexpr uint32_t NanCode() {
  const uint32_t all = (1u << (m.exponent_bits + m.mantissa_bits)) - 1;
  if (m.special == Mini::kIeee)
    return MaxCode<m>() + 1 + (1u << (m.mantissa_bits - 1));
  return all;
}

// Adds what rounding decides to significand >> shift. `random` != null: the
// dropped bits are compared with it instead (stochastic rounding).
inline uint64_t RoundShift(uint64_t significand, int shift, int round,
                           bool negative, const uint32_t* random) {
  if (shift <= 0) return significand << -shift;
  if (shift > 62) {
    significand = significand != 0;
    shift = 62;
  }
  const uint64_t kept = significand >> shift;
  const uint64_t dropped = significand & ((uint64_t{1} << shift) - 1);
  if (random != nullptr) {
    // The random number's top bits line up with the dropped ones.
    const uint64_t r = shift >= 32 ? uint64_t{*random} << (shift - 32)
                                   : *random >> (32 - shift);
    return (significand + r) >> shift;
  }
  const uint64_t half = uint64_t{1} << (shift - 1);
  switch (round) {
    case kRoundNearest:
      return kept + (dropped > half || (dropped == half && (kept & 1) != 0));
    case kRoundUp:
      return kept + (dropped != 0 && !negative);
    case kRoundDown:
      return kept + (dropped != 0 && negative);
    default:
      return kept;
  }
}

}  // namespace detail

// Rounds a double to a small format. Infinities and NaNs of formats that have
// none become the largest value. `random`: see above.
template <Mini m>
uint32_t EncodeMini(double value, int round, Overflow overflow,
                    const uint32_t* random = nullptr) {
  const uint64_t bits = BitsOf(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << (Width(m) - 1);
  const uint64_t magnitude = bits & 0x7fffffffffffffffu;
  constexpr uint64_t kInf = uint64_t{0x7ff} << 52;
  constexpr uint32_t kMax = detail::MaxCode<m>();
  if (magnitude > kInf) {
    return sign | (m.special == Mini::kNoSpecial ? kMax : detail::NanCode<m>());
  }
  if (magnitude == kInf) {
    if (m.special == Mini::kIeee && overflow == Overflow::kFormat)
      return sign | (kMax + 1);
    if (m.special == Mini::kNanOnly && overflow == Overflow::kFormat) {
      return sign | detail::NanCode<m>();
    }
    return sign | kMax;
  }
  if (magnitude == 0) return sign;
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  uint64_t significand = magnitude & ((uint64_t{1} << 52) - 1);
  if (exponent == -1023) {
    exponent = -1022;
  } else {
    significand |= uint64_t{1} << 52;
  }
  const int lowest = 1 - m.bias;
  const int at = exponent < lowest ? lowest : exponent;
  const int shift = 52 - m.mantissa_bits + (at - exponent);
  const uint64_t kept =
      detail::RoundShift(significand, shift, round, (bits >> 63) != 0, random);
  const int64_t code =
      (static_cast<int64_t>(at + m.bias - 1) << m.mantissa_bits) +
      static_cast<int64_t>(kept);
  if (code <= static_cast<int64_t>(kMax))
    return sign | static_cast<uint32_t>(code);
  if (m.special == Mini::kNoSpecial || overflow == Overflow::kSaturate)
    return sign | kMax;
  if (m.special == Mini::kNanOnly) return sign | detail::NanCode<m>();
  const bool truncates = round == kRoundZero ||
                         (round == kRoundUp && sign != 0) ||
                         (round == kRoundDown && sign == 0);
  return sign | (truncates ? kMax : kMax + 1);
}

// A result as f16 in MODE's rounding. With FP16_OVFL what overflows becomes the
// largest number, while infinities stay.
INGOT_EMULATOR_INLINE uint32_t EncodeHalf(double value, int round,
                                          bool saturate) {
  const bool infinite = (BitsOf(value) << 1) == uint64_t{0x7ff} << 53;
  return EncodeMini<kF16Format>(
      value, round,
      saturate && !infinite ? Overflow::kSaturate : Overflow::kFormat);
}

// What v_prng_b32 makes of a seed; stochastic conversions of several values
// take the next seed for each.
INGOT_EMULATOR_INLINE uint32_t NextRandom(uint32_t seed) {
  return seed << 1 ^ ((seed >> 31) != 0 ? 0xc5u : 0u);
}

// The two conversions of hot loops, written so that they vectorise.
INGOT_EMULATOR_INLINE float HalfToFloat(uint32_t h) {
  const uint32_t magnitude = h & 0x7fff;
  const uint32_t normal =
      (magnitude << 13) + (magnitude >= 0x7c00 ? 224u << 23 : 112u << 23);
  const uint32_t tiny =
      BitsOf(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24f);
  return FloatOf((magnitude < 0x400 ? tiny : normal) | (h & 0x8000) << 16);
}

INGOT_EMULATOR_INLINE uint32_t FloatToHalf(float f) {
  const uint32_t bits = BitsOf(f);
  const uint32_t x = bits & 0x7fffffff;
  const uint32_t normal = (x - 0x38000000u + 0xfff + (x >> 13 & 1)) >> 13;
  const uint32_t exponent = x >> 23;
  const uint32_t shift =
      exponent < 102 ? 24 : 126 - (exponent > 113 ? 113 : exponent);
  const uint32_t significand = exponent < 102 ? 0 : (x & 0x7fffff) | 0x800000;
  const uint32_t kept = significand >> shift;
  const uint32_t dropped = significand & ((1u << shift) - 1),
                 half = 1u << (shift - 1);
  const uint32_t tiny =
      kept + (dropped > half || (dropped == half && (kept & 1) != 0));
  const uint32_t huge = x > 0x7f800000 ? (0x7e00 | (x >> 13 & 0x3ff)) : 0x7c00;
  const uint32_t r = x >= 0x47800000 ? huge : x < 0x38800000 ? tiny : normal;
  return r | (bits >> 16 & 0x8000);
}

INGOT_EMULATOR_INLINE float Bf16ToFloat(uint32_t b) { return FloatOf(b << 16); }

INGOT_EMULATOR_INLINE uint32_t FloatToBf16(float f) {
  const uint32_t bits = BitsOf(f);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16 | 0x40) : rounded;
}

// a * b + c rounded once to odd, so that a later rounding to f16 is exact. The
// factors come from f16, so their product is exact in double.
INGOT_EMULATOR_INLINE double FusedToOdd(float a, float b, float c) {
  const double p = static_cast<double>(a) * b, d = c;
  const double sum = p + d;
  const double t = sum - p;
  const double error = (p - (sum - t)) + (d - t);
  const uint64_t bits = BitsOf(sum);
  if (!(error != 0) || (bits & 1) != 0) return sum;
  return DoubleOf((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_NUMBER_H_
