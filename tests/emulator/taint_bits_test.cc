// Against the definition, for every value and every set of undefined bits of
// four-bit numbers: no completion of the sources may change a bit that is
// called defined, and a defined bit has the value of this run.
#include "tests/emulator/taint_bits.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace ingot::emulator::taint {
namespace {

constexpr int kWidth = 4;
constexpr uint64_t kAll = 15;

// Every number that agrees with `a` in its defined bits.
std::vector<uint64_t> Completions(Bits a) {
  std::vector<uint64_t> all;
  for (uint64_t n = 0; n <= kAll; ++n) {
    if (((n ^ a.value) & ~a.undef) == 0) all.push_back(n);
  }
  return all;
}

struct Verdict {
  int unsound = 0;   // a bit called defined that changes
  int wrong = 0;     // a value that is not this run's
  int needless = 0;  // bits called undefined that no completion changes
  int results = 0;
};

using Two = std::function<Bits(Bits, Bits)>;
using Plain = std::function<uint64_t(uint64_t, uint64_t)>;

void Judge(const Two& rule, const Plain& plain, Bits a, Bits b, Verdict* v) {
  const Bits said = rule(a, b);
  const uint64_t here = plain(a.value, b.value);
  uint64_t changes = 0;
  for (const uint64_t x : Completions(a)) {
    for (const uint64_t y : Completions(b)) changes |= plain(x, y) ^ here;
  }
  ++v->results;
  v->unsound += (changes & ~said.undef) != 0;
  v->wrong += ((said.value ^ here) & ~said.undef) != 0;
  v->needless += (said.undef & ~changes) != 0;
}

Verdict JudgeAll(const Two& rule, const Plain& plain, uint64_t step) {
  Verdict v;
  for (uint64_t n = 0; n < 65536; n += step) {
    Judge(rule, plain, {n & 15, n >> 4 & 15}, {n >> 8 & 15, n >> 12}, &v);
  }
  return v;
}

void ExpectExact(const Two& rule, const Plain& plain, uint64_t step = 1) {
  const Verdict v = JudgeAll(rule, plain, step);
  EXPECT_EQ(v.unsound, 0);
  EXPECT_EQ(v.wrong, 0);
  EXPECT_EQ(v.needless, 0);
  EXPECT_GT(v.results, 600);
}
void ExpectSound(const Two& rule, const Plain& plain) {
  const Verdict v = JudgeAll(rule, plain, 1);
  EXPECT_EQ(v.unsound, 0);
  EXPECT_EQ(v.wrong, 0);
  EXPECT_LT(v.needless, v.results * 2 / 3);
}

int64_t Signed(uint64_t x) {
  return x >= 8 ? static_cast<int64_t>(x) - 16 : static_cast<int64_t>(x);
}

TEST(TaintBits, SumsAndDifferences) {
  ExpectExact([](Bits a, Bits b) { return Add(a, b, kWidth); },
              [](uint64_t a, uint64_t b) { return (a + b) & kAll; });
  ExpectExact([](Bits a, Bits b) { return Subtract(a, b, kWidth); },
              [](uint64_t a, uint64_t b) { return (a - b) & kAll; });
}

TEST(TaintBits, ProductsGrowUpwards) {
  ExpectSound([](Bits a, Bits b) { return Multiply(a, b, kWidth); },
              [](uint64_t a, uint64_t b) { return (a * b) & kAll; });
  ExpectSound([](Bits a, Bits b) { return Multiply(a, b, 2 * kWidth); },
              [](uint64_t a, uint64_t b) { return a * b; });
}

TEST(TaintBits, EveryTruthTable) {
  for (uint32_t table = 0; table < 256; ++table) {
    ExpectExact(
        [table](Bits a, Bits b) { return Logic(table, a, b, {3, 0}, kWidth); },
        [table](uint64_t a, uint64_t b) {
          uint64_t r = 0;
          for (int n = 0; n < kWidth; ++n) {
            const uint64_t row =
                (a >> n & 1) * 4 + (b >> n & 1) * 2 + (n < 2 ? 1 : 0);
            r |= (table >> row & 1) << n;
          }
          return r;
        },
        97);
  }
}

TEST(TaintBits, Shifts) {
  const auto by = [](Bits b) { return Low(b, 2); };
  ExpectSound([&](Bits a, Bits b) { return ShiftLeft(a, by(b), kWidth); },
              [](uint64_t a, uint64_t b) { return a << (b & 3) & kAll; });
  ExpectSound([&](Bits a, Bits b) { return ShiftRight(a, by(b), kWidth); },
              [](uint64_t a, uint64_t b) { return a >> (b & 3); });
  ExpectSound(
      [&](Bits a, Bits b) { return ShiftRightSigned(a, by(b), kWidth); },
      [](uint64_t a, uint64_t b) {
        return static_cast<uint64_t>(Signed(a) >> (b & 3)) & kAll;
      });
}

TEST(TaintBits, Comparisons) {
  ExpectExact([](Bits a, Bits b) { return Equal(a, b); },
              [](uint64_t a, uint64_t b) { return uint64_t{a == b}; });
  ExpectExact([](Bits a, Bits b) { return Less(a, b); },
              [](uint64_t a, uint64_t b) { return uint64_t{a < b}; });
  ExpectExact([](Bits a, Bits b) { return LessOrEqual(a, b); },
              [](uint64_t a, uint64_t b) { return uint64_t{a <= b}; });
  ExpectExact(
      [](Bits a, Bits b) {
        return Less(Biased(a, kWidth, true), Biased(b, kWidth, true));
      },
      [](uint64_t a, uint64_t b) { return uint64_t{Signed(a) < Signed(b)}; });
  ExpectExact([](Bits a, Bits) { return NotZero(a); },
              [](uint64_t a, uint64_t) { return uint64_t{a != 0}; });
}

TEST(TaintBits, Choices) {
  ExpectSound([](Bits a, Bits b) { return Minimum(a, b, kWidth, false); },
              [](uint64_t a, uint64_t b) { return a < b ? a : b; });
  ExpectSound(
      [](Bits a, Bits b) { return Maximum(a, b, kWidth, true); },
      [](uint64_t a, uint64_t b) { return Signed(a) > Signed(b) ? a : b; });
  for (const uint64_t condition : {0, 1}) {
    ExpectExact([&](Bits a, Bits b) { return Select(Known(condition), a, b); },
                [&](uint64_t a, uint64_t b) { return condition != 0 ? a : b; });
  }
  // The condition may be either, the sources agree in bit 2.
  const Bits r = Select({1, 1}, {6, 0}, {5, 0});
  EXPECT_EQ(r.undef, 3u);
}

TEST(TaintBits, BitsFoundAndCounted) {
  ExpectSound([](Bits a, Bits) { return Count(a); },
              [](uint64_t a, uint64_t) {
                return static_cast<uint64_t>(__builtin_popcountll(a));
              });
  ExpectSound([](Bits a, Bits) { return LowestOne(a, 32); },
              [](uint64_t a, uint64_t) {
                return a == 0 ? 0xffffffffu
                              : static_cast<uint64_t>(__builtin_ctzll(a));
              });
  ExpectSound([](Bits a, Bits) { return LeadingZeros(a, kWidth, 32); },
              [](uint64_t a, uint64_t) {
                return a == 0 ? 0xffffffffu
                              : static_cast<uint64_t>(__builtin_clzll(a) - 60);
              });
}

TEST(TaintBits, Fields) {
  ExpectExact([](Bits a, Bits) { return Field(a, 1, 2); },
              [](uint64_t a, uint64_t) { return a >> 1 & 3; });
  ExpectExact([](Bits a, Bits b) { return Insert(a, 1, b, 2); },
              [](uint64_t a, uint64_t b) { return (a & 9) | (b << 1 & 6); });
  ExpectExact(
      [](Bits a, Bits) { return Extend(Low(a, 2), 2, kWidth); },
      [](uint64_t a, uint64_t) { return (a & 2) != 0 ? (a & 3) | 12 : a & 3; });
}

}  // namespace
}  // namespace ingot::emulator::taint
