// The floats of 16 bits and fewer, by their definitions, for tests.
#ifndef TESTS_EMULATOR_SMALL_FLOAT_H_
#define TESTS_EMULATOR_SMALL_FLOAT_H_

#include <cmath>
#include <cstdint>

namespace ingot::emulator {

struct SmallFloat {
  int exponent, mantissa, bias;
  bool ieee;     // top exponent is infinity and NaN
  bool one_nan;  // all ones is the only NaN

  int bits() const { return 1 + exponent + mantissa; }
  double Value(uint32_t code) const {
    const uint32_t e = code >> mantissa & ((1u << exponent) - 1);
    const uint32_t m = code & ((1u << mantissa) - 1);
    const double sign = (code >> (bits() - 1) & 1) != 0 ? -1 : 1;
    if (ieee && e == (1u << exponent) - 1)
      return m != 0 ? NAN : sign * INFINITY;
    if (one_nan &&
        (code & ((1u << (bits() - 1)) - 1)) == (1u << (bits() - 1)) - 1)
      return NAN;
    if (e == 0) return sign * std::ldexp(m, 1 - bias - mantissa);
    return sign * std::ldexp(1.0 + std::ldexp(m, -mantissa),
                             static_cast<int>(e) - bias);
  }
  uint32_t LargestCode() const {
    return (1u << (bits() - 1)) - 1 - (ieee ? 1u << mantissa : one_nan ? 1 : 0);
  }
  double Largest() const { return Value(LargestCode()); }
  // The largest code whose value is at most `v`, which is finite and >= 0.
  uint32_t Below(double v) const {
    uint32_t low = 0, high = LargestCode() + 1;  // codes are ordered as values
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (Value(middle) <= v ? low : high) = middle;
    }
    return low;
  }
  // Nearest, ties to the even code; ~0 for NaN. Past the largest value there is
  // a next code as if exponents went on.
  uint32_t Nearest(double v, bool saturate) const {
    const uint32_t sign = std::signbit(v) ? 1u << (bits() - 1) : 0;
    if (std::isnan(v)) return ~0u;
    v = std::fmin(std::fabs(v), 4 * Largest());  // as far out as infinity
    uint32_t code = Below(v);
    const bool last = code == LargestCode();
    const double step =
        last ? Value(code) - Value(code - 1) : Value(code + 1) - Value(code);
    const double over = v - Value(code);
    if (over > step / 2 || (over == step / 2 && code % 2 == 1)) ++code;
    if (code <= LargestCode()) return sign | code;
    if (saturate) return sign | LargestCode();
    return ieee ? sign | (((1u << exponent) - 1) << mantissa) : ~0u;
  }
};

inline constexpr SmallFloat kF16{5, 10, 15, true, false},
    kBf16{8, 7, 127, true, false}, kFp8{4, 3, 7, false, true},
    kBf8{5, 2, 15, true, false}, kFp6{2, 3, 1, false, false},
    kBf6{3, 2, 3, false, false}, kFp4{2, 1, 1, false, false};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_SMALL_FLOAT_H_
