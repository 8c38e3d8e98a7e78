// LDS loads and stores of every width, pairs, counters, transposing reads.
#include <bit>

#include "tests/emulator/lds_fixture.h"

namespace ingot::emulator {
namespace {

enum class Half { kNone, kLow, kHigh };
struct Narrow {
  U op, bytes;
  bool is_signed;
  Half half;
};
constexpr Narrow kNarrowReads[] = {
    {0x39, 1, true, Half::kNone}, {0x3a, 1, false, Half::kNone},
    {0x3b, 2, true, Half::kNone}, {0x3c, 2, false, Half::kNone},
    {0x56, 1, false, Half::kLow}, {0x57, 1, false, Half::kHigh},
    {0x58, 1, true, Half::kLow},  {0x59, 1, true, Half::kHigh},
    {0x5a, 2, false, Half::kLow}, {0x5b, 2, false, Half::kHigh}};

TEST_F(Lds, NarrowReads) {
  for (const Narrow& n : kNarrowReads) {
    for (const UL exec : {~UL{0}, kSomeLanes}) {
      Fill();
      SetExec(exec);
      ScatterAddresses(n.bytes);
      std::vector<U> want(kLanes);
      for (int l = 0; l < kLanes; ++l) {
        const U old = w().v[kD][l];
        U v = static_cast<U>(
            Model(w().v[kAddress][l] + 0x123 * n.bytes, n.bytes));
        const U top = 1u << (8 * n.bytes - 1);
        if (n.is_signed && (v & top) != 0) v |= ~(2 * top - 1);
        if (n.half == Half::kLow) v = (old & 0xffff0000) | (v & 0xffff);
        if (n.half == Half::kHigh) v = (old & 0xffff) | v << 16;
        want[static_cast<size_t>(l)] = On(l) ? v : old;
      }
      ASSERT_TRUE(Run(Ds(n.op, kD, kAddress, 0, 0, 0x123 * n.bytes)));
      for (int l = 0; l < kLanes; ++l)
        ASSERT_EQ(w().v[kD][l], want[static_cast<size_t>(l)]) << Text() << l;
    }
  }
}

// {opcode, dwords}; also into accumulation registers, from odd addresses, and
// from negative ones that the offset lifts.
TEST_F(Lds, WideReads) {
  constexpr std::pair<U, U> kReads[] = {
      {0x36, 1}, {0x76, 2}, {0xfe, 3}, {0xff, 4}};
  for (const auto& [op, words] : kReads) {
    for (const UL exec : {~UL{0}, kSomeLanes}) {
      for (const bool acc : {false, true}) {
        for (const U skew : {0u, 1u, U{0} - 0x400u}) {
          Fill();
          SetExec(exec);
          ScatterAddresses(4 * words);
          std::vector<U> want;
          for (U n = 0; n < 4; ++n) {
            for (int l = 0; l < kLanes; ++l) {
              U& address = w().v[kAddress][l];
              if (n == 0) address += skew;
              want.push_back(
                  On(l) && n < words
                      ? static_cast<U>(Model(address + 0x1410 + 4 * n, 4))
                      : w().v[kD + n + 256 * acc][l]);
            }
          }
          ASSERT_TRUE(Run(Ds(op, kD, kAddress, 0, 0, 0x1410, acc))) << op;
          for (U n = 0; n < 4; ++n) {
            for (U l = 0; l < kLanes; ++l) {
              ASSERT_EQ(w().v[kD + n + 256 * acc][l], want[n * kLanes + l])
                  << Text() << " lane " << l << " word " << n;
            }
          }
        }
      }
    }
  }
}

// {opcode, bytes, bit of the data register that comes first}.
TEST_F(Lds, Writes) {
  constexpr struct {
    U op, bytes, from;
  } kWrites[] = {{0x0d, 4, 0}, {0x4d, 8, 0}, {0xde, 12, 0}, {0xdf, 16, 0},
                 {0x1e, 1, 0}, {0x1f, 2, 0}, {0x54, 1, 16}, {0x55, 2, 16}};
  for (const auto& k : kWrites) {
    for (const UL exec : {~UL{0}, kSomeLanes}) {
      for (const bool acc : {false, true}) {
        Fill();
        SetExec(exec);
        ScatterAddresses(k.bytes);
        const U offset = 0x321 * k.bytes;
        for (int l = 0; l < kLanes; ++l) {
          for (U b = 0; b < k.bytes && On(l); ++b) {
            const U bit = 8 * b + k.from;
            model_[w().v[kAddress][l] + offset + b] = static_cast<uint8_t>(
                w().v[kData + 256 * acc + bit / 32][l] >> bit % 32);
          }
        }
        ASSERT_TRUE(Run(Ds(k.op, 0, kAddress, kData, 0, offset, acc)));
        ASSERT_EQ(lds_, model_) << Text();
      }
    }
  }
}

// Two offsets of a byte each, in elements or in 64 of them.
TEST_F(Lds, Pairs) {
  constexpr struct {
    U read, write, exchange, words, stride;
  } kForms[] = {{0x37, 0x0e, 0x2e, 1, 1},
                {0x38, 0x0f, 0x2f, 1, 64},
                {0x77, 0x4e, 0x6e, 2, 1},
                {0x78, 0x4f, 0x6f, 2, 64}};
  for (const auto& f : kForms) {
    for (const U op : {f.read, f.write, f.exchange}) {
      for (const UL exec : {~UL{0}, kSomeLanes}) {
        Fill();
        SetExec(exec);
        const U size = 4 * f.words;
        ScatterAddresses(2 * size);
        // Of two places in turn, so that no lane meets another's.
        const U first = 2, second = f.stride == 64 ? 7 : 3;
        const U at[] = {first * size * f.stride, second * size * f.stride};
        std::vector<UL> want;
        for (int l = 0; l < kLanes; ++l) {
          for (U n = 0; n < 2; ++n) {
            const U place = w().v[kAddress][l] + at[n];
            want.push_back(On(l) && op != f.write
                               ? Model(place, size)
                               : Register(kD + n * f.words, l, f.words));
            if (On(l) && op != f.read)
              SetModel(place, Register(n == 0 ? kData : kData1, l, f.words),
                       size);
          }
        }
        ASSERT_TRUE(
            Run(Ds(op, kD, kAddress, kData, kData1, first | second << 8)));
        ASSERT_EQ(lds_, model_) << Text();
        for (int l = 0; l < kLanes; ++l) {
          for (U n = 0; n < 2; ++n) {
            ASSERT_EQ(Register(kD + n * f.words, l, f.words),
                      want[static_cast<size_t>(2 * l) + n])
                << Text() << " lane " << l;
          }
        }
      }
    }
  }
}

TEST_F(Lds, AddressesFromM0AndTheLane) {
  for (const UL exec : {~UL{0}, kSomeLanes}) {
    Fill();
    SetExec(exec);
    w().s[kM0] = 0xabcd0100;  // 16 bits count
    for (int l = 0; l < kLanes; ++l) {
      if (On(l)) SetModel(0x140 + 4 * static_cast<U>(l), w().v[kData][l], 4);
    }
    ASSERT_TRUE(Run(Ds(0x1d, 0, 0, kData, 0, 0x40)));
    ASSERT_EQ(lds_, model_);
    std::vector<U> want(w().v[kD], w().v[kD] + kLanes);
    for (int l = 0; l < kLanes; ++l) {
      const U at = 0x180 + 4 * static_cast<U>(l);
      if (On(l)) want[static_cast<size_t>(l)] = static_cast<U>(Model(at, 4));
    }
    ASSERT_TRUE(Run(Ds(0xb6, kD, 0, 0, 0, 0x80)));
    ASSERT_EQ(std::vector<U>(w().v[kD], w().v[kD] + kLanes), want);
  }
}

// The counter moves by the number of lanes; all receive what it was.
TEST_F(Lds, AppendAndConsume) {
  for (const bool append : {true, false}) {
    Fill();
    SetExec(kSomeLanes);
    w().s[kM0] = 0x55550200;
    const U old = static_cast<U>(Model(0x210, 4));
    const U lanes = static_cast<U>(std::popcount(kSomeLanes));
    SetModel(0x210, append ? old + lanes : old - lanes, 4);
    std::vector<U> want(w().v[kD], w().v[kD] + kLanes);
    for (int l = 0; l < kLanes; ++l) {
      if (On(l)) want[static_cast<size_t>(l)] = old;
    }
    ASSERT_TRUE(Run(Ds(append ? 0xbe : 0xbd, kD, 0, 0, 0, 0x10)));
    ASSERT_EQ(lds_, model_) << Text();
    ASSERT_EQ(std::vector<U>(w().v[kD], w().v[kD] + kLanes), want);
  }
}

// Sixteen lanes load the rows of a tile, in order, and lane c receives column
// c: {opcode, bits, rows, words of a lane}.
TEST_F(Lds, TransposingReads) {
  constexpr struct {
    U op, bits, rows, words;
  } kForms[] = {
      {0xe0, 4, 16, 2}, {0xe1, 6, 16, 3}, {0xe2, 8, 8, 2}, {0xe3, 16, 4, 2}};
  for (const auto& f : kForms) {
    Fill();
    ScatterAddresses(16);
    const auto bit = [&](U lane, U n) -> U {
      const U at = w().v[kAddress][lane] + 0x30 + n / 8;
      return model_[at] >> n % 8 & 1;
    };
    std::vector<U> want(kLanes * f.words);
    for (U l = 0; l < kLanes; ++l) {
      for (U row = 0; row < f.rows; ++row) {
        // The tile's bits, row after row, lie in lanes of 32 * words bits.
        const U per_lane = 32 * f.words;
        const U from = (row * 16 + l % 16) * f.bits;
        for (U b = 0; b < f.bits; ++b) {
          const U to = row * f.bits + b;
          want[l * f.words + to / 32] |=
              bit(l / 16 * 16 + (from + b) / per_lane, (from + b) % per_lane)
              << to % 32;
        }
      }
    }
    ASSERT_TRUE(Run(Ds(f.op, kD, kAddress, 0, 0, 0x30))) << f.op;
    for (U l = 0; l < kLanes; ++l) {
      for (U n = 0; n < f.words; ++n)
        ASSERT_EQ(w().v[kD + n][l], want[l * f.words + n]) << Text() << l;
    }
  }
}

TEST_F(Lds, OutsideIsAFault) {
  for (int l = 0; l < kLanes; ++l) w().v[kAddress][l] = 0;
  w().v[kAddress][41] = kBytes - 4;
  EXPECT_TRUE(Run(Ds(0x36, kD, kAddress, 0)));
  for (const U op : {0x76u, 0x77u, 0xffu, 0x4du, 0x40u}) {
    EXPECT_FALSE(Run(Ds(op, kD, kAddress, kData, kData1, 0x100))) << op;
    EXPECT_EQ(w().fault.lane, 41);
  }
}

}  // namespace
}  // namespace ingot::emulator
