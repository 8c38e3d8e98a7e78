#include "tests/emulator/memory_map.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ingot::emulator {
namespace {

using Kind = MemoryMap::Kind;

TEST(MemoryMap, AllocationsAreAlignedPoisonedAndApart) {
  MemoryMap map;
  auto* a = static_cast<unsigned char*>(map.Allocate(1000, Kind::kDevice));
  auto* b = static_cast<unsigned char*>(map.Allocate(5000, Kind::kDevice));
  for (unsigned char* p : {a, b}) {
    EXPECT_EQ(reinterpret_cast<uint64_t>(p) % 256, 0u);
    EXPECT_EQ(p[0], 0xa5);
    EXPECT_EQ(p[999], 0xa5);
  }
  EXPECT_GE(std::abs(a - b), 65536);
  EXPECT_EQ(map.bytes_in_use(), 6000u);
  EXPECT_EQ(map.Allocate(0, Kind::kDevice), nullptr);
}

TEST(MemoryMap, ViewsFindWholeRangesOnly) {
  MemoryMap map;
  const uint64_t a =
      reinterpret_cast<uint64_t>(map.Allocate(1000, Kind::kDevice));
  const auto view = map.View({{16, 32}});
  EXPECT_NE(view->Find(a, 1000), nullptr);
  EXPECT_NE(view->Find(a + 999, 1), nullptr);
  EXPECT_EQ(view->Find(a + 999, 2), nullptr);
  EXPECT_EQ(view->Find(a - 1, 4), nullptr);
  EXPECT_NE(view->Find(16, 16), nullptr);
  EXPECT_EQ(view->Find(15, 4), nullptr);
  EXPECT_EQ(view->Find(~uint64_t{0} - 3, 8), nullptr);
}

TEST(MemoryMap, FreeTakesOnlyLiveStarts) {
  MemoryMap map;
  char* a = static_cast<char*>(map.Allocate(64, Kind::kDevice));
  EXPECT_FALSE(map.Free(a + 1));
  EXPECT_TRUE(map.Free(a));
  EXPECT_FALSE(map.Free(a));
}

TEST(MemoryMap, ViewsSeeIncludedMaps) {
  MemoryMap map, peer;
  const uint64_t theirs =
      reinterpret_cast<uint64_t>(peer.Allocate(64, Kind::kDevice));
  EXPECT_EQ(map.View({})->Find(theirs, 4), nullptr);
  map.Include(&peer);
  peer.Include(&map);  // peers see each other
  EXPECT_NE(map.View({})->Find(theirs, 64), nullptr);
  map.Exclude(&peer);
  EXPECT_EQ(map.View({})->Find(theirs, 4), nullptr);
}

TEST(MemoryMap, RegisteredRangesMayNotOverlap) {
  MemoryMap map;
  char buffer[256];
  EXPECT_TRUE(map.Register(buffer, 128));
  EXPECT_FALSE(map.Register(buffer + 64, 128));
  EXPECT_FALSE(map.Register(buffer, 8));
  EXPECT_TRUE(map.Register(buffer + 128, 128));
  EXPECT_FALSE(map.Free(buffer));
  EXPECT_TRUE(map.Unregister(buffer));
  EXPECT_FALSE(map.Unregister(buffer));
}

}  // namespace
}  // namespace ingot::emulator
