// What is invalid stays out; what is damaged becomes a miss, once.
#include "cache/checked_store.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/memory_store.h"
#include "cache/testing/faulty_store.h"
#include "cache/testing/samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

using ::testing::HasSubstr;

class CheckedStoreTest : public ::testing::Test {
 protected:
  CheckedStoreTest() {
    auto below = std::make_unique<FaultyStore>(
        std::make_unique<MemoryStore>(MemoryOptions{}));
    below_ = below.get();
    Checks checks;
    checks.entry = [this](absl::string_view, absl::string_view record,
                          absl::string_view, absl::string_view) {
      return record == forbidden_ ? absl::FailedPreconditionError("forbidden")
                                  : absl::OkStatus();
    };
    checks.plan = [this](absl::string_view, absl::string_view plan) {
      return plan == forbidden_ ? absl::FailedPreconditionError("forbidden")
                                : absl::OkStatus();
    };
    checks.on_damage = [this](absl::string_view key, const absl::Status& why) {
      damage_.push_back(std::string(key));
      why_ = why;
    };
    store_ = std::make_unique<CheckedStore>(std::move(below), checks);
  }

  std::string forbidden_ = "forbidden";
  std::vector<std::string> damage_;
  absl::Status why_;
  FaultyStore* below_;
  std::unique_ptr<CheckedStore> store_;
};

TEST_F(CheckedStoreTest, RefusesAWrongDigest) {
  Publication sample = Sample(1);
  sample.object[0] ^= 1;
  const absl::Status status = store_->Publish(sample);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("SHA-256"));
  EXPECT_EQ(store_->Stats().entries, 0);
}

TEST_F(CheckedStoreTest, RefusesWhatTheValidityFunctionRefuses) {
  Publication sample = Sample(1);
  sample.record = "forbidden";
  EXPECT_TRUE(absl::IsInvalidArgument(store_->Publish(sample)));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->PutPlan("plan", "forbidden")));
  EXPECT_EQ(store_->Stats().bytes, 0);
}

TEST_F(CheckedStoreTest, DropsCountsAndReportsADamagedObject) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  ASSERT_TRUE(store_->Publish(Sample(2)).ok());
  below_->Mutate([](Entry& entry) {
    std::string object(*entry.object);
    object[object.size() / 2] ^= 4;
    entry.object = std::make_shared<std::string>(object);
  });
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_EQ(damage_, std::vector<std::string>{SampleKey(1)});
  EXPECT_TRUE(absl::IsDataLoss(why_));
  below_->Mutate(nullptr);
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));  // gone below, too
  EXPECT_TRUE(Holds(*store_, Sample(2)));
  EXPECT_EQ(store_->Stats().damaged, 1);
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  EXPECT_TRUE(Holds(*store_, Sample(1)));
}

TEST_F(CheckedStoreTest, FindsDamageThatCameAfterAGoodRead) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_TRUE(store_->GetObject(Sample(1).digest).value().has_value());
  below_->Mutate([](Entry& entry) {
    std::string record(*entry.record);
    record[0] ^= 1;
    entry.record = std::make_shared<std::string>(record);
    std::string object(*entry.object);
    object.back() ^= 1;
    entry.object = std::make_shared<std::string>(object);
  });
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_EQ(store_->Stats().damaged, 1);
}

TEST_F(CheckedStoreTest, DropsWhatIsNoLongerValid) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  ASSERT_TRUE(store_->PutPlan("plan", "old plan").ok());
  forbidden_ = Sample(1).record;
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  forbidden_ = "old plan";
  EXPECT_EQ(store_->GetPlan("plan").value(), std::nullopt);
  EXPECT_EQ(store_->Stats().damaged, 2);
  EXPECT_EQ(store_->Stats().entries, 0);
}

TEST_F(CheckedStoreTest, ADamagedObjectByDigestIsAMiss) {
  Publication lie = Sample(1);
  lie.object = "something else";
  ASSERT_TRUE(below_->Publish(lie).ok());
  EXPECT_EQ(store_->GetObject(lie.digest).value(), std::nullopt);
  EXPECT_EQ(store_->Stats().damaged, 1);
}

TEST_F(CheckedStoreTest, DataLossBelowIsAMissEvenIfItCannotBeDropped) {
  below_->FailWith(absl::DataLossError("bad block"));
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_EQ(store_->GetRecord(SampleKey(1)).value(), std::nullopt);
  EXPECT_EQ(store_->GetPlan("plan").value(), std::nullopt);
  EXPECT_EQ(store_->Stats().damaged, 3);
}

TEST_F(CheckedStoreTest, AnotherErrorStaysAnError) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  below_->FailWith(absl::UnavailableError("busy"));
  EXPECT_TRUE(absl::IsUnavailable(store_->Get(SampleKey(1)).status()));
  below_->FailWith(absl::OkStatus());
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_EQ(store_->Stats().damaged, 0);
}

TEST_F(CheckedStoreTest, KeepsAnEntryThatWasRebuiltMeanwhile) {
  ASSERT_TRUE(store_->Publish(Sample(1)).ok());
  below_->Mutate([](Entry& entry) {
    entry.object = std::make_shared<std::string>("torn");
  });
  // Between the damaged read and its dropping somebody publishes it whole.
  below_->AfterNextGet([this] {
    below_->Mutate(nullptr);
    EXPECT_TRUE(store_->Publish(Sample(1)).ok());
  });
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  EXPECT_EQ(store_->Stats().damaged, 0);
}

}  // namespace
}  // namespace ingot::cache
