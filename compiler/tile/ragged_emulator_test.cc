#include <algorithm>
#include <random>

#include "compiler/tile/ragged.h"
#include "gtest/gtest.h"
#include "tests/support/kernel_harness.h"

namespace ingot::tile {
namespace {

using testing::RunKernel;

struct Found {
  int32_t group;
  int32_t first_row;
  int32_t end_row;
  int32_t first_tile;
  int32_t tiles;
  bool operator==(const Found&) const = default;
};

void PrintTo(const Found& x, std::ostream* out) {
  *out << "group " << x.group << " rows " << x.first_row << ".." << x.end_row
       << " tiles " << x.first_tile << "+" << x.tiles;
}

// in: rows, groups, ends...; out: tiles, then a Found for each of up to n.
template <int capacity, int tile_rows>
absl::Status Body(Builder& b, const KernelSpec&) {
  const Value rows = b.Load(kI32, b.Arg("in"));
  const Value groups = b.Load(kI32, Offset(b.Arg("in"), 4));
  RaggedRows ragged(b, {tile_rows, capacity}, Offset(b.Arg("in"), 8), groups,
                    rows);
  b.If(b.ThreadX() == 0, [&] { b.Store(ragged.tiles(), b.Arg("out")); });
  b.For(b.I32(0), ragged.tiles(), 1, {}, [&](Value tile, auto) {
    const RaggedRows::Group found = ragged.Find(tile);
    // The last wave, which did not write the table.
    b.If(b.ThreadX() == static_cast<int>(b.spec().workgroup[0]) - 1, [&] {
      Value place = Offset(b.Arg("out"), Convert(tile * 20 + 4, kI64));
      for (const Value& value : {found.index, found.first_row, found.end_row,
                                 found.first_tile, found.tiles}) {
        b.Store(value, place);
        place = Offset(place, 4);
      }
    });
    return Values();
  });
  return absl::OkStatus();
}

std::vector<Found> Wanted(int32_t rows, const std::vector<int32_t>& ends,
                          int tile_rows) {
  std::vector<Found> tiles;
  int32_t start = 0;
  int32_t first_tile = 0;
  for (size_t e = 0; e < ends.size(); ++e) {
    const int32_t end = std::max(start, std::min(ends[e], rows));
    const int32_t count = (end - start + tile_rows - 1) / tile_rows;
    for (int32_t i = 0; i < count; ++i) {
      tiles.push_back({static_cast<int32_t>(e), start, end, first_tile, count});
    }
    first_tile += count;
    start = end;
  }
  return tiles;
}

template <int capacity, int tile_rows>
void Check(int32_t rows, const std::vector<int32_t>& ends) {
  std::vector<int32_t> in = {rows, static_cast<int32_t>(ends.size())};
  in.insert(in.end(), ends.begin(), ends.end());
  const std::vector<Found> wanted = Wanted(rows, ends, tile_rows);
  const std::vector<int32_t> out = RunKernel<int32_t>(
      Body<capacity, tile_rows>, 256, in, 1 + 5 * wanted.size());
  ASSERT_EQ(out[0], static_cast<int32_t>(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int32_t* at = &out[1 + 5 * i];
    EXPECT_EQ((Found{at[0], at[1], at[2], at[3], at[4]}), wanted[i]) << i;
  }
}

std::vector<int32_t> RandomEnds(std::mt19937& random, size_t groups,
                                int32_t most) {
  std::vector<int32_t> ends;
  int32_t end = 0;
  for (size_t e = 0; e < groups; ++e) {
    if (random() % 3 != 0) end += static_cast<int32_t>(random() % most);
    ends.push_back(end);
  }
  return ends;
}

TEST(RaggedTest, GroupsOfEverySize) {
  Check<64, 16>(100, {100});
  Check<64, 16>(0, {0});
  Check<64, 16>(100, {0, 0, 1, 17, 17, 33, 100, 100});
  Check<64, 128>(1000, {0, 0, 1000, 1000});
  std::mt19937 random(1);
  for (size_t groups : {1, 2, 63, 64}) {
    const std::vector<int32_t> ends = RandomEnds(random, groups, 70);
    Check<64, 16>(ends.back(), ends);
    Check<64, 64>(ends.back() + 5, ends);
  }
}

TEST(RaggedTest, MoreGroupsThanLanes) {
  std::mt19937 random(2);
  for (size_t groups : {1, 65, 200, 255, 256}) {
    Check<256, 32>(1 << 20, RandomEnds(random, groups, 90));
  }
  for (size_t groups : {257, 1000, 1024}) {
    Check<1024, 16>(1 << 20, RandomEnds(random, groups, 30));
  }
  Check<1024, 256>(3000, std::vector<int32_t>(1024, 3000));
}

TEST(RaggedTest, EndsThatAreNone) {
  Check<64, 16>(100, {-5, 50, 20, 60, INT32_MAX, 10, INT32_MIN});
  Check<64, 16>(100, {INT32_MIN, -1, -1});
  Check<256, 16>(64, {1000, 5, -7, 64});
  std::mt19937 random(3);
  for (int i = 0; i < 8; ++i) {
    std::vector<int32_t> ends;
    for (int e = 0; e < 100; ++e) {
      ends.push_back(static_cast<int32_t>(random()) >> (random() % 28));
    }
    Check<256, 16>(500, ends);
  }
}

}  // namespace
}  // namespace ingot::tile
