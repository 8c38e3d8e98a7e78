// The floating-point formats of kernels on the host, for references and inputs.
// Written apart from anything the compiler or the emulator uses.
#ifndef TESTS_SUPPORT_NUMBER_H_
#define TESTS_SUPPORT_NUMBER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace ingot::testing {

// A float format by its fields.
struct Format {
  int exponent_bits = 8;
  int mantissa_bits = 23;
  int bytes = 4;
  // No infinity, and the only NaN has all bits set: e4m3fn.
  bool finite = false;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // Half the distance of neighbours, relative: 2^-8, 2^-11, 2^-24.
  double Unit() const { return std::ldexp(1.0, -mantissa_bits - 1); }
  double SmallestSubnormal() const {
    return std::ldexp(1.0, 1 - bias() - mantissa_bits);
  }
  double Largest() const {
    if (finite)
      return std::ldexp(2.0 - std::ldexp(2.0, -mantissa_bits), bias() + 1);
    return std::ldexp(2.0 - std::ldexp(1.0, -mantissa_bits), bias());
  }
};

inline Format FormatOf(absl::string_view dtype) {
  if (dtype == "bf16") return {8, 7, 2};
  if (dtype == "f16") return {5, 10, 2};
  if (dtype == "e4m3fn") return {4, 3, 1, true};
  if (dtype == "e5m2") return {5, 2, 1};
  return {8, 23, 4};
}

// The value of the bits at `at`.
inline double Decode(const Format& format, const void* at) {
  uint32_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(format.bytes));
  const uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>((bits >> format.mantissa_bits) &
                                        ((1u << format.exponent_bits) - 1));
  const double sign =
      (bits >> (format.mantissa_bits + format.exponent_bits)) & 1 ? -1 : 1;
  const bool top = exponent == (1 << format.exponent_bits) - 1;
  if (top && format.finite && mantissa == (1u << format.mantissa_bits) - 1) {
    return std::nan("");
  }
  if (top && !format.finite) {
    return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  }
  const int significant = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  return sign * std::ldexp(significant + static_cast<double>(mantissa),
                           std::max(exponent, 1) - format.bias() -
                               format.mantissa_bits);
}

// `value` rounded to the nearest number of the format, ties to even, written to
// `at`.
inline void Encode(const Format& format, double value, void* at) {
  const uint32_t sign = std::signbit(value) ? 1 : 0;
  const uint32_t top = (1u << format.exponent_bits) - 1;
  uint32_t bits = 0;
  const uint32_t all =
      (1u << (format.mantissa_bits + format.exponent_bits)) - 1;
  if (std::isnan(value)) {
    bits = format.finite
               ? all
               : top << format.mantissa_bits | 1u << (format.mantissa_bits - 1);
  } else if (value != 0) {
    const double magnitude = std::fabs(value);
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int least = 1 - format.bias();
    const int scale = std::max(exponent - 1, least) - format.mantissa_bits;
    const double rounded = std::nearbyint(std::ldexp(magnitude, -scale));
    if (std::isinf(value) || std::ldexp(rounded, scale) > format.Largest()) {
      bits = format.finite ? all : top << format.mantissa_bits;
    } else {
      // Adding the mantissa with its leading one carries into the exponent.
      const int field = scale + format.mantissa_bits - least;
      bits = (static_cast<uint32_t>(field) << format.mantissa_bits) +
             static_cast<uint32_t>(rounded);
    }
  }
  bits |= sign << (format.mantissa_bits + format.exponent_bits);
  std::memcpy(at, &bits, static_cast<size_t>(format.bytes));
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_NUMBER_H_
