// Bank conflicts against gfx950.md's table of access patterns and against a
// model written from its words, phase by phase.
#include "tests/emulator/profile/lds_banks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace ingot::profile {
namespace {

using emulator::AccessList;
using emulator::Space;

using Addresses = std::function<uint32_t(uint32_t lane)>;

std::unique_ptr<AccessList> ListOf(const Addresses& address, uint32_t bytes,
                                   uint64_t exec = ~uint64_t{0}) {
  auto list = std::make_unique<AccessList>();
  for (int lane = 0; lane < 64; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    list->Add(Space::kLds, address(static_cast<uint32_t>(lane)), bytes, lane);
  }
  return list;
}

double Degree(uint32_t bytes, BankUse use, const Addresses& address) {
  return CostOf(*ListOf(address, bytes), use).degree;
}

// Phases as the document writes them.
struct Written {
  int banks;
  std::vector<std::vector<int>> phases;
};

std::vector<int> Range(int from, int to) {
  std::vector<int> lanes;
  for (int lane = from; lane <= to; ++lane) lanes.push_back(lane);
  return lanes;
}

Written WrittenPhases(bool write, uint32_t bytes) {
  Written w{write || bytes == 12 ? 32 : 64, {}};
  if (!write && bytes == 16) {
    w.phases = {{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
                {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}};
  } else if (!write && bytes == 12) {
    w.phases = {{0, 1, 2, 3, 20, 21, 22, 23},
                {4, 5, 6, 7, 16, 17, 18, 19},
                {8, 9, 10, 11, 28, 29, 30, 31},
                {12, 13, 14, 15, 24, 25, 26, 27}};
  } else {
    const int lanes = !write ? 32 : bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
    for (int first = 0; first < 32; first += lanes) {
      w.phases.push_back(Range(first, first + lanes - 1));
    }
  }
  const size_t half = w.phases.size();
  for (size_t n = 0; n < half; ++n) {
    std::vector<int> upper = w.phases[n];
    for (int& lane : upper) lane += 32;
    w.phases.push_back(upper);
  }
  return w;
}

// "for each phase, count distinct 4-B words per bank": the most of any phase.
double ReferenceDegree(const Addresses& address, bool write, uint32_t bytes,
                       uint64_t exec) {
  const Written w = WrittenPhases(write, bytes);
  double worst = 1;
  for (const std::vector<int>& phase : w.phases) {
    std::map<uint32_t, std::set<uint32_t>> words;
    for (const int lane : phase) {
      if ((exec >> lane & 1) == 0) continue;
      for (uint32_t byte = 0; byte < bytes; byte += 4) {
        const uint32_t word = (address(static_cast<uint32_t>(lane)) + byte) / 4;
        words[word % static_cast<uint32_t>(w.banks)].insert(word);
      }
    }
    for (const auto& [bank, wanted] : words) {
      worst = std::max(worst, static_cast<double>(wanted.size()));
    }
  }
  return worst;
}

// Row l % rows, the 16 bytes at column l / rows of it, the column swizzled.
struct Pattern {
  const char* what;
  uint32_t rows, row_bytes;
  std::function<uint32_t(uint32_t row)> swizzle;
  double degree;
};

TEST(LdsBanksTest, FragmentReadsAsTheTableOfGfx950Says) {
  const auto plain = [](uint32_t) { return 0u; };
  const auto by_half = [](uint32_t row) { return row / 2 % 8 * 16; };
  const auto by_row8 = [](uint32_t row) { return row % 8 * 16; };
  const auto by_row16 = [](uint32_t row) { return row % 16 * 16; };
  const std::vector<Pattern> patterns = {
      {"16 rows of 64", 16, 64, plain, 2},
      {"swizzled", 16, 64, [](uint32_t r) { return r / 2 % 4 * 16; }, 1},
      {"padded by 32", 16, 96, plain, 1},
      {"16 rows of 128", 16, 128, plain, 4},
      {"swizzled by row", 16, 128, by_row8, 1},
      {"swizzled by row / 2", 16, 128, by_half, 1},
      {"padded by 32", 16, 160, plain, 1},
      {"padded by 16", 16, 144, plain, 2},
      {"16 rows of 256", 16, 256, plain, 8},
      {"swizzled by row", 16, 256, by_row16, 1},
      {"padded by 32", 16, 288, plain, 1},
      {"padded by 16", 16, 272, plain, 2},
      {"32 rows of 64", 32, 64, plain, 4},
      {"padded by 16", 32, 80, plain, 1},
      {"32 rows of 128", 32, 128, plain, 8},
      {"swizzled by row / 2", 32, 128, by_half, 1},
      {"swizzled by row", 32, 128, by_row8, 2},
      {"padded by 16", 32, 144, plain, 1},
      {"32 rows of 256", 32, 256, plain, 16},
      {"swizzled by row", 32, 256, by_row16, 1},
      {"padded by 16", 32, 272, plain, 1}};
  for (const Pattern& p : patterns) {
    SCOPED_TRACE(p.what);
    EXPECT_EQ(p.degree, Degree(16, BankUse::kRead, [&p](uint32_t lane) {
                const uint32_t row = lane % p.rows;
                return row * p.row_bytes +
                       ((lane / p.rows * 16) ^ p.swizzle(row));
              }));
  }
}

TEST(LdsBanksTest, StridesOfDwords) {
  // 32 lanes a phase. Reads have 64 banks, writes 32.
  const struct {
    uint32_t stride;
    double read, write;
  } cases[] = {{0, 1, 1},    {1, 1, 1},    {2, 1, 2},  {4, 2, 4},  {8, 4, 8},
               {32, 16, 32}, {64, 32, 32}, {33, 1, 1}, {65, 1, 1}, {3, 1, 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.stride);
    const auto address = [&c](uint32_t lane) { return lane * c.stride * 4; };
    EXPECT_EQ(c.read, Degree(4, BankUse::kRead, address));
    EXPECT_EQ(c.write, Degree(4, BankUse::kWrite, address));
  }
}

TEST(LdsBanksTest, ConsecutiveLanesCostWhatTheWidthAllows) {
  const struct {
    uint32_t bytes, stride;
    BankUse use;
    int clocks;
  } cases[] = {
      {4, 4, BankUse::kRead, 2},     // 128 bytes a clock
      {8, 8, BankUse::kRead, 2},     // 256
      {12, 16, BankUse::kRead, 8},   // 8 lanes a phase
      {16, 16, BankUse::kRead, 4},   // 256
      {4, 4, BankUse::kWrite, 2},    // 128
      {8, 8, BankUse::kWrite, 4},    // 128
      {16, 16, BankUse::kWrite, 8},  // 128
      {2, 2, BankUse::kRead, 2},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.bytes);
    const BankCost cost = CostOf(
        *ListOf([&c](uint32_t lane) { return lane * c.stride; }, c.bytes),
        c.use);
    EXPECT_EQ(cost.clocks, c.clocks);
    EXPECT_EQ(cost.least, c.clocks);
    EXPECT_EQ(cost.degree, 1);
  }
}

TEST(LdsBanksTest, OneWordForAllIsFreeExceptForAtomics) {
  const auto same = [](uint32_t) { return 128u; };
  EXPECT_EQ(Degree(4, BankUse::kRead, same), 1);
  EXPECT_EQ(Degree(16, BankUse::kRead, same), 1);
  EXPECT_EQ(Degree(4, BankUse::kWrite, same), 1);
  EXPECT_EQ(Degree(4, BankUse::kAtomic, same), 32);
}

TEST(LdsBanksTest, SecondAccessOfALaneIsAnotherRound) {
  AccessList list;
  for (int lane = 0; lane < 64; ++lane) {
    list.Add(Space::kLds, static_cast<uint64_t>(lane) * 4, 4, lane);
    list.Add(Space::kLds, static_cast<uint64_t>(lane) * 256, 4, lane);
  }
  const BankCost cost = CostOf(list, BankUse::kRead);
  EXPECT_EQ(cost.least, 4);
  EXPECT_EQ(cost.clocks, 2 + 2 * 32);
  EXPECT_EQ(cost.degree, 32);
}

TEST(LdsBanksTest, AgreesWithTheWordsOnRandomAddresses) {
  std::mt19937 random(7);
  for (const bool write : {false, true}) {
    for (const uint32_t bytes : {4u, 8u, 12u, 16u}) {
      if (write && bytes == 12) continue;  // the document has no such row
      for (int round = 0; round < 200; ++round) {
        SCOPED_TRACE(testing::Message()
                     << write << " " << bytes << " " << round);
        std::vector<uint32_t> at(64);
        const uint32_t range = 4u << (round % 13);
        for (uint32_t& address : at) address = random() % range * 4;
        const uint64_t exec =
            round % 3 == 0 ? uint64_t{random()} << 32 | random() : ~uint64_t{0};
        const auto address = [&at](uint32_t lane) { return at[lane]; };
        const BankCost cost = CostOf(*ListOf(address, bytes, exec),
                                     write ? BankUse::kWrite : BankUse::kRead);
        if (exec != 0) {
          EXPECT_EQ(cost.degree, ReferenceDegree(address, write, bytes, exec));
        }
      }
    }
  }
}

}  // namespace
}  // namespace ingot::profile
