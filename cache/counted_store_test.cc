#include "cache/counted_store.h"

#include <memory>
#include <utility>

#include "cache/memory_store.h"
#include "cache/testing/faulty_store.h"
#include "cache/testing/samples.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

TEST(CountedStoreTest, CountsEachOperationByOutcome) {
  auto below = std::make_unique<FaultyStore>(
      std::make_unique<MemoryStore>(MemoryOptions{}));
  FaultyStore* faults = below.get();
  CountedStore store(std::move(below));
  const Publication sample = Sample(1);

  ASSERT_TRUE(store.Publish(sample).ok());
  EXPECT_TRUE(Holds(store, sample));
  EXPECT_TRUE(Misses(store, SampleKey(2)));
  EXPECT_TRUE(store.GetRecord(sample.key).value().has_value());
  EXPECT_TRUE(store.GetObject(sample.digest).value().has_value());
  EXPECT_FALSE(store.GetPlan("plan").value().has_value());
  ASSERT_TRUE(store.PutPlan("plan", "a plan").ok());
  EXPECT_FALSE(store.Delete(SampleKey(2)).value());
  ASSERT_TRUE(store.Scan("", 1, [](const ScanEntry&) { return true; }).ok());
  faults->FailWith(absl::DataLossError("damage"));
  EXPECT_FALSE(store.Get(sample.key).ok());
  faults->FailWith(absl::ResourceExhaustedError("full"));
  EXPECT_FALSE(store.Publish(sample).ok());
  faults->FailWith(absl::UnavailableError("away"));
  EXPECT_FALSE(store.Get(sample.key).ok());
  EXPECT_FALSE(store.GetPlan("plan").ok());

  EXPECT_EQ(store.count(Operation::kGet, Outcome::kHit), 1);
  EXPECT_EQ(store.count(Operation::kGet, Outcome::kMiss), 1);
  EXPECT_EQ(store.count(Operation::kGet, Outcome::kDamaged), 1);
  EXPECT_EQ(store.count(Operation::kGet, Outcome::kError), 1);
  EXPECT_EQ(store.count(Operation::kPublish, Outcome::kHit), 1);
  EXPECT_EQ(store.count(Operation::kPublish, Outcome::kDropped), 1);
  EXPECT_EQ(store.count(Operation::kGetRecord, Outcome::kHit), 1);
  EXPECT_EQ(store.count(Operation::kGetObject, Outcome::kHit), 1);
  EXPECT_EQ(store.count(Operation::kGetPlan, Outcome::kMiss), 1);
  EXPECT_EQ(store.count(Operation::kGetPlan, Outcome::kError), 1);
  EXPECT_EQ(store.count(Operation::kPutPlan, Outcome::kHit), 1);
  EXPECT_EQ(store.count(Operation::kDelete, Outcome::kMiss), 1);
  EXPECT_EQ(store.count(Operation::kScan, Outcome::kHit), 1);
}

TEST(CountedStoreTest, NamesAreMetricLabels) {
  EXPECT_EQ(Name(Operation::kGet), "get");
  EXPECT_EQ(Name(Operation::kScan), "scan");
  EXPECT_EQ(Name(Outcome::kHit), "hit");
  EXPECT_EQ(Name(Outcome::kError), "error");
}

}  // namespace
}  // namespace ingot::cache
