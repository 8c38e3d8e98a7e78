// The formats of block-scaled matrices (OCP MX 1.0, OFP8) on the host, for
// references and inputs. Written apart from anything the compiler or the
// emulator uses.
#ifndef TESTS_SUPPORT_MX_FORMAT_H_
#define TESTS_SUPPORT_MX_FORMAT_H_

#include <cmath>
#include <cstdint>
#include <string>

namespace ingot::testing {

struct MxFormat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

inline MxFormat MxFormatOf(const std::string& dtype) {
  if (dtype == "e4m3fn") return {4, 3};
  if (dtype == "e5m2") return {5, 2};
  if (dtype == "e2m3") return {2, 3};
  if (dtype == "e3m2") return {3, 2};
  return {2, 1};
}

// The value of a code. Only e5m2 has infinities, only the 8-bit ones NaN.
inline double MxValue(const std::string& dtype, uint32_t code) {
  const MxFormat f = MxFormatOf(dtype);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t mantissa = code & ((1u << f.mantissa_bits) - 1);
  const uint32_t exponent =
      code >> f.mantissa_bits & ((1u << f.exponent_bits) - 1);
  const double sign = code >> (f.bits() - 1) & 1 ? -1.0 : 1.0;
  if (dtype == "e5m2" && exponent == 31) {
    return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  }
  if (dtype == "e4m3fn" && (code & 0x7f) == 0x7f) return std::nan("");
  const double fraction = std::ldexp(mantissa, -f.mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
}

inline double MxScale(uint8_t code) {
  return code == 255 ? std::nan("") : std::ldexp(1.0, code - 127);
}

// Bytes of `k` elements; k a multiple of 32.
inline int64_t MxRowBytes(const std::string& dtype, int64_t k) {
  return k * MxFormatOf(dtype).bits() / 8;
}

// Element `i` of a packed row: bits i * bits .. of a little-endian bit string.
inline uint32_t MxCode(const std::string& dtype, const uint8_t* row,
                       int64_t i) {
  const int bits = MxFormatOf(dtype).bits();
  uint32_t code = 0;
  for (int b = 0; b < bits; ++b) {
    const int64_t bit = i * bits + b;
    code |= (row[bit / 8] >> bit % 8 & 1u) << b;
  }
  return code;
}

inline void MxPutCode(const std::string& dtype, uint8_t* row, int64_t i,
                      uint32_t code) {
  const int bits = MxFormatOf(dtype).bits();
  for (int b = 0; b < bits; ++b) {
    const int64_t bit = i * bits + b;
    row[bit / 8] = static_cast<uint8_t>((row[bit / 8] & ~(1u << bit % 8)) |
                                        (code >> b & 1u) << bit % 8);
  }
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_MX_FORMAT_H_
