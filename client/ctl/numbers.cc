#include "client/ctl/numbers.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace ingot::ctl {
namespace {

constexpr Format kFormats[] = {{"bf16", 2, 8, 7},
                               {"f16", 2, 5, 10},
                               {"f32", 4, 8, 23},
                               {"e4m3fn", 1, 4, 3, false},
                               {"e5m2", 1, 5, 2}};

int Bias(const Format& format) { return (1 << (format.exponent_bits - 1)) - 1; }

// std::nearbyint in the default mode rounds half to even.
uint64_t BitsOf(const Format& format, double value) {
  const int mantissa_bits = format.mantissa_bits;
  const int bias = Bias(format);
  const uint64_t sign = uint64_t{std::signbit(value)}
                        << (format.exponent_bits + format.mantissa_bits);
  const uint64_t top = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t ones = (uint64_t{1} << mantissa_bits) - 1;
  if (std::isnan(value)) {
    return top << mantissa_bits |
           (format.infinities ? uint64_t{1} << (mantissa_bits - 1) : ones);
  }
  const uint64_t beyond = top << mantissa_bits | (format.infinities ? 0 : ones);
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | beyond;
  if (magnitude == 0) return sign;
  // Subnormals have the exponent of the smallest normal.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // A mantissa that rounds up to the next power of two carries into the
  // exponent by itself.
  const uint64_t scaled = static_cast<uint64_t>(
      std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
  const uint64_t bits =
      (static_cast<uint64_t>(exponent + bias - 1) << mantissa_bits) + scaled;
  return sign | (bits >= beyond ? beyond : bits);
}

}  // namespace

double Format::unit() const { return std::ldexp(1.0, -mantissa_bits - 1); }

double Format::smallest_subnormal() const {
  return std::ldexp(1.0, 1 - Bias(*this) - mantissa_bits);
}

const Format* FindFormat(const std::string& name) {
  for (const Format& format : kFormats) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

double Decode(const Format& format, const uint8_t* from) {
  uint64_t bits = 0;
  memcpy(&bits, from, format.bytes);
  const uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa_bits) - 1);
  const uint64_t top = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t exponent = bits >> format.mantissa_bits & top;
  const bool negative =
      (bits >> (format.exponent_bits + format.mantissa_bits) & 1) != 0;
  double value;
  const bool number = !format.infinities &&
                      mantissa != (uint64_t{1} << format.mantissa_bits) - 1;
  if (exponent == top && !number) {
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  } else {
    const uint64_t hidden =
        exponent == 0 ? 0 : uint64_t{1} << format.mantissa_bits;
    const int power = static_cast<int>(exponent == 0 ? 1 : exponent) -
                      Bias(format) - format.mantissa_bits;
    value = std::ldexp(static_cast<double>(mantissa | hidden), power);
  }
  return negative ? -value : value;
}

void Encode(const Format& format, double value, uint8_t* to) {
  const uint64_t bits = BitsOf(format, value);
  memcpy(to, &bits, format.bytes);
}

}  // namespace ingot::ctl
