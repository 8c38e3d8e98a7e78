// The f8f6f4 matrix instructions: every pair of formats, with and without
// scales.
#include "tests/emulator/matrix_fixture.h"

namespace ingot::emulator {
namespace {

constexpr Type kNarrowFormats[] = {Type::kFp8, Type::kBf8, Type::kFp6,
                                   Type::kBf6, Type::kFp4};

class MatrixScales : public MatrixOperands {
 protected:
  static Shape NarrowShape(bool large, U a, U b) {
    return {large ? 0x2eu : 0x2du, large ? 32 : 16,  large ? 64 : 128, 1,
            kNarrowFormats[a],     kNarrowFormats[b]};
  }
  static Words Scaled(const Shape& s, const Registers& r, const Fields& f,
                      U scale_a, U scale_b, U byte_a, U byte_b) {
    Words words = {
        0xd3ac0000 | (byte_a & 1) << 11 | (byte_b & 1) << 12,
        scale_a | scale_b << 9 | byte_a >> 1 << 27 | byte_b >> 1 << 28};
    const Words rest = Mfma(s.op, r, {f.cbsz, 1, f.blgp});
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  }
  static double PowerOf(U byte) {
    return byte == 255 ? NAN : std::ldexp(1.0, static_cast<int>(byte) - 127);
  }
  using ScaleAt = std::function<double(int lane)>;
  void Check(const Shape& s, const Registers& r, const Words& words,
             const ScaleAt& a, const ScaleAt& b) {
    FillSum(s, r.c);
    FillCodes(r.a, 8, s.a, false);
    FillCodes(r.b, 8, s.b, false);
    RunAndCompare(s, words, r.d, [&](int block, int i, int j) {
      Sum sum;
      sum.Add(C(s, r.c, block, i, j));
      for (int k = 0; k < s.k; ++k) {
        const int at = k / 32 * s.dim;
        sum.Add(A(s, r, {}, block, i, k) * BAt(s, r, {}, block, j, k) *
                a(at + i) * b(at + j));
      }
      return sum;
    });
  }
};

TEST_F(MatrixScales, EveryPairOfFormats) {
  for (const bool large : {false, true}) {
    for (U a = 0; a < 5; ++a) {
      for (U b = 0; b < 5; ++b) {
        const Shape s = NarrowShape(large, a, b);
        for (const Registers& r : kChoices) {
          Poison();
          const auto one = [](int) { return 1.0; };
          Check(s, r, Mfma(s.op, r, {a, 0, b}), one, one);
          if (HasFatalFailure()) return;
        }
        // Scales of any size near 1, NaN here and there.
        for (U turn = 0; turn < 4; ++turn) {
          const U bytes = (4 * (5 * a + b) + turn) % 16;
          Poison();
          const Registers r = kChoices[(a + turn) % 5];
          constexpr U kScaleA = 90, kScaleB = 91;
          const U byte[] = {bytes & 3, bytes >> 2};
          for (U n = 0; n < 2; ++n) {
            for (U& word : w().v[kScaleA + n]) {
              const U e = random_() % 100 == 0 ? 255 : 117 + random_() % 20;
              word = (word & ~(0xffu << 8 * byte[n])) | e << 8 * byte[n];
            }
          }
          const auto at = [&](U n) {
            return [this, n, &byte](int lane) {
              return PowerOf(w().v[kScaleA + n][lane] >> 8 * byte[n] & 0xff);
            };
          };
          Check(
              s, r,
              Scaled(s, r, {a, 0, b}, V(kScaleA), V(kScaleB), byte[0], byte[1]),
              at(0), at(1));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// A float constant gives its exponent.
TEST_F(MatrixScales, ConstantScales) {
  const Shape s = NarrowShape(false, 0, 4);
  const Registers r = kChoices[1];
  for (const auto& [code, value] :
       {std::pair<U, double>{240, 0.5}, {242, 1}, {245, 2}, {246, 4}}) {
    Poison();
    for (U& word : w().v[251]) word = 0x80;  // 2
    const double constant = value;
    Check(
        s, r, Scaled(s, r, {0, 0, 4}, code, V(251), 0, 0),
        [&](int) { return constant; }, [](int) { return 2.0; });
    Check(
        s, r, Scaled(s, r, {0, 0, 4}, V(251), code, 0, 0),
        [](int) { return 2.0; }, [&](int) { return constant; });
  }
}

}  // namespace
}  // namespace ingot::emulator
