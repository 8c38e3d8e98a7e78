// Values of which some bits are undefined, and what operations make of them.
//
// A result bit is undefined when the undefined bits of the sources can change
// it. Where finding that out exactly is dear, more bits are called undefined,
// never fewer. Everything here is of one lane; widths are 1 to 64 bits, and
// bits above the width are 0.
#ifndef TESTS_EMULATOR_TAINT_BITS_H_
#define TESTS_EMULATOR_TAINT_BITS_H_

#include <bit>
#include <cstdint>

namespace ingot::emulator::taint {

struct Bits {
  uint64_t value = 0;  // what stands there in this run
  uint64_t undef = 0;  // a 1 for each bit whose value means nothing

  constexpr uint64_t least() const { return value & ~undef; }
  constexpr uint64_t most() const { return value | undef; }
};

constexpr uint64_t Mask(int width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}
constexpr Bits Low(Bits a, int width) {
  return {a.value & Mask(width), a.undef & Mask(width)};
}
constexpr Bits Known(uint64_t value) { return {value, 0}; }
// Any value of `width` bits.
constexpr Bits Anything(uint64_t value, int width) {
  return {value & Mask(width), Mask(width)};
}
// `value` if no source bit is undefined, else nothing is known: float
// arithmetic and all else that mixes its bits.
constexpr Bits Mixed(uint64_t undef, uint64_t value, int width) {
  return undef != 0 ? Anything(value, width) : Low(Known(value), width);
}

constexpr uint64_t SignExtend(uint64_t value, int from) {
  return from >= 64
             ? value
             : static_cast<uint64_t>(
                   static_cast<int64_t>(value << (64 - from)) >> (64 - from));
}
// From `from` bits to `width`; an undefined sign makes the new bits undefined.
constexpr Bits Extend(Bits a, int from, int width) {
  return Low({SignExtend(a.value, from), SignExtend(a.undef, from)}, width);
}

// Bit by bit by a truth table: bit 4 a + 2 b + c of it is the result.
constexpr Bits Logic(uint32_t table, Bits a, Bits b, Bits c, int width) {
  uint64_t can[2] = {0, 0};
  uint64_t value = 0;
  for (uint32_t n = 0; n < 8; ++n) {
    const auto may = [](Bits x, bool one) {
      return (one ? x.value : ~x.value) | x.undef;
    };
    const auto is = [](Bits x, bool one) { return one ? x.value : ~x.value; };
    const bool x = (n & 4) != 0, y = (n & 2) != 0, z = (n & 1) != 0;
    const uint64_t bit = table >> n & 1;
    can[bit] |= may(a, x) & may(b, y) & may(c, z);
    if (bit != 0) value |= is(a, x) & is(b, y) & is(c, z);
  }
  return Low({value, can[0] & can[1]}, width);
}
// Truth tables of the sources in order.
inline constexpr uint32_t kA = 0xf0, kB = 0xcc, kC = 0xaa;
constexpr Bits Or(Bits a, Bits b, int width) {
  return Logic(kA | kB, a, b, {}, width);
}

// Exact: a bit is undefined where the least and the most sum differ or where an
// addend is.
constexpr Bits Add(Bits a, Bits b, int width) {
  const uint64_t differ = (a.least() + b.least()) ^ (a.most() + b.most());
  return Low({a.value + b.value, differ | a.undef | b.undef}, width);
}
constexpr Bits Not(Bits a, int width) {
  return Low({~a.value, a.undef}, width);
}
constexpr Bits Subtract(Bits a, Bits b, int width) {
  const uint64_t differ = (a.least() - b.most()) ^ (a.most() - b.least());
  return Low({a.value - b.value, differ | a.undef | b.undef}, width);
}

// From the lowest undefined bit up, as a product is the sum of shifted
// multiplicands; the known zeros below a factor's lowest bit push it further.
constexpr Bits Multiply(Bits a, Bits b, int width) {
  const uint64_t value = a.value * b.value;
  if ((a.undef | b.undef) == 0 || a.most() == 0 || b.most() == 0)
    return Low(Known(value), width);
  int from = 128;
  const auto low = [](uint64_t x) { return std::countr_zero(x); };
  if (a.undef != 0) from = low(a.undef) + low(b.most());
  if (b.undef != 0) {
    const int other = low(b.undef) + low(a.most());
    from = other < from ? other : from;
  }
  if (from >= 64) return Low(Known(value), width);
  return Low({value, ~uint64_t{0} << from}, width);
}

constexpr Bits ShiftLeft(Bits a, Bits by, int width) {
  if (by.undef != 0 && a.most() != 0)
    return Anything(a.value << by.value, width);
  return Low({a.value << by.value, a.undef << by.value}, width);
}
constexpr Bits ShiftRight(Bits a, Bits by, int width) {
  if (by.undef != 0 && a.most() != 0)
    return Anything(a.value >> by.value, width);
  return {a.value >> by.value, a.undef >> by.value};
}
constexpr Bits ShiftRightSigned(Bits a, Bits by, int width) {
  const Bits wide = Extend(a, width, 64);
  const auto shift = [&by](uint64_t x) {
    return static_cast<uint64_t>(static_cast<int64_t>(x) >>
                                 static_cast<int>(by.value));
  };
  if (by.undef != 0 && a.most() != 0) return Anything(shift(wide.value), width);
  return Low({shift(wide.value), shift(wide.undef)}, width);
}

// One bit: 1 when `undef` source bits decide it.
constexpr Bits Truth(bool value, bool undef) {
  return {value ? 1u : 0u, undef ? 1u : 0u};
}
constexpr Bits Equal(Bits a, Bits b) {
  const uint64_t undef = a.undef | b.undef;
  return Truth(a.value == b.value,
               undef != 0 && ((a.value ^ b.value) & ~undef) == 0);
}
// So that signed numbers compare as unsigned ones.
constexpr Bits Biased(Bits a, int width, bool is_signed) {
  if (is_signed) a.value ^= uint64_t{1} << (width - 1);
  return a;
}
constexpr Bits Less(Bits a, Bits b) {
  return Truth(a.value < b.value,
               (a.least() < b.most()) != (a.most() < b.least()));
}
constexpr Bits LessOrEqual(Bits a, Bits b) {
  return Truth(a.value <= b.value,
               (a.least() <= b.most()) != (a.most() <= b.least()));
}
// Whether any bit is 1.
constexpr Bits NotZero(Bits a) {
  return Truth(a.value != 0, a.undef != 0 && a.least() == 0);
}

// `a` where the condition (one bit) is 1.
constexpr Bits Select(Bits condition, Bits a, Bits b) {
  if (condition.undef == 0) return condition.value != 0 ? a : b;
  return {condition.value != 0 ? a.value : b.value,
          a.undef | b.undef | (a.value ^ b.value)};
}
constexpr Bits Minimum(Bits a, Bits b, int width, bool is_signed) {
  return Select(Less(Biased(a, width, is_signed), Biased(b, width, is_signed)),
                a, b);
}
constexpr Bits Maximum(Bits a, Bits b, int width, bool is_signed) {
  return Select(Less(Biased(a, width, is_signed), Biased(b, width, is_signed)),
                b, a);
}

// `width` bits of `a` from bit `at` on.
constexpr Bits Field(Bits a, int at, int width) {
  return Low({a.value >> at, a.undef >> at}, width);
}
// `a` with the bits from `at` on replaced by `field`.
constexpr Bits Insert(Bits a, int at, Bits field, int width) {
  const uint64_t mask = Mask(width) << at;
  return {(a.value & ~mask) | (field.value << at & mask),
          (a.undef & ~mask) | (field.undef << at & mask)};
}

// How many 1 bits there are: undefined up to the top bit of the count.
constexpr Bits Count(Bits a) {
  const uint64_t value = static_cast<uint64_t>(std::popcount(a.value));
  const int most = std::popcount(a.most()), least = std::popcount(a.least());
  return {value, most == least
                     ? 0
                     : Mask(std::bit_width(static_cast<uint32_t>(most)))};
}
// The number of the lowest 1 bit; all ones when there is none.
constexpr Bits LowestOne(Bits a, int width) {
  const uint64_t value = a.value == 0
                             ? ~uint64_t{0}
                             : static_cast<uint64_t>(std::countr_zero(a.value));
  const bool sure =
      a.undef == 0 || std::countr_zero(a.undef) > std::countr_zero(a.least());
  return sure ? Low(Known(value), width) : Anything(value, width);
}
// How many 0 bits stand above the highest 1 bit of `from` bits; all ones when
// there is none.
constexpr Bits LeadingZeros(Bits a, int from, int width) {
  const auto zeros = [from](uint64_t x) {
    return std::countl_zero(x) - (64 - from);
  };
  const uint64_t value =
      a.value == 0 ? ~uint64_t{0} : static_cast<uint64_t>(zeros(a.value));
  const bool sure = a.undef == 0 || zeros(a.undef) > zeros(a.least());
  return sure ? Low(Known(value), width) : Anything(value, width);
}

}  // namespace ingot::emulator::taint

#endif  // TESTS_EMULATOR_TAINT_BITS_H_
