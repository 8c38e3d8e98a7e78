#include "tests/emulator/profile/byte_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace ingot::profile {
namespace {

TEST(ByteSetTest, CountsEachByteAndLineOnce) {
  ByteSet set;
  EXPECT_EQ(set.Add(120, 16), 2);  // bytes of lines 0 and 1
  EXPECT_EQ(set.bytes(), 16u);
  EXPECT_EQ(set.Add(0, 128), 0);
  EXPECT_EQ(set.bytes(), 136u);
  EXPECT_EQ(set.Add(4095, 2), 2);  // across a page
  EXPECT_EQ(set.BytesIn(100, 4096), 37u);
  set.Clear();
  EXPECT_EQ(set.bytes(), 0u);
  EXPECT_EQ(set.Add(0, 64), 1);
  EXPECT_EQ(set.Add(64, 64), 0);
}

TEST(ByteSetTest, AgreesWithASetOfAddresses) {
  constexpr uint64_t kBase = 0x7f0000000000;
  std::mt19937 random(3);
  ByteSet set, other;
  std::set<uint64_t> bytes, lines;
  size_t new_lines = 0;
  const auto add = [&](ByteSet* to) {
    const uint64_t at = kBase + random() % 40000;
    const uint32_t size = 1 + random() % 300;
    for (uint64_t byte = at; byte < at + size; ++byte) {
      bytes.insert(byte);
      lines.insert(byte / 128);
    }
    return static_cast<size_t>(to->Add(at, size));
  };
  for (int n = 0; n < 100; ++n) new_lines += add(&set);
  EXPECT_EQ(new_lines, lines.size());
  for (int n = 0; n < 100; ++n) add(&other);
  set.Merge(other);
  EXPECT_EQ(set.bytes(), bytes.size());
  const uint64_t from = kBase + 777;
  EXPECT_EQ(set.BytesIn(from, from + 5000),
            static_cast<uint64_t>(std::distance(
                bytes.lower_bound(from), bytes.lower_bound(from + 5000))));
}

}  // namespace
}  // namespace ingot::profile
