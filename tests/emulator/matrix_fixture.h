// Operands of matrix instructions by the published layouts, for tests: random
// inputs of every format, where elements lie, and a comparison of results.
#ifndef TESTS_EMULATOR_MATRIX_FIXTURE_H_
#define TESTS_EMULATOR_MATRIX_FIXTURE_H_

#include <functional>

#include "tests/emulator/single_instruction.h"
#include "tests/emulator/small_float.h"

namespace ingot::emulator {

using U = uint32_t;
using UL = uint64_t;

enum class Type { kF32, kF16, kBf16, kFp8, kBf8, kFp6, kBf6, kFp4, kI8 };

inline const SmallFloat& FormatOf(Type t) {
  static constexpr SmallFloat kF32{8, 23, 127, true, false};
  static constexpr const SmallFloat* kAll[] = {&kF32, &kF16, &kBf16, &kFp8,
                                               &kBf8, &kFp6, &kBf6,  &kFp4};
  return *kAll[static_cast<int>(t)];
}
inline int BitsOf(Type t) { return t == Type::kI8 ? 8 : FormatOf(t).bits(); }
inline double ValueOf(Type t, U code) {
  return t == Type::kI8 ? static_cast<int8_t>(code) : FormatOf(t).Value(code);
}

struct Shape {
  U op;
  int dim, k, blocks;
  Type a, b;
  int groups() const { return 64 / (dim * blocks); }
  int per_lane() const { return k / groups(); }
  int out() const { return dim * dim * blocks / 64; }
};

// Where operands are: VGPR numbers, 256 and more for accumulation registers.
struct Registers {
  U d, a, b, c;
};
struct Fields {
  U cbsz = 0, abid = 0, blgp = 0;
};

inline Words Mfma(U op, const Registers& r, const Fields& f,
                  bool sparse = false) {
  const U c = sparse ? r.c : r.c % 256;
  return {0xd3800000 | op << 16 | r.d / 256 << 15 | f.abid << 11 | f.cbsz << 8 |
              r.d % 256,
          V(r.a % 256) | V(r.b % 256) << 9 | V(c) << 18 | r.a / 256 << 27 |
              r.b / 256 << 28 | f.blgp << 29};
}

struct Sum {
  double value = 0, size = 0;  // size: of the terms without their signs
  void Add(double x) {
    value += x;
    size += std::fabs(x);
  }
};

class MatrixOperands : public SingleInstruction {
 protected:
  // Codes of a format: any finite ones, f32 and bf16 of a middling size; NaN
  // and infinity where `special` says so, about one in 500.
  U RandomCode(Type t, bool special) {
    for (;;) {
      U code = static_cast<U>(random_());
      const int bits = BitsOf(t);
      if (bits < 32) code &= (1u << bits) - 1;
      if (t == Type::kI8) return code;
      const U e = code >> FormatOf(t).mantissa & 0xff;
      if (std::isfinite(ValueOf(t, code))) {
        if ((t != Type::kF32 && t != Type::kBf16) || (e > 107 && e < 147))
          return code;
        if (e == 0) return code;  // a denormal
      } else if (special && random_() % 8 == 0) {
        return code;
      }
    }
  }
  void FillCodes(U reg, int regs, Type t, bool special) {
    const int bits = BitsOf(t);
    for (int l = 0; l < kLanes; ++l) {
      for (int at = 0; at + bits <= 32 * regs; at += bits) {
        const U code = RandomCode(t, special);
        for (int n = 0; n < bits; ++n) {
          U& word = w().v[reg + static_cast<U>((at + n) / 32)][l];
          const int to = (at + n) % 32;
          word = (word & ~(1u << to)) | (code >> n & 1) << to;
        }
      }
    }
  }
  double Element(U reg, int lane, int element, Type t) {
    U code = 0;
    const int bits = BitsOf(t);
    for (int n = 0; n < bits; ++n) {
      const int at = element * bits + n;
      code |= (w().v[reg + static_cast<U>(at / 32)][lane] >> at % 32 & 1) << n;
    }
    return ValueOf(t, code);
  }

  // Element (i, k) of A, or (j, k) of B, of a block.
  struct Spot {
    int lane, element;
  };
  static Spot InputSpot(const Shape& s, Type t, int block, int i, int k) {
    const int per_lane = s.per_lane(), piece = 128 / BitsOf(t);
    Spot spot{0, k % per_lane};
    int group = k / per_lane;
    if (BitsOf(t) >= 8 && per_lane > piece) {
      group = k / piece % s.groups();
      spot.element = k / piece / s.groups() * piece + k % piece;
    }
    spot.lane = (group * s.blocks + block) * s.dim + i;
    return spot;
  }
  static Spot OutputSpot(const Shape& s, int block, int i, int j) {
    const int mn = s.dim * s.dim, r = 64 / s.dim;
    const int q = mn / 4 < 64 ? 64 / (mn / 4) : 1;
    const int side = r / q;
    return {block % q * s.dim + i / 4 % side * q * s.dim + j,
            block / q * (mn * q / 64) + i / (4 * side) * 4 + i % 4};
  }
  // Lanes of B after BLGP.
  static int Patterned(int lane, U blgp) {
    if (blgp == 1) return lane % 32;
    if (blgp == 2) return 32 + lane % 32;
    if (blgp == 3) return (lane + 16) % 64;
    if (blgp >= 4) return static_cast<int>(blgp - 4) * 16 + lane % 16;
    return lane;
  }
  double A(const Shape& s, const Registers& r, const Fields& f, int block,
           int i, int k) {
    // Of each 2^CBSZ blocks all take what one of them has.
    const int cast = 1 << f.cbsz;
    if (f.cbsz != 0) block = block / cast * cast + static_cast<int>(f.abid);
    const Spot spot = InputSpot(s, s.a, block, i, k);
    return Element(r.a, spot.lane, spot.element, s.a);
  }
  double BAt(const Shape& s, const Registers& r, const Fields& f, int block,
             int j, int k) {
    const Spot spot = InputSpot(s, s.b, block, j, k);
    return Element(r.b, Patterned(spot.lane, f.blgp), spot.element, s.b);
  }
  double C(const Shape& s, U reg, int block, int i, int j) {
    const Spot spot = OutputSpot(s, block, i, j);
    const U word = w().v[reg + static_cast<U>(spot.element)][spot.lane];
    return s.a == Type::kI8 ? static_cast<double>(static_cast<int32_t>(word))
                            : static_cast<double>(FloatFrom(word));
  }

  void FillSum(const Shape& s, U reg) {
    for (int n = 0; n < s.out(); ++n) {
      for (U& word : w().v[reg + static_cast<U>(n)]) {
        const int v = static_cast<int>(random_() % 20001) - 10000;
        word = s.a == Type::kI8 ? static_cast<U>(random_())
                                : BitsFrom(static_cast<float>(v) * 0.125f);
      }
    }
  }

  using Want = std::function<Sum(int block, int i, int j)>;
  void RunAndCompare(const Shape& s, const Words& words, U d,
                     const Want& want) {
    std::vector<Sum> sums;
    ForAll(s, [&](int b, int i, int j) { sums.push_back(want(b, i, j)); });
    ASSERT_TRUE(Run(words)) << std::hex << s.op;
    size_t n = 0;
    ForAll(s, [&](int b, int i, int j) {
      const Sum& sum = sums[n++];
      const double got = C(s, d, b, i, j);
      if (s.a == Type::kI8) {
        const U wrapped = static_cast<U>(static_cast<int64_t>(sum.value));
        ASSERT_EQ(static_cast<int32_t>(got), static_cast<int32_t>(wrapped))
            << Text();
      } else if (std::isnan(sum.value)) {
        ASSERT_TRUE(std::isnan(got)) << Text() << ' ' << i << ' ' << j;
      } else if (std::isinf(sum.value)) {
        ASSERT_EQ(got, sum.value) << Text();
      } else {
        ASSERT_NEAR(got, sum.value, sum.size * 0x1p-18)
            << Text() << " block " << b << " row " << i << " column " << j;
      }
    });
  }
  static void ForAll(const Shape& s,
                     const std::function<void(int, int, int)>& f) {
    for (int b = 0; b < s.blocks; ++b) {
      for (int i = 0; i < s.dim; ++i) {
        for (int j = 0; j < s.dim; ++j) f(b, i, j);
      }
    }
  }

  void CheckDense(const Shape& s, const Registers& r, const Fields& f,
                  bool special) {
    Poison();
    FillSum(s, r.c);
    FillCodes(r.a, 8, s.a, special);
    FillCodes(r.b, 8, s.b, special);
    RunAndCompare(s, Mfma(s.op, r, f), r.d, [&](int b, int i, int j) {
      Sum sum;
      sum.Add(C(s, r.c, b, i, j));
      for (int k = 0; k < s.k; ++k)
        sum.Add(A(s, r, f, b, i, k) * BAt(s, r, f, b, j, k));
      return sum;
    });
  }

  // C and D are both VGPRs or both accumulation registers.
  static constexpr Registers kChoices[] = {{0, 40, 48, 64},
                                           {130, 200, 210, 160},
                                           {256 + 130, 200, 256 + 4, 256 + 220},
                                           {256, 256 + 64, 100, 256},
                                           {200, 240, 248, 200}};
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_MATRIX_FIXTURE_H_
