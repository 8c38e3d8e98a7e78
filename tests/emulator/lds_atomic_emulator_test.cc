// LDS atomics: integers, exchanges, floats with their NaN, zero and rounding
// rules, packed sums.
#include <cmath>
#include <functional>
#include <limits>

#include "tests/emulator/lds_fixture.h"

namespace ingot::emulator {
namespace {

struct Integer {
  const char* name;
  U op;  // that of 32 bits without a result; 0x20 and 0x40 on: the others
  std::function<UL(UL old, UL data, UL data1, int bits)> f;
};
int64_t Signed(UL v, int bits) {
  return bits == 64 ? static_cast<int64_t>(v) : static_cast<int32_t>(v);
}
const Integer kIntegers[] = {
    {"add", 0x00, [](UL m, UL d, UL, int) { return m + d; }},
    {"sub", 0x01, [](UL m, UL d, UL, int) { return m - d; }},
    {"rsub", 0x02, [](UL m, UL d, UL, int) { return d - m; }},
    {"inc", 0x03, [](UL m, UL d, UL, int) { return m >= d ? 0 : m + 1; }},
    {"dec", 0x04,
     [](UL m, UL d, UL, int) { return m == 0 || m > d ? d : m - 1; }},
    {"min_i", 0x05,
     [](UL m, UL d, UL, int b) { return Signed(d, b) < Signed(m, b) ? d : m; }},
    {"max_i", 0x06,
     [](UL m, UL d, UL, int b) { return Signed(d, b) > Signed(m, b) ? d : m; }},
    {"min_u", 0x07, [](UL m, UL d, UL, int) { return std::min(m, d); }},
    {"max_u", 0x08, [](UL m, UL d, UL, int) { return std::max(m, d); }},
    {"and", 0x09, [](UL m, UL d, UL, int) { return m & d; }},
    {"or", 0x0a, [](UL m, UL d, UL, int) { return m | d; }},
    {"xor", 0x0b, [](UL m, UL d, UL, int) { return m ^ d; }},
    {"mskor", 0x0c, [](UL m, UL d, UL e, int) { return (m & ~d) | e; }},
    {"cmpst", 0x10, [](UL m, UL d, UL e, int) { return m == d ? e : m; }},
};

class LdsAtomics : public Lds {
 protected:
  // Runs an atomic on a place for each lane, and compares memory and result.
  void Check(U op, bool returns, U bytes, U offset,
             const std::function<UL(UL, UL, UL)>& f) {
    std::vector<UL> want;
    for (int l = 0; l < kLanes; ++l) {
      const U at = w().v[kAddress][l] + offset;
      const UL old = Model(at, bytes);
      want.push_back(returns && On(l) ? old : Register(kD, l, bytes / 4));
      if (On(l)) {
        SetModel(at,
                 f(old, Register(kData, l, bytes / 4),
                   Register(kData1, l, bytes / 4)),
                 bytes);
      }
    }
    ASSERT_TRUE(Run(Ds(op, kD, kAddress, kData, kData1, offset))) << op;
    for (int l = 0; l < kLanes; ++l) {
      const U at = w().v[kAddress][l] + offset;
      UL got = 0;
      std::memcpy(&got, &lds_[at], bytes);
      ASSERT_EQ(got, Model(at, bytes)) << Text() << " lane " << l;
      ASSERT_EQ(Register(kD, l, bytes / 4), want[static_cast<size_t>(l)])
          << Text() << " lane " << l;
    }
    ASSERT_EQ(lds_, model_) << Text();
  }
};

TEST_F(LdsAtomics, Integers) {
  for (const Integer& k : kIntegers) {
    for (const U wide : {0u, 1u}) {
      for (const bool returns : {false, true}) {
        for (const UL exec : {~UL{0}, kSomeLanes}) {
          Fill();
          SetExec(exec);
          const U bytes = wide != 0 ? 8 : 4;
          ScatterAddresses(bytes);
          // Equal values, zeros and neighbours occur.
          for (int l = 0; l < kLanes; ++l) {
            const UL m = Model(w().v[kAddress][l] + 0x800, bytes);
            if (l % 4 == 1) SetRegister(kData, l, m);
            if (l % 4 == 2) SetRegister(kData, l, m + (l % 8 == 2 ? 1 : -1));
            if (l % 4 == 3) {
              SetModel(w().v[kAddress][l] + 0x800, 0, bytes);
              lds_ = model_;
            }
          }
          const UL mask = wide != 0 ? ~UL{0} : 0xffffffff;
          Check(k.op + 0x40 * wide + 0x20 * returns, returns, bytes, 0x800,
                [&](UL m, UL d, UL e) {
                  return k.f(m, d, e, wide != 0 ? 64 : 32) & mask;
                });
          if (HasFatalFailure()) FAIL() << k.name;
        }
      }
    }
  }
}

TEST_F(LdsAtomics, Exchanges) {
  for (const UL exec : {~UL{0}, kSomeLanes}) {
    const auto fresh = [&](U bytes) {
      Fill();
      SetExec(exec);
      ScatterAddresses(bytes);
    };
    fresh(4);
    Check(0x2d, true, 4, 4, [](UL, UL d, UL) { return d; });
    fresh(8);
    Check(0x6d, true, 8, 8, [](UL, UL d, UL) { return d; });
    fresh(4);
    Check(0x34, true, 4, 4, [](UL m, UL d, UL e) {
      return (m >= d ? m - d : m + e) & 0xffffffff;
    });
    // Each half is replaced where bit 31 of its data is set.
    fresh(8);
    Check(0x7e, true, 8, 8, [](UL m, UL d, UL) {
      UL r = 0;
      for (int n = 0; n < 64; n += 32) {
        const UL half = d >> n & 0xffffffff;
        r |= (half >> 31 != 0 ? half - 0x80000000 : m >> n & 0xffffffff) << n;
      }
      return r;
    });
  }
}

// All lanes on one place: the sum of them, and each old value once.
TEST_F(LdsAtomics, LanesMeet) {
  Fill();
  SetModel(0x40, 1000, 4);
  lds_ = model_;
  for (int l = 0; l < kLanes; ++l) {
    w().v[kAddress][l] = 0;
    w().v[kData][l] = 1;
  }
  ASSERT_TRUE(Run(Ds(0x20, kD, kAddress, kData, 0, 0x40)));
  std::vector<U> old(w().v[kD], w().v[kD] + kLanes);
  std::sort(old.begin(), old.end());
  for (U l = 0; l < kLanes; ++l) EXPECT_EQ(old[l], 1000 + l);
  std::memcpy(old.data(), &lds_[0x40], 4);
  EXPECT_EQ(old[0], 1064u);
}

TEST_F(LdsAtomics, MisalignedAtomicsFault) {
  for (int l = 0; l < kLanes; ++l) w().v[kAddress][l] = 4;
  EXPECT_FALSE(Run(Ds(0x40, 0, kAddress, kData, 0, 0)));
  EXPECT_EQ(w().fault.kind, FaultKind::kMisalignedAtomic);
}

// ---- Float atomics ----

template <class T>
UL FloatBits(T v) {
  UL bits = 0;
  std::memcpy(&bits, &v, sizeof(T));
  return bits;
}
template <class T>
T FloatOfBits(UL bits) {
  T v;
  std::memcpy(&v, &bits, sizeof(T));
  return v;
}

template <class T>
std::vector<UL> Specials() {
  using L = std::numeric_limits<T>;
  std::vector<UL> all;
  for (const T v : {T{0}, T{1}, T{1.5}, T{1e30}, L::denorm_min(), L::min() / 2,
                    L::min(), L::max(), L::infinity(), L::quiet_NaN()}) {
    all.push_back(FloatBits(v));
    all.push_back(FloatBits(-v));
  }
  return all;
}

class LdsFloats : public LdsAtomics {
 protected:
  // Every pair of special values; NaNs are compared as such.
  template <class T>
  void CheckPairs(U op, bool returns, const std::function<T(T, T)>& f) {
    const std::vector<UL> values = Specials<T>();
    const size_t count = values.size();
    for (size_t first = 0; first < count * count; first += kLanes) {
      Fill();
      ScatterAddresses(sizeof(T));
      for (size_t l = 0; l < kLanes; ++l) {
        const size_t pair = (first + l) % (count * count);
        SetModel(w().v[kAddress][l], values[pair / count], sizeof(T));
        SetRegister(kData, static_cast<int>(l), values[pair % count]);
      }
      lds_ = model_;
      ASSERT_TRUE(Run(Ds(op, kD, kAddress, kData))) << op;
      for (int l = 0; l < kLanes; ++l) {
        const UL old = Model(w().v[kAddress][l], sizeof(T));
        UL got = 0;
        std::memcpy(&got, &lds_[w().v[kAddress][l]], sizeof(T));
        const UL data = Register(kData, l, sizeof(T) / 4) &
                        (sizeof(T) == 8 ? ~UL{0} : 0xffffffff);
        const T want = f(FloatOfBits<T>(old), FloatOfBits<T>(data));
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(FloatOfBits<T>(got))) << Text();
        } else {
          ASSERT_EQ(got, FloatBits(want))
              << Text() << std::hex << ' ' << old << ' ' << data;
        }
        if (returns) {
          ASSERT_EQ(Register(kD, l, sizeof(T) / 4), old);
        }
      }
    }
  }
  template <class T>
  static T Least(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
  template <class T>
  static T Greatest(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? Least(a, b) : -Least(-a, -b);
  }
  template <class T>
  void CheckAll(U wide) {
    for (const bool returns : {false, true}) {
      const U more = 0x20 * returns + wide;
      CheckPairs<T>(0x12 + more, returns, Least<T>);
      CheckPairs<T>(0x13 + more, returns, Greatest<T>);
      CheckPairs<T>((wide != 0 ? 0x1c : 0x15) + more, returns,
                    [](T a, T b) { return a + b; });
    }
  }
};

TEST_F(LdsFloats, AddMinMax) {
  CheckAll<float>(0);
  CheckAll<double>(0x40);
}

// Those of f32 follow MODE's denormal field, others keep denormals.
TEST_F(LdsFloats, Denormals) {
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode((kDefaultMode & ~0xf0u) | mode << 4 | (mode ^ 3) << 6);
    const auto flush = [](float x, bool keep) {
      return keep || std::fpclassify(x) != FP_SUBNORMAL
                 ? x
                 : std::copysign(0.0f, x);
    };
    const auto with_mode = [&](const std::function<float(float, float)>& f) {
      return [&, f](float a, float b) {
        const bool in = (mode & 1) != 0, out = (mode & 2) != 0;
        return flush(f(flush(a, in), flush(b, in)), out);
      };
    };
    CheckPairs<float>(0x35, true,
                      with_mode([](float a, float b) { return a + b; }));
    CheckPairs<float>(0x12, false, with_mode(Least<float>));
    CheckPairs<float>(0x33, true, with_mode(Greatest<float>));
    CheckPairs<double>(0x5c, false, [](double a, double b) { return a + b; });
  }
}

// To the nearest, whatever MODE says.
TEST_F(LdsFloats, AddsRoundToNearest) {
  for (U mode = 0; mode < 4; ++mode) {
    w().SetMode(kDefaultMode | mode | mode << 2);
    CheckPairs<float>(0x15, false, [](float a, float b) { return a + b; });
    CheckPairs<double>(0x5c, false, [](double a, double b) { return a + b; });
  }
}

// As numbers: zeros are equal whatever their sign, a NaN equals nothing.
TEST_F(LdsFloats, CompareAndStore) {
  const auto check = [&]<class T>(U op, T) {
    for (const UL a : Specials<T>()) {
      for (const UL b : Specials<T>()) {
        Fill();
        ScatterAddresses(sizeof(T));
        for (int l = 0; l < kLanes; ++l) {
          SetModel(w().v[kAddress][l], a, sizeof(T));
          SetRegister(kData, l, b);
        }
        lds_ = model_;
        const bool equal = FloatOfBits<T>(a) == FloatOfBits<T>(b);
        Check(op, (op & 0x20) != 0, sizeof(T), 0,
              [&](UL m, UL, UL e) { return equal ? e : m; });
        if (HasFatalFailure()) return;
      }
    }
  };
  for (const U op : {0x11u, 0x31u}) {
    check(op, 0.0f);
    check(op + 0x40, 0.0);
  }
}

// Values that both formats hold, and whose sums they hold as well.
TEST_F(LdsFloats, PackedAdds) {
  for (const bool bf16 : {false, true}) {
    const auto code = [&](double v) {
      const U bits = BitsFrom(static_cast<float>(v));
      if (bf16) return bits >> 16;
      // Normal and short: move the exponent's bias from 127 to 15.
      const U rest = (bits & 0x7fffffff) >> 13;
      return v == 0 ? 0 : (bits >> 31) << 15 | (rest - (112u << 10));
    };
    for (const bool returns : {false, true}) {
      Fill();
      ScatterAddresses(4);
      std::vector<U> want;
      for (int l = 0; l < kLanes; ++l) {
        U old = 0, data = 0, sum = 0;
        for (int n = 0; n < 32; n += 16) {
          const double x = static_cast<int>(random_() % 63) - 31;
          const double y = (static_cast<int>(random_() % 63) - 31) + 0.5;
          old |= code(x) << n;
          data |= code(y) << n;
          sum |= code(x + y) << n;
        }
        SetModel(w().v[kAddress][l], old, 4);
        w().v[kData][l] = data;
        want.push_back(sum);
      }
      lds_ = model_;
      size_t next = 0;
      Check((bf16 ? 0x18u : 0x17u) + (returns ? 0xa0 : 0), returns, 4, 0,
            [&](UL, UL, UL) { return want[next++]; });
    }
  }
}

}  // namespace
}  // namespace ingot::emulator
