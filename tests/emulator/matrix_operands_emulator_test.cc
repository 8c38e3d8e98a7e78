// Matrix instructions one by one: every code of the inputs' formats, registers
// of all kinds, broadcasts, negation, NaNs and infinities. Sums may differ from
// the expected ones in their last bits.
#include "tests/emulator/matrix_fixture.h"

namespace ingot::emulator {
namespace {

constexpr Type S = Type::kF32, H = Type::kF16, B = Type::kBf16, F = Type::kFp8,
               E = Type::kBf8, I = Type::kI8;
constexpr Shape kDense[] = {
    {0x35, 16, 32, 1, B, B}, {0x36, 16, 64, 1, I, I}, {0x37, 32, 16, 1, B, B},
    {0x38, 32, 32, 1, I, I}, {0x40, 32, 1, 2, S, S},  {0x41, 16, 1, 4, S, S},
    {0x42, 4, 1, 16, S, S},  {0x44, 32, 2, 1, S, S},  {0x45, 16, 4, 1, S, S},
    {0x48, 32, 4, 2, H, H},  {0x49, 16, 4, 4, H, H},  {0x4a, 4, 4, 16, H, H},
    {0x4c, 32, 8, 1, H, H},  {0x4d, 16, 16, 1, H, H}, {0x50, 32, 4, 2, I, I},
    {0x51, 16, 4, 4, I, I},  {0x52, 4, 4, 16, I, I},  {0x54, 16, 32, 1, H, H},
    {0x55, 32, 16, 1, H, H}, {0x56, 32, 16, 1, I, I}, {0x57, 16, 32, 1, I, I},
    {0x5d, 32, 4, 2, B, B},  {0x5e, 16, 4, 4, B, B},  {0x5f, 4, 4, 16, B, B},
    {0x60, 32, 8, 1, B, B},  {0x61, 16, 16, 1, B, B}, {0x70, 16, 32, 1, E, E},
    {0x71, 16, 32, 1, E, F}, {0x72, 16, 32, 1, F, E}, {0x73, 16, 32, 1, F, F},
    {0x74, 32, 16, 1, E, E}, {0x75, 32, 16, 1, E, F}, {0x76, 32, 16, 1, F, E},
    {0x77, 32, 16, 1, F, F}};
constexpr Shape kSparse[] = {{0x39, 16, 64, 1, B, B},  {0x3a, 16, 128, 1, I, I},
                             {0x3b, 16, 128, 1, E, E}, {0x3c, 16, 128, 1, E, F},
                             {0x3d, 16, 128, 1, F, E}, {0x43, 16, 128, 1, F, F},
                             {0x46, 32, 32, 1, B, B},  {0x47, 32, 64, 1, I, I},
                             {0x4b, 32, 64, 1, E, E},  {0x4e, 32, 64, 1, E, F},
                             {0x4f, 32, 64, 1, F, E},  {0x53, 32, 64, 1, F, F},
                             {0x5a, 16, 64, 1, H, H},  {0x5b, 32, 32, 1, H, H},
                             {0x62, 16, 32, 1, H, H},  {0x64, 32, 16, 1, H, H},
                             {0x66, 16, 32, 1, B, B},  {0x68, 32, 16, 1, B, B},
                             {0x6a, 16, 64, 1, I, I},  {0x6c, 32, 32, 1, I, I},
                             {0x78, 16, 64, 1, E, E},  {0x79, 16, 64, 1, E, F},
                             {0x7a, 16, 64, 1, F, E},  {0x7b, 16, 64, 1, F, F},
                             {0x7c, 32, 32, 1, E, E},  {0x7d, 32, 32, 1, E, F},
                             {0x7e, 32, 32, 1, F, E},  {0x7f, 32, 32, 1, F, F}};

TEST_F(MatrixOperands, EveryCodeInEveryRegister) {
  for (const Shape& s : kDense) {
    for (const Registers& r : kChoices) {
      CheckDense(s, r, {}, false);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(MatrixOperands, Broadcasts) {
  for (const Shape& s : kDense) {
    for (U cbsz = 0; 1 << cbsz <= s.blocks; ++cbsz) {
      for (U abid = 0; abid < 1u << cbsz; ++abid) {
        CheckDense(s, kChoices[1], {cbsz, abid, 0}, false);
      }
    }
    for (U blgp = 1; blgp < 8; ++blgp)
      CheckDense(s, kChoices[0], {0, 0, blgp}, false);
    if (HasFatalFailure()) return;
  }
}

// A NaN or an infinity stays in its row and column. MODE, with all denormals
// off, rounding up and FP16_OVFL, changes nothing for 16 bits and fewer.
TEST_F(MatrixOperands, NansAndInfinities) {
  for (const Shape& s : kDense) {
    for (int round = 0; round < 4; ++round) {
      if (s.a != Type::kF32)
        w().SetMode((kDefaultMode & ~0xf0u) | 1u << 23 | 5);
      CheckDense(s, kChoices[1], {}, true);
      if (HasFatalFailure()) return;
    }
  }
}

// EXEC does not matter, and the results overlap the inputs.
TEST_F(MatrixOperands, OverlapsAndLanesThatAreOff) {
  SetExec(0x5555);
  for (const Shape& s : kDense) {
    CheckDense(s, {132, 130, 140, 160}, {}, false);
    if (HasFatalFailure()) return;
  }
}

// Denormal products survive in their sum, and denormal sums too.
TEST_F(MatrixOperands, DenormalResults) {
  w().SetMode(kDefaultMode & ~0xf0u);
  const Shape s{0x61, 16, 16, 1, B, B};
  const Registers r = kChoices[0];
  for (int n = 0; n < 8; ++n) {
    for (int l = 0; l < kLanes; ++l) {
      w().v[r.a + static_cast<U>(n)][l] = 0x20002000;  // 2^-63
      w().v[r.b + static_cast<U>(n)][l] = 0x1d801d80;  // 2^-68
      w().v[r.c + static_cast<U>(n)][l] = 3;
    }
  }
  ASSERT_TRUE(Run(Mfma(s.op, r, {})));
  // 16 products of 2^-131 are 2^-127, that is 2^22 of the smallest denormals.
  for (int l = 0; l < kLanes; ++l) EXPECT_EQ(w().v[r.d][l], (1u << 22) + 3);
}

TEST_F(MatrixOperands, SumsOfConstants) {
  const Shape s{0x4d, 16, 16, 1, H, H};
  Registers r = kChoices[0];
  for (const auto& [code, value] :
       {std::pair<U, double>{128, 0.0}, {242, 1.0}, {247, -4.0}}) {
    Poison();
    FillCodes(r.a, 8, s.a, false);
    FillCodes(r.b, 8, s.b, false);
    Words words = Mfma(s.op, r, {});
    words[1] = (words[1] & ~(0x1ffu << 18)) | code << 18;
    RunAndCompare(s, words, r.d, [&](int b, int i, int j) {
      Sum sum;
      sum.Add(value);
      for (int k = 0; k < s.k; ++k)
        sum.Add(A(s, r, {}, b, i, k) * BAt(s, r, {}, b, j, k));
      return sum;
    });
  }
}

// Lane group g holds k from g K / groups on: of each four two, the pair of
// index bits says which. CBSZ 0: ABID says which part of the index register.
TEST_F(MatrixOperands, SparseProducts) {
  const Registers r{130, 200, 210, 230};
  for (const Shape& s : kSparse) {
    const int kept = s.per_lane() / 2;
    for (U abid = 0; abid < 32u / (2 * static_cast<U>(kept)); ++abid) {
      for (const U cbsz : {0u, 1u}) {
        Poison();
        FillSum(s, r.d);
        FillCodes(r.a, 4, s.a, false);
        FillCodes(r.b, 8, s.b, false);
        const int from = cbsz != 0 ? 0 : static_cast<int>(abid) * 2 * kept;
        RunAndCompare(
            s, Mfma(s.op, r, {cbsz, abid, 0}, true), r.d,
            [&](int b, int i, int j) {
              Sum sum;
              sum.Add(C(s, r.d, b, i, j));
              for (int g = 0; g < s.groups(); ++g) {
                const int lane = g * s.dim + i;
                for (int e = 0; e < kept; ++e) {
                  const U pick = w().v[r.c][lane] >> (from + 2 * e) & 3;
                  const int k =
                      g * s.per_lane() + e / 2 * 4 + static_cast<int>(pick);
                  sum.Add(Element(r.a, lane, e, s.a) * BAt(s, r, {}, b, j, k));
                }
              }
              return sum;
            });
        if (HasFatalFailure()) return;
      }
    }
  }
}

UL DoubleBits(double d) {
  UL bits;
  std::memcpy(&bits, &d, 8);
  return bits;
}

// BLGP negates A, B and C.
TEST_F(MatrixOperands, Doubles) {
  const auto get = [&](U reg, int lane) {
    const UL bits = w().v[reg][lane] | UL{w().v[reg + 1][lane]} << 32;
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  };
  for (const int dim : {16, 4}) {
    const int blocks = dim == 16 ? 1 : 4, regs = dim == 16 ? 4 : 1;
    for (U neg = 0; neg < 8; ++neg) {
      for (const Registers& r : kChoices) {
        Poison();
        for (const U reg : {r.a, r.b, r.c, r.c + 2, r.c + 4, r.c + 6}) {
          for (int l = 0; l < kLanes; ++l) {
            const UL bits =
                DoubleBits((static_cast<int>(random_() % 2001) - 1000) * 0.25);
            w().v[reg][l] = static_cast<U>(bits);
            w().v[reg + 1][l] = static_cast<U>(bits >> 32);
          }
        }
        const auto sign = [&](U n) { return (neg >> n & 1) != 0 ? -1.0 : 1.0; };
        // {register pair, lane} of row i, column j.
        const auto out = [&](int b, int i, int j) {
          return dim == 16 ? std::pair<U, int>(i / 4 * 2, i % 4 * 16 + j)
                           : std::pair<U, int>(0, i * 16 + b * 4 + j);
        };
        std::vector<double> want;
        for (int b = 0; b < blocks; ++b) {
          for (int i = 0; i < dim; ++i) {
            for (int j = 0; j < dim; ++j) {
              const auto [pair, lane] = out(b, i, j);
              double sum = sign(2) * get(r.c + pair, lane);
              for (int k = 0; k < 4; ++k) {
                const int at = (k * blocks + b) * dim;
                sum += sign(0) * get(r.a, at + i) * sign(1) * get(r.b, at + j);
              }
              want.push_back(sum);
            }
          }
        }
        ASSERT_EQ(static_cast<size_t>(regs * kLanes), want.size());
        ASSERT_TRUE(Run(Mfma(dim == 16 ? 0x6e : 0x6f, r, {0, 0, neg})));
        size_t n = 0;
        for (int b = 0; b < blocks; ++b) {
          for (int i = 0; i < dim; ++i) {
            for (int j = 0; j < dim; ++j) {
              const auto [pair, lane] = out(b, i, j);
              ASSERT_EQ(get(r.d + pair, lane), want[n++])
                  << Text() << ' ' << b << ' ' << i << ' ' << j;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ingot::emulator
