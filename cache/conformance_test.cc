// What every implementation of Store promises, held against every one of them.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/checked_store.h"
#include "cache/counted_store.h"
#include "cache/memory_store.h"
#include "cache/rocksdb_store.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "cache/tiered_store.h"
#include "cache/trusted_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::unique_ptr<Store> MakeMemory(const TempDir&) {
  return std::make_unique<MemoryStore>(MemoryOptions{});
}

std::unique_ptr<Store> MakeRocks(const TempDir& directory) {
  absl::StatusOr<std::unique_ptr<Store>> store =
      OpenRocksStore({.directory = directory / "store"});
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

std::unique_ptr<Store> MakeChecked(const TempDir& directory) {
  return std::make_unique<CheckedStore>(MakeRocks(directory), Checks{});
}

std::unique_ptr<Store> MakeTrusted(const TempDir& directory) {
  Vouching everything;
  everything.record = [](absl::string_view, absl::string_view) {
    return absl::OkStatus();
  };
  everything.plan = everything.record;
  return std::make_unique<TrustedStore>(MakeChecked(directory), everything);
}

std::unique_ptr<Store> MakeTiered(const TempDir& directory) {
  return std::make_unique<TieredStore>(MakeMemory(directory),
                                       MakeChecked(directory));
}

std::unique_ptr<Store> MakeCounted(const TempDir& directory) {
  return std::make_unique<CountedStore>(MakeTiered(directory));
}

struct Implementation {
  const char* name;
  std::function<std::unique_ptr<Store>(const TempDir&)> make;
};

class StoreTest : public ::testing::TestWithParam<Implementation> {
 protected:
  StoreTest() : store_(GetParam().make(directory_)) {}

  std::vector<std::string> Keys(absl::string_view after, size_t limit) {
    std::vector<std::string> keys;
    EXPECT_TRUE(store_
                    ->Scan(after, limit,
                           [&](const ScanEntry& entry) {
                             keys.push_back(entry.key);
                             return true;
                           })
                    .ok());
    return keys;
  }

  TempDir directory_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreTest, MissesAreNoErrors) {
  const std::string key = SampleKey(1);
  EXPECT_TRUE(Misses(*store_, key));
  EXPECT_EQ(store_->GetRecord(key).value(), std::nullopt);
  EXPECT_EQ(store_->GetObject(key).value(), std::nullopt);
  EXPECT_EQ(store_->GetPlan("plan").value(), std::nullopt);
  EXPECT_FALSE(store_->Delete(key).value());
  EXPECT_TRUE(Misses(*store_, ""));
  EXPECT_EQ(store_->Stats().entries, 0);
}

TEST_P(StoreTest, GivesBackWhatWasPublished) {
  for (const size_t bytes : {0, 1, 4095, 4096, 65536, 3 << 20}) {
    const Publication sample = Sample(bytes, bytes);
    ASSERT_TRUE(store_->Publish(sample).ok());
    EXPECT_TRUE(Holds(*store_, sample)) << bytes;
    EXPECT_EQ(**store_->GetRecord(sample.key).value(), sample.record);
    EXPECT_EQ(**store_->GetObject(sample.digest).value(), sample.object);
  }
  EXPECT_EQ(store_->Stats().entries, 6);
}

TEST_P(StoreTest, PublishingAgainReplaces) {
  const Publication first = Sample(1);
  Publication second = Sample(2);
  second.key = first.key;
  ASSERT_TRUE(store_->Publish(first).ok());
  ASSERT_TRUE(store_->Publish(second).ok());
  EXPECT_TRUE(Holds(*store_, second));
  EXPECT_EQ(store_->GetObject(first.digest).value(), std::nullopt);
  EXPECT_EQ(store_->Stats().entries, 1);
}

TEST_P(StoreTest, SaysWhichKeysNameAnObject) {
  const Publication first = Sample(1);
  Publication second = first;
  second.key = SampleKey(2);
  const Publication other = Sample(3);
  for (const Publication& sample : {first, second, other}) {
    ASSERT_TRUE(store_->Publish(sample).ok());
  }
  EXPECT_THAT(store_->KeysOf(first.digest).value(),
              UnorderedElementsAre(first.key, second.key));
  EXPECT_THAT(store_->KeysOf(other.digest).value(), ElementsAre(other.key));
  ASSERT_TRUE(store_->Delete(first.key).ok());
  EXPECT_THAT(store_->KeysOf(first.digest).value(), ElementsAre(second.key));
  ASSERT_TRUE(store_->Delete(second.key).ok());
  EXPECT_THAT(store_->KeysOf(first.digest).value(), IsEmpty());
}

TEST_P(StoreTest, AnEmptiedStoreHoldsNoBytes) {
  Publication again = Sample(1);
  ASSERT_TRUE(store_->Publish(again).ok());
  again.record = "another record";
  ASSERT_TRUE(store_->Publish(again).ok());
  EXPECT_GE(store_->Stats().bytes, again.object.size());
  EXPECT_TRUE(store_->Delete(again.key).value());
  EXPECT_EQ(store_->Stats().entries, 0);
  EXPECT_EQ(store_->Stats().bytes, 0);
}

TEST_P(StoreTest, AnObjectGoesWithTheLastKeyThatNamesIt) {
  const Publication first = Sample(1);
  Publication second = first;
  second.key = SampleKey(2);
  ASSERT_TRUE(store_->Publish(first).ok());
  ASSERT_TRUE(store_->Publish(second).ok());
  EXPECT_TRUE(store_->Delete(first.key).value());
  EXPECT_TRUE(Misses(*store_, first.key));
  EXPECT_TRUE(Holds(*store_, second));
  EXPECT_TRUE(store_->Delete(second.key).value());
  EXPECT_EQ(store_->GetObject(first.digest).value(), std::nullopt);
  EXPECT_EQ(store_->Stats().bytes, 0);
}

TEST_P(StoreTest, ReplacingOneSharerLeavesTheOther) {
  const Publication first = Sample(1);
  Publication second = first;
  second.key = SampleKey(2);
  Publication other = Sample(3);
  other.key = first.key;
  ASSERT_TRUE(store_->Publish(first).ok());
  ASSERT_TRUE(store_->Publish(second).ok());
  ASSERT_TRUE(store_->Publish(other).ok());
  EXPECT_TRUE(Holds(*store_, other));
  EXPECT_TRUE(Holds(*store_, second));
  EXPECT_EQ(store_->Stats().entries, 2);
}

TEST_P(StoreTest, PlansLiveApartFromKernels) {
  const Publication sample = Sample(1);
  ASSERT_TRUE(store_->Publish(sample).ok());
  ASSERT_TRUE(store_->PutPlan(sample.key, "the plan").ok());
  EXPECT_EQ(**store_->GetPlan(sample.key).value(), "the plan");
  ASSERT_TRUE(store_->PutPlan(sample.key, "").ok());
  EXPECT_EQ(**store_->GetPlan(sample.key).value(), "");
  EXPECT_TRUE(store_->Delete(sample.key).value());
  EXPECT_EQ(**store_->GetPlan(sample.key).value(), "");
  EXPECT_EQ(store_->Stats().entries, 0);
}

TEST_P(StoreTest, ScansInKeyOrder) {
  std::vector<std::string> keys;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store_->Publish(Sample(i)).ok());
    keys.push_back(SampleKey(i));
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(Keys("", 100), keys);
  EXPECT_THAT(Keys(keys[1], 2), ElementsAre(keys[2], keys[3]));
  EXPECT_THAT(Keys(keys[4], 2), IsEmpty());
  EXPECT_THAT(Keys("", 0), IsEmpty());
  int visits = 0;
  ASSERT_TRUE(store_
                  ->Scan("", 100,
                         [&](const ScanEntry& entry) {
                           EXPECT_EQ(entry.record.substr(0, 7), "record ");
                           return ++visits < 2;
                         })
                  .ok());
  EXPECT_EQ(visits, 2);
}

TEST_P(StoreTest, ScansPlansInKeyOrder) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  for (const char* key : {"b", "a", "c", "aa"}) {
    ASSERT_TRUE(store_->PutPlan(key, absl::StrCat("plan ", key)).ok());
  }
  const auto plans = [&](absl::string_view after, size_t limit) {
    std::vector<std::string> found;
    EXPECT_TRUE(store_
                    ->ScanPlans(after, limit,
                                [&](const PlanEntry& entry) {
                                  EXPECT_EQ(entry.plan,
                                            "plan " + entry.plan_key);
                                  found.push_back(entry.plan_key);
                                  return entry.plan_key != "b";
                                })
                    .ok());
    return found;
  };
  EXPECT_THAT(plans("", 100), ElementsAre("a", "aa", "b"));
  EXPECT_THAT(plans("a", 1), ElementsAre("aa"));
  EXPECT_THAT(plans("b", 100), ElementsAre("c"));
  EXPECT_THAT(plans("c", 100), IsEmpty());
  EXPECT_THAT(plans("", 0), IsEmpty());
}

TEST_P(StoreTest, RefusesToWriteUnderAMalformedKey) {
  Publication sample = Sample(1);
  sample.key = "short";
  EXPECT_TRUE(absl::IsInvalidArgument(store_->Publish(sample)));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->PutPlan("", "plan")));
  EXPECT_TRUE(
      absl::IsInvalidArgument(store_->PutPlan(std::string(1025, 'x'), "plan")));
  sample = Sample(1);
  sample.digest += "x";
  EXPECT_TRUE(absl::IsInvalidArgument(store_->Publish(sample)));
  EXPECT_EQ(store_->Stats().bytes, 0);
}

TEST_P(StoreTest, TouchingWhatIsNotThereIsIgnored) {
  store_->Touch(Kind::kKernel, SampleKey(1));
  store_->Touch(Kind::kPlan, "plan");
  EXPECT_EQ(store_->Stats().entries, 0);
}

TEST_P(StoreTest, FillIsAPublish) {
  const Publication sample = Sample(1);
  const Entry entry = {.record = std::make_shared<std::string>(sample.record),
                       .digest = sample.digest,
                       .object = std::make_shared<std::string>(sample.object)};
  ASSERT_TRUE(store_->Fill(sample.key, entry).ok());
  EXPECT_TRUE(Holds(*store_, sample));
}

// Four keys over two objects, written, deleted and read at once: a reader sees
// a whole entry or none.
TEST_P(StoreTest, ThreadsSeeWholeEntriesOrNone) {
  constexpr int kRounds = 300;
  std::atomic<int> broken = 0;
  const auto sample = [](int i) {
    Publication sample = Sample(i % 2, 20000);
    sample.key = SampleKey(i);
    return sample;
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const Publication own = sample(thread);
        if (!store_->Publish(own).ok() || !Holds(*store_, own)) ++broken;
        const Publication other = sample((thread + round) % 4);
        const auto seen = store_->Get(other.key);
        if (!seen.ok()) ++broken;
        if (seen.ok() && seen->has_value() &&
            *(*seen)->object != other.object) {
          ++broken;
        }
        store_->Touch(Kind::kKernel, other.key);
        if (round % 3 == 0 && !store_->Delete(own.key).value()) ++broken;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(broken, 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(Holds(*store_, sample(i))) << i;
    EXPECT_TRUE(store_->Delete(SampleKey(i)).value());
  }
  EXPECT_EQ(store_->Stats().bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, StoreTest,
    ::testing::Values(Implementation{"memory", MakeMemory},
                      Implementation{"rocksdb", MakeRocks},
                      Implementation{"checked", MakeChecked},
                      Implementation{"trusted", MakeTrusted},
                      Implementation{"tiered", MakeTiered},
                      Implementation{"counted", MakeCounted}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ingot::cache
