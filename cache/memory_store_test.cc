#include "cache/memory_store.h"

#include <memory>
#include <string>

#include "cache/testing/samples.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

TEST(MemoryStoreTest, EvictsTheLeastRecentlyUsed) {
  MemoryStore store({.bytes = 3 * 10500, .shards = 1});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.Publish(Sample(i, 10000)).ok());
  EXPECT_TRUE(Holds(store, Sample(0, 10000)));  // a use
  store.Touch(Kind::kKernel, SampleKey(1));     // another
  ASSERT_TRUE(store.Publish(Sample(3, 10000)).ok());
  EXPECT_TRUE(Misses(store, SampleKey(2)));
  EXPECT_TRUE(Holds(store, Sample(0, 10000)));
  EXPECT_TRUE(Holds(store, Sample(1, 10000)));
  EXPECT_TRUE(Holds(store, Sample(3, 10000)));
  EXPECT_EQ(store.Stats().evictions, 1);
}

TEST(MemoryStoreTest, StaysWithinItsBytes) {
  MemoryStore store({.bytes = 1 << 20, .shards = 4});
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(store.Publish(Sample(i, 100 * (i % 90))).ok());
    ASSERT_TRUE(
        store.PutPlan(absl::StrCat("plan ", i), std::string(500, 'p')).ok());
    ASSERT_LE(store.Stats().bytes, 1 << 20);
  }
  EXPECT_GT(store.Stats().bytes, 700000);
  EXPECT_TRUE(Holds(store, Sample(499, 100 * (499 % 90))));
}

TEST(MemoryStoreTest, AHitSharesTheBytes) {
  MemoryStore store({});
  ASSERT_TRUE(store.Publish(Sample(1)).ok());
  const Entry first = **store.Get(SampleKey(1));
  const Entry second = **store.Get(SampleKey(1));
  EXPECT_EQ(first.object->data(), second.object->data());
  EXPECT_EQ(first.record->data(), second.record->data());
}

TEST(MemoryStoreTest, FillKeepsTheCallersBytes) {
  MemoryStore store({});
  const Publication sample = Sample(1);
  const Entry entry = {.record = std::make_shared<std::string>(sample.record),
                       .digest = sample.digest,
                       .object = std::make_shared<std::string>(sample.object)};
  ASSERT_TRUE(store.Fill(sample.key, entry).ok());
  EXPECT_EQ((*store.Get(sample.key))->object->data(), entry.object->data());
}

TEST(MemoryStoreTest, KeysOfOneDigestShareItsBytes) {
  MemoryStore store({});
  Publication sharer = Sample(1);
  sharer.key = SampleKey(2);
  ASSERT_TRUE(store.Publish(Sample(1)).ok());
  ASSERT_TRUE(store.Publish(sharer).ok());
  EXPECT_EQ((*store.Get(SampleKey(1)))->object->data(),
            (*store.Get(SampleKey(2)))->object->data());
}

TEST(MemoryStoreTest, BytesOutliveTheirEviction) {
  MemoryStore store({.bytes = 12000, .shards = 1});
  ASSERT_TRUE(store.Publish(Sample(1, 10000)).ok());
  const Entry held = **store.Get(SampleKey(1));
  ASSERT_TRUE(store.Publish(Sample(2, 10000)).ok());
  EXPECT_TRUE(Misses(store, SampleKey(1)));
  EXPECT_EQ(store.GetObject(held.digest).value(), std::nullopt);
  EXPECT_EQ(*held.object, Sample(1, 10000).object);
}

TEST(MemoryStoreTest, WhatDoesNotFitIsNotKeptNorIsWhatItReplaces) {
  MemoryStore store({.bytes = 20000, .shards = 1});
  ASSERT_TRUE(store.Publish(Sample(1, 5000)).ok());
  Publication large = Sample(2, 30000);
  large.key = SampleKey(1);
  EXPECT_TRUE(store.Publish(large).ok());
  EXPECT_TRUE(Misses(store, SampleKey(1)));
  EXPECT_EQ(store.Stats().bytes, 0);
}

}  // namespace
}  // namespace ingot::cache
