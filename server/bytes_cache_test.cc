#include "server/bytes_cache.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using std::chrono::seconds;

TEST(BytesCache, FindsExactlyWhatWasInserted) {
  BytesCache<int> cache(1 << 20, seconds(0));
  cache.Insert("ab", 1, 100, cache.generation());
  EXPECT_EQ(cache.Find("ab"), 1);
  EXPECT_FALSE(cache.Find("a").has_value());
  EXPECT_FALSE(cache.Find(absl::string_view("ab\0", 3)).has_value());
  cache.Insert("ab", 2, 100, cache.generation());
  EXPECT_EQ(cache.Find("ab"), 2);
}

TEST(BytesCache, StaysWithinItsBytesAndDropsTheLeastUsed) {
  BytesCache<int> cache(8 * 4096, seconds(0));
  for (int i = 0; i < 1000; ++i) {
    cache.Insert("hot", 0, 100, cache.generation());
    cache.Insert("cold" + std::to_string(i), i, 100, cache.generation());
  }
  EXPECT_LE(cache.bytes(), 8u * 4096);
  EXPECT_TRUE(cache.Find("hot").has_value());
  EXPECT_FALSE(cache.Find("cold0").has_value());
}

TEST(BytesCache, WhatIsTooLargeIsNotKept) {
  BytesCache<int> cache(8 * 4096, seconds(0));
  cache.Insert("k", 1, 5000, cache.generation());
  EXPECT_FALSE(cache.Find("k").has_value());
  BytesCache<int> none(0, seconds(0));
  none.Insert("k", 1, 0, none.generation());
  EXPECT_FALSE(none.Find("k").has_value());
}

TEST(BytesCache, EntriesEndInTime) {
  MonotonicTime now{};
  BytesCache<int> cache(1 << 20, seconds(30), [&] { return now; });
  cache.Insert("k", 1, 1, cache.generation());
  now += seconds(29);
  EXPECT_TRUE(cache.Find("k").has_value());
  now += seconds(1);
  EXPECT_FALSE(cache.Find("k").has_value());
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(BytesCache, AnAnswerFromBeforeAClearIsNotKept) {
  BytesCache<int> cache(1 << 20, seconds(0));
  cache.Insert("k", 1, 1, cache.generation());
  const uint64_t generation = cache.generation();
  cache.Clear();
  EXPECT_FALSE(cache.Find("k").has_value());
  cache.Insert("k", 1, 1, generation);
  EXPECT_FALSE(cache.Find("k").has_value());
  cache.Insert("k", 2, 1, cache.generation());
  EXPECT_EQ(cache.Find("k"), 2);
}

TEST(BytesCache, ManyThreads) {
  BytesCache<int> cache(1 << 16, seconds(0));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        const std::string key = std::to_string(i % 97);
        if (std::optional<int> found = cache.Find(key)) {
          EXPECT_EQ(*found, i % 97);
        }
        cache.Insert(key, i % 97, 64, cache.generation());
        if (t == 0 && i % 1000 == 0) cache.Clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.bytes(), 1u << 16);
}

}  // namespace
}  // namespace ingot::server
