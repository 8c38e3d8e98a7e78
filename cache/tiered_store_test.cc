// How two tiers act as one, also when one of them fails.
#include "cache/tiered_store.h"

#include <memory>
#include <utility>

#include "cache/memory_store.h"
#include "cache/testing/faulty_store.h"
#include "cache/testing/samples.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

class TieredStoreTest : public ::testing::Test {
 protected:
  TieredStoreTest() {
    auto upper = std::make_unique<FaultyStore>(
        std::make_unique<MemoryStore>(MemoryOptions{}));
    auto lower = std::make_unique<FaultyStore>(
        std::make_unique<MemoryStore>(MemoryOptions{}));
    upper_ = upper.get();
    lower_ = lower.get();
    store_ = std::make_unique<TieredStore>(std::move(upper), std::move(lower));
  }

  FaultyStore* upper_;
  FaultyStore* lower_;
  std::unique_ptr<TieredStore> store_;
};

TEST_F(TieredStoreTest, AHitBelowFillsWhatIsAbove) {
  ASSERT_TRUE(lower_->Publish(Sample(1)).ok());
  ASSERT_TRUE(lower_->PutPlan("plan", "a plan").ok());
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_EQ(**store_->GetPlan("plan").value(), "a plan");
  EXPECT_TRUE(Holds(*upper_, Sample(1)));
  EXPECT_EQ(**upper_->GetPlan("plan").value(), "a plan");
}

TEST_F(TieredStoreTest, AMissEverywhereIsAMissAndNoError) {
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_EQ(store_->Stats().errors, 0);
}

TEST_F(TieredStoreTest, EveryHitIsAUseBelow) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_EQ(lower_->touches(), 3);
  EXPECT_TRUE(Misses(*store_, SampleKey(2)));
  EXPECT_EQ(lower_->touches(), 3);
}

TEST_F(TieredStoreTest, AnErrorBelowIsCountedAndIsAMiss) {
  lower_->FailWith(absl::InternalError("disk"));
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_EQ(store_->GetRecord(SampleKey(1)).value(), std::nullopt);
  EXPECT_EQ(store_->GetObject(SampleKey(1)).value(), std::nullopt);
  EXPECT_EQ(store_->GetPlan("plan").value(), std::nullopt);
  EXPECT_EQ(store_->Stats().errors, 4);
}

TEST_F(TieredStoreTest, AnErrorAboveFallsThrough) {
  ASSERT_TRUE(lower_->Publish(Sample(1)).ok());
  upper_->FailWith(absl::InternalError("memory"));
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_EQ(store_->Stats().errors, 2);  // the read and the fill
}

TEST_F(TieredStoreTest, APublishSucceedsWhenOneTierTakesIt) {
  lower_->FailWith(absl::ResourceExhaustedError("full"));
  EXPECT_TRUE(store_->Publish(Sample(1)).ok());
  EXPECT_TRUE(store_->PutPlan("plan", "a plan").ok());
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_EQ(store_->Stats().errors, 2);
  upper_->FailWith(absl::InternalError("memory"));
  EXPECT_TRUE(absl::IsResourceExhausted(store_->Publish(Sample(2))));
}

TEST_F(TieredStoreTest, WhatIsRefusedBelowIsNotKeptAbove) {
  lower_->FailWith(absl::InvalidArgumentError("not stored: wrong"));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->Publish(Sample(1))));
  EXPECT_TRUE(Misses(*upper_, SampleKey(1)));
}

TEST_F(TieredStoreTest, DeleteRemovesFromBothAndTellsOfFailure) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  EXPECT_TRUE(store_->Delete(SampleKey(1)).value());
  EXPECT_TRUE(Misses(*upper_, SampleKey(1)));
  EXPECT_TRUE(Misses(*lower_, SampleKey(1)));
  lower_->FailWith(absl::InternalError("disk"));
  EXPECT_FALSE(store_->Delete(SampleKey(1)).ok());
}

TEST_F(TieredStoreTest, ADeletedEntryDoesNotComeBackFromASlowReader) {
  ASSERT_TRUE(lower_->Publish(Sample(1)).ok());
  lower_->AfterNextGet(
      [this] { EXPECT_TRUE(store_->Delete(SampleKey(1)).value()); });
  EXPECT_TRUE(Holds(*store_, Sample(1)));  // the reader was first
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
}

TEST_F(TieredStoreTest, AReplacedEntryDoesNotComeBackFromASlowReader) {
  ASSERT_TRUE(lower_->Publish(Sample(1)).ok());
  Publication newer = Sample(2);
  newer.key = SampleKey(1);
  lower_->AfterNextGet([&] { EXPECT_TRUE(store_->Publish(newer).ok()); });
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_TRUE(Holds(*store_, newer));
}

TEST_F(TieredStoreTest, SaysWhereAHitWasFound) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  EXPECT_EQ((*store_->Get(SampleKey(1)))->tier, Tier::kMemory);
}

TEST_F(TieredStoreTest, AClearedUpperTierIsFilledFromBelow) {
  auto upper = std::make_unique<MemoryStore>(MemoryOptions{});
  auto lower = std::make_unique<MemoryStore>(MemoryOptions{});
  MemoryStore& memory = *upper;
  MemoryStore& disk = *lower;
  TieredStore store(std::move(upper), std::move(lower));
  ASSERT_TRUE(store.Publish(Sample(1)).ok());
  ASSERT_TRUE(store.PutPlan("plan", "a plan").ok());
  store.ClearUpper([&] { memory.Clear(); });
  EXPECT_TRUE(Misses(memory, SampleKey(1)));
  EXPECT_EQ(memory.GetPlan("plan").value(), std::nullopt);
  EXPECT_EQ(memory.GetObject(Sample(1).digest).value(), std::nullopt);
  EXPECT_EQ(memory.Stats().bytes, 0);
  EXPECT_TRUE(Holds(disk, Sample(1)));
  EXPECT_TRUE(Holds(store, Sample(1)));
  EXPECT_TRUE(Holds(memory, Sample(1)));
}

}  // namespace
}  // namespace ingot::cache
