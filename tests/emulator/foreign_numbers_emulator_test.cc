// Arithmetic and conversions of clang's: see foreign/numbers.cl.
#include <cmath>
#include <functional>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

template <class To, class From>
To Bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// A float of `exponent` and `mantissa` bits by its definition; without
// infinities the codes with the highest exponent are numbers.
double Decode(uint32_t code, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1;
  const int field = static_cast<int>(code >> mantissa & ((1u << exponent) - 1));
  const double fraction =
      std::ldexp(static_cast<double>(code & ((1u << mantissa) - 1)), -mantissa);
  const double magnitude = field == 0 ? std::ldexp(fraction, 1 - bias)
                                      : std::ldexp(1 + fraction, field - bias);
  return (code >> (exponent + mantissa) & 1) != 0 ? -magnitude : magnitude;
}

// The code of the nearest of the values with `codes` magnitudes, the even code
// of two that are as near; larger magnitudes give the last one.
uint32_t Encode(double value, int exponent, int mantissa, uint32_t codes) {
  uint32_t best = 0;
  for (uint32_t c = 1; c < codes; ++c) {
    const double near = std::fabs(Decode(best, exponent, mantissa) -
                                  std::fabs(value)),
                 now = std::fabs(Decode(c, exponent, mantissa) -
                                 std::fabs(value));
    if (now < near || (now == near && c % 2 == 0)) best = c;
  }
  return best | (std::signbit(value) ? 1u : 0u) << (exponent + mantissa);
}

class Numbers : public Foreign {
 protected:
  static constexpr int kCount = 777;
  void SetUp() override { LoadGroup("numbers"); }

  // Integers of all magnitudes, and the ends of the type's range.
  template <class T>
  T Integer(size_t i) {
    if (i % 16 == 0) return std::numeric_limits<T>::max();
    if (i % 19 == 0) return std::numeric_limits<T>::min();
    const uint64_t v = random_() >> Random(64);
    return static_cast<T>(Random(2) != 0 ? v : ~v);
  }
  double Real(size_t) { return (Random(4000001) - 2000000) * 0.5; }

  // Runs `kernel` on `kCount` pairs and holds each result against `want` by
  // `same`.
  template <class In, class Out>
  void Check(const std::string& kernel, std::function<In(size_t)> make,
             std::function<Out(In, In)> want,
             std::function<bool(Out, Out)> same = std::equal_to<Out>()) {
    const In *a = Filled<In>(kCount, make), *b = Filled<In>(kCount, make);
    Out* out = Buffer<Out>(kCount);
    Go(kernel, Arguments().Add(a).Add(b).Add(out).Add(int{kCount}), 13, 64);
    for (int i = 0; i < kCount; ++i) {
      ASSERT_TRUE(same(out[i], want(a[i], b[i])))
          << kernel << " " << i << ": got " << +out[i] << ", wanted "
          << +want(a[i], b[i]);
    }
  }
  template <class T>
  void CheckIntegers(const std::string& kernel, std::function<T(T, T)> want) {
    Check<T, T>(kernel, [this](size_t i) { return Integer<T>(i); }, want);
  }
};

// Division of the most negative number by -1 has no result in C; it wraps.
template <class T>
T Divide(T x, T y) {
  if (y == 0) return static_cast<T>(-1);
  return y == static_cast<T>(-1) ? static_cast<T>(0 - uint64_t(x)) : x / y;
}

TEST_P(Numbers, Integers) {
  using std::numeric_limits;
  CheckIntegers<int64_t>("rem_i64", [](int64_t x, int64_t y) {
    return y == 0 ? -1 : y == -1 ? 0 : x % y;
  });
  CheckIntegers<int64_t>("div_i64", Divide<int64_t>);
  CheckIntegers<uint64_t>(
      "div_u64", [](uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; });
  CheckIntegers<uint64_t>(
      "rem_u64", [](uint64_t x, uint64_t y) { return y == 0 ? 0 : x % y; });
  CheckIntegers<int32_t>("div_i32", Divide<int32_t>);
  CheckIntegers<uint32_t>(
      "rem_u32", [](uint32_t x, uint32_t y) { return y == 0 ? 0 : x % y; });
  CheckIntegers<int16_t>("div_i16", Divide<int16_t>);
  CheckIntegers<uint8_t>("rem_u8", [](uint8_t x, uint8_t y) {
    return static_cast<uint8_t>(y == 0 ? 0 : x % y);
  });
  CheckIntegers<uint64_t>("mul_u64", std::multiplies<uint64_t>());
  CheckIntegers<uint64_t>("mulhi_u64", [](uint64_t x, uint64_t y) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(x) * y >> 64);
  });
  CheckIntegers<int64_t>("shift_i64", [](int64_t x, int64_t y) {
    const uint64_t u = static_cast<uint64_t>(x);
    return static_cast<int64_t>(u << (y & 63)) ^ (x >> (y >> 6 & 63)) ^
           static_cast<int64_t>(u >> (y >> 12 & 63));
  });
  const auto saturated = [](int64_t v) {
    return static_cast<int32_t>(std::clamp<int64_t>(
        v, numeric_limits<int32_t>::min(), numeric_limits<int32_t>::max()));
  };
  CheckIntegers<int32_t>("saturate_i32", [&](int64_t x, int64_t y) {
    return saturated(x + y) ^ saturated(y - x);
  });
  CheckIntegers<uint16_t>("saturate_u16", [](int x, int y) {
    return static_cast<uint16_t>(std::min(x + y, 65535) ^ std::max(x - y, 0));
  });
}

TEST_P(Numbers, BitsAndBytes) {
  CheckIntegers<uint32_t>("bits_u32", [](uint32_t x, uint32_t y) {
    uint32_t ones = 0, leading = 0, trailing = 0, reversed = 0, swapped = 0;
    for (int n = 0; n < 32; ++n) {
      ones += x >> n & 1;
      reversed |= (x >> n & 1) << (31 - n);
    }
    while (leading < 32 && (y >> (31 - leading) & 1) == 0) ++leading;
    while (trailing < 32 && (x >> trailing & 1) == 0) ++trailing;
    for (int n = 0; n < 4; ++n) swapped |= (y >> 8 * n & 255) << (24 - 8 * n);
    return ones + leading * 64 + trailing * 4096 + (reversed ^ swapped);
  });
  CheckIntegers<uint32_t>("bytes_u32", [](uint32_t x, uint32_t y) {
    const auto byte = [](uint32_t v, int n) { return v >> 8 * n & 255; };
    uint32_t sum = byte(y, 3) | byte(y, 1) << 8 | byte(x, 3) << 16;
    sum += x << 8 | y >> 24;
    sum += 5;
    for (int n = 0; n < 4; ++n) {
      const uint32_t p = byte(x, n), q = byte(y, n);
      sum += p > q ? p - q : q - p;
      sum += (p + q + 1) / 2 << 8 * n;
    }
    return sum;
  });
}

TEST_P(Numbers, Doubles) {
  const auto real = [this](size_t i) { return Real(i); };
  const auto wide = [this](size_t i) {
    return i % 50 == 0 ? std::ldexp(Real(i), 40 - 1060)
                       : std::ldexp(Real(i), Random(400) - 200);
  };
  const auto same = [](double got, double want) {
    return got == want || (std::isnan(got) && std::isnan(want));
  };
  Check<double, double>("div_f64", wide, std::divides<double>(), same);
  Check<double, double>("fma_f64", real, [](double x, double y) {
    return std::fma(x, y, x) + std::sqrt(x * x);
  });
  Check<double, double>("round_f64", real, [](double x, double y) {
    return std::floor(x) + std::ceil(y) * 3 + std::trunc(y) * 5 +
           std::nearbyint(x) * 7;
  });
  Check<double, double>("order_f64", real, [](double x, double y) {
    return std::fmax(x, y) * 2 + std::fmin(x, y) + (x < y ? 1 : x == y ? 2 : 4);
  });
  Check<double, double>("scale_f64", wide, [](double x, double y) {
    // A conversion to int saturates on the device.
    const double whole = std::clamp(std::trunc(y), -2147483648.0, 2147483647.0);
    return std::ldexp(x, static_cast<int>(whole) % 40);
  });
  Check<double, int64_t>("ints_f64", real, [](double x, double y) {
    return static_cast<int64_t>(x) * 3 + static_cast<int64_t>(std::fabs(y)) +
           static_cast<int64_t>(x / 1e6);
  });
}

TEST_P(Numbers, FloatsWithinTheirErrors) {
  const auto real = [this](size_t i) {
    return static_cast<float>(
        std::ldexp(Real(i) + 0.25, i % 9 == 0 ? -140 : Random(100) - 60));
  };
  const auto near = [](double ulps) {
    return [ulps](float got, float want) {
      const double error = std::fabs(double(got) - double(want));
      return got == want ||
             error <= ulps * 0x1p-23 * std::fabs(double(want)) + 0x1p-149;
    };
  };
  Check<float, float>(
      "div_f32", real, [](float x, float y) { return x / y; }, near(2.5));
  Check<float, float>(
      "sqrt_f32", [this](size_t i) { return std::fabs(float(Real(i))) + 1; },
      [](float x, float y) { return std::sqrt(x) + y; }, near(3));
  Check<uint16_t, uint16_t>(
      "arith_bf16", [this](size_t) { return 0x3e00 + Random(512); },
      [](uint32_t x, uint32_t y) {
        const float f = OfBf16(x) * OfBf16(y) + OfBf16(x);
        return static_cast<uint16_t>(Bits<uint32_t>(f) >> 16);
      },
      [](int got, int want) { return std::abs(got - want) <= 2; });
  Check<uint16_t, uint16_t>(
      "arith_f16",
      [this](size_t) {
        return Bits<uint16_t>(static_cast<_Float16>(Random(200) + 1) / 16);
      },
      [](uint16_t x, uint16_t y) {
        const double a = double(Bits<_Float16>(x)),
                     b = double(Bits<_Float16>(y));
        return Bits<uint16_t>(static_cast<_Float16>(a * b + 1.5 - a / b));
      },
      [](uint16_t got, uint16_t want) {
        return std::fabs(double(Bits<_Float16>(got)) -
                         double(Bits<_Float16>(want))) < 0.25;
      });
}

TEST_P(Numbers, PackedPairs) {
  const auto half = [](uint32_t pair, int n) {
    return static_cast<double>(
        Bits<_Float16>(static_cast<uint16_t>(pair >> 16 * n)));
  };
  Check<uint32_t, uint32_t>(
      "packed_f16",
      [this](size_t) {
        return (0x3800u + uint32_t(Random(2048))) << 16 |
               (0xb800u + uint32_t(Random(2048)));
      },
      // Fused or not, with one rounding each: the pair is held against exact
      // arithmetic below, so the bits only have to be near.
      [&](uint32_t x, uint32_t y) {
        uint32_t pair = 0;
        for (int n = 0; n < 2; ++n) {
          const double a = half(x, n), b = half(y, n);
          const double v =
              std::fmax(a * b - a, half(y, 1 - n) * half(x, 0) + b);
          pair |= uint32_t{Bits<uint16_t>(static_cast<_Float16>(v))} << 16 * n;
        }
        return pair;
      },
      [&](uint32_t got, uint32_t want) {
        return std::fabs(half(got, 0) - half(want, 0)) < 0.01 &&
               std::fabs(half(got, 1) - half(want, 1)) < 0.01;
      });
  CheckIntegers<uint32_t>("packed_i16", [](uint32_t x, uint32_t y) {
    uint32_t pair = 0;
    for (int n = 0; n < 2; ++n) {
      const auto at = [](uint32_t v, int k) {
        return static_cast<int16_t>(v >> 16 * k);
      };
      const int a = at(x, n), b = at(y, n);
      const int16_t s = std::min(static_cast<int16_t>(a * b + a), at(y, 1 - n));
      const uint32_t shifted = static_cast<uint32_t>(s) << (b & 15);
      pair |= ((shifted - static_cast<uint32_t>(a >> 3)) & 0xffff) << 16 * n;
    }
    return pair;
  });
  Check<uint64_t, uint64_t>(
      "packed_f32",
      [this](size_t i) {
        return uint64_t{Bits<uint32_t>(float(Real(i)))} << 32 |
               Bits<uint32_t>(float(Real(i)) * 0x1p-20f);
      },
      [](uint64_t x, uint64_t y) {
        uint64_t pair = 0;
        const auto at = [](uint64_t v, int n) {
          return Bits<float>(static_cast<uint32_t>(v >> 32 * n));
        };
        for (int n = 0; n < 2; ++n) {
          const float a = at(x, n), b = at(y, n);
          const float v = std::fma(a, b, a + b) * (at(y, 0) - at(x, 1 - n));
          pair |= uint64_t{Bits<uint32_t>(v)} << 32 * n;
        }
        return pair;
      });
}

TEST_P(Numbers, DotProducts) {
  const int* a = Filled<int>(kCount, [this](size_t) { return random_(); });
  const int* b = Filled<int>(kCount, [this](size_t) { return random_(); });
  int* out = Buffer<int>(3 * kCount);
  Go("dots", Arguments().Add(a).Add(b).Add(out).Add(int{kCount}), 13, 64);
  const auto dot = [](int x, int y, int bits) {
    int64_t sum = 0;
    for (int at = 0; at < 32; at += bits) {
      const auto part = [&](int v) {
        return static_cast<int64_t>(v) << (64 - at - bits) >> (64 - bits);
      };
      sum += part(x) * part(y);
    }
    return static_cast<int>(sum);
  };
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(out[3 * i], dot(a[i], b[i], 8) + 7) << i;
    ASSERT_EQ(out[3 * i + 1], dot(a[i], b[i], 4) - 7) << i;
    ASSERT_EQ(out[3 * i + 2],
              static_cast<int>(uint32_t(dot(a[i], b[i], 16)) + 1u))
        << i;
  }
}

TEST_P(Numbers, NarrowConversions) {
  // Ties, values between, and beyond fp4's range.
  const float* in = Filled<float>(2 * kCount, [this](size_t i) {
    return i % 3 == 0
               ? float(Random(801) - 400) * 0.25f
               : std::ldexp(float(Random(20001) - 10000), -Random(20) - 7);
  });
  uint32_t* out = Buffer<uint32_t>(8 * kCount);
  Go("narrow", Arguments().Add(in).Add(out).Add(2 * kCount), 13, 64);
  for (int i = 0; i < kCount; ++i) {
    const double x = double(in[2 * i]), y = double(in[2 * i + 1]);
    const auto pair = [&](int exponent, int mantissa, uint32_t codes,
                          double scale) {
      return Encode(x / scale, exponent, mantissa, codes) |
             Encode(y / scale, exponent, mantissa, codes)
                 << (1 + exponent + mantissa);
    };
    const uint32_t* o = out + 8 * i;
    ASSERT_EQ(o[0], pair(4, 3, 0x7f, 1) << 16 | 0x2222) << x << " " << y;
    ASSERT_EQ(o[1], pair(5, 2, 0x7c, 1) | 0x22220000) << x << " " << y;
    ASSERT_EQ(o[2], pair(2, 1, 8, 2) << 16 | 0x33003333) << x << " " << y;
    ASSERT_EQ(o[3], pair(4, 3, 0x7f, 0.5) << 16 | 0x4444) << x << " " << y;
    const auto truncated = [](double v) {
      const _Float16 h = static_cast<_Float16>(v);
      const uint16_t bits = Bits<uint16_t>(h);
      return std::fabs(double(h)) > std::fabs(v) ? bits - 1u : uint32_t{bits};
    };
    ASSERT_EQ(o[4], truncated(x) | truncated(y) << 16);
    ASSERT_EQ(o[5],
              Bits<uint16_t>(static_cast<_Float16>(x)) |
                  uint32_t{Bits<uint16_t>(static_cast<_Float16>(y))} << 16);
    const auto bf16 = [](float v) {
      const uint32_t bits = Bits<uint32_t>(v);
      return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    };
    ASSERT_EQ(o[6], bf16(in[2 * i]) | bf16(in[2 * i + 1]) << 16);
    ASSERT_EQ(o[7], (uint32_t(int(x)) & 0xff) | uint32_t(int(y)) << 16);
  }
}

TEST_P(Numbers, WideningConversions) {
  const uint32_t* in =
      Filled<uint32_t>(kCount, [this](size_t) { return random_(); });
  float* out = Buffer<float>(16 * kCount);
  Go("widen", Arguments().Add(in).Add(out).Add(int{kCount}), 13, 64);
  for (int i = 0; i < kCount; ++i) {
    const uint32_t x = in[i];
    const auto byte = [x](int n) { return x >> 8 * n & 255; };
    const auto fp8 = [](uint32_t code) {
      return (code & 0x7f) == 0x7f ? NAN : Decode(code, 4, 3);
    };
    const auto bf8 = [](uint32_t code) {
      const uint32_t m = code & 0x7f;
      if (m > 0x7c) return double(NAN);
      if (m == 0x7c) return code > 0x7f ? -double(INFINITY) : double(INFINITY);
      return Decode(code, 5, 2);
    };
    const double want[16] = {
        fp8(byte(0)),
        fp8(byte(3)),
        bf8(byte(1)),
        fp8(byte(2)),
        fp8(byte(3)),
        bf8(byte(0)),
        bf8(byte(1)),
        Decode(byte(1) & 15, 2, 1) * 4,
        Decode(byte(1) >> 4, 2, 1) * 4,
        fp8(byte(2)) * 0.25,
        double(Bits<_Float16>(static_cast<uint16_t>(x))),
        double(OfBf16(x >> 16)),
        double(byte(1)),
        double(static_cast<int16_t>(x)),
        double(static_cast<float>(static_cast<int32_t>(x))),
        double(static_cast<float>(x))};
    for (int n = 0; n < 16; ++n) {
      const double got = double(out[16 * i + n]);
      ASSERT_TRUE(got == want[n] || (std::isnan(got) && std::isnan(want[n])))
          << n << " of " << std::hex << x << ": " << got << " " << want[n];
    }
  }
}

TEST_P(Numbers, SixBitsThereAndBack) {
  const float* in = Filled<float>(
      64 * 32, [this](size_t) { return float(Random(1601) - 800) * 0.01f; });
  float* out = Buffer<float>(64 * 32);
  uint32_t* codes = Buffer<uint32_t>(64 * 6);
  Go("six_bits", Arguments().Add(in).Add(out).Add(codes), 1, 64);
  for (int i = 0; i < 64 * 32; ++i) {
    const uint32_t code = Encode(double(in[i]) / 2, 2, 3, 32);
    ASSERT_EQ(double(out[i]), Decode(code, 2, 3) * 2) << i << " " << in[i];
  }
}

INGOT_FOREIGN_VARIANTS(Numbers);

}  // namespace
}  // namespace ingot::emulator
