// The floating-point formats of operands on the host, rounding to nearest even.
#ifndef INGOT_CLIENT_CTL_NUMBERS_H_
#define INGOT_CLIENT_CTL_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace ingot::ctl {

struct Format {
  const char* name;
  size_t bytes;
  int exponent_bits;
  int mantissa_bits;
  // Else the largest exponent is of numbers too, but for one NaN.
  bool infinities = true;

  // Half a unit in the last place of 1: the relative error of rounding.
  double unit() const;
  double smallest_subnormal() const;
};

// nullptr for what is not bf16, f16, f32, e4m3fn or e5m2.
const Format* FindFormat(const std::string& name);

double Decode(const Format& format, const uint8_t* from);
void Encode(const Format& format, double value, uint8_t* to);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_NUMBERS_H_
