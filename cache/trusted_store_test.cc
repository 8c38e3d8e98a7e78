// What nobody vouches for neither goes in nor comes out, and is asked about
// once.
#include "cache/trusted_store.h"

#include <memory>
#include <string>
#include <vector>

#include "cache/memory_store.h"
#include "cache/testing/samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TrustedStoreTest : public ::testing::Test {
 protected:
  TrustedStoreTest() {
    auto below = std::make_unique<MemoryStore>(MemoryOptions{});
    below_ = below.get();
    Vouching vouching;
    vouching.record = [this](absl::string_view, absl::string_view bytes) {
      return Judge(bytes);
    };
    vouching.plan = vouching.record;
    vouching.on_refused = [this](absl::string_view key,
                                 const absl::Status& why) {
      refused_.push_back(std::string(key));
      why_ = why;
    };
    store_ = std::make_unique<TrustedStore>(std::move(below), vouching);
  }

  absl::Status Judge(absl::string_view bytes) {
    ++asked_;
    return bytes == distrusted_ ? absl::FailedPreconditionError("a stranger")
                                : absl::OkStatus();
  }

  std::string distrusted_ = "nothing";
  int asked_ = 0;
  std::vector<std::string> refused_;
  absl::Status why_;
  MemoryStore* below_;
  std::unique_ptr<TrustedStore> store_;
};

TEST_F(TrustedStoreTest, NothingDistrustedGoesIn) {
  const Publication sample = Sample(1);
  distrusted_ = sample.record;
  const absl::Status status = store_->Publish(sample);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("a stranger"));
  EXPECT_EQ(below_->Stats().entries, 0);
  distrusted_ = "a plan";
  EXPECT_TRUE(absl::IsInvalidArgument(store_->PutPlan("key", "a plan")));
  EXPECT_EQ(below_->GetPlan("key").value(), std::nullopt);
}

TEST_F(TrustedStoreTest, NothingDistrustedComesOutAndItStaysWhereItIs) {
  const Publication sample = Sample(1);
  ASSERT_TRUE(below_->Publish(sample).ok());
  ASSERT_TRUE(below_->PutPlan("key", sample.record).ok());
  distrusted_ = sample.record;
  EXPECT_TRUE(Misses(*store_, sample.key));
  EXPECT_EQ(store_->GetRecord(sample.key).value(), std::nullopt);
  EXPECT_EQ(store_->GetPlan("key").value(), std::nullopt);
  EXPECT_THAT(refused_, ElementsAre(sample.key, sample.key, "key"));
  EXPECT_EQ(why_.message(), "a stranger");
  EXPECT_TRUE(Holds(*below_, sample));
  // What is made in its place is another record.
  Publication rebuilt = sample;
  rebuilt.record = "rebuilt";
  ASSERT_TRUE(store_->Publish(rebuilt).ok());
  EXPECT_TRUE(Holds(*store_, rebuilt));
}

TEST_F(TrustedStoreTest, WhatPassedIsNotAskedAboutAgain) {
  const Publication sample = Sample(1);
  ASSERT_TRUE(below_->Publish(sample).ok());
  ASSERT_TRUE(below_->PutPlan(sample.key, sample.record).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Holds(*store_, sample));
    EXPECT_TRUE(store_->GetRecord(sample.key).value().has_value());
    EXPECT_TRUE(store_->GetPlan(sample.key).value().has_value());
  }
  EXPECT_EQ(asked_, 2);  // the kernel's record, and the plan
  // Other bytes under the same key are others.
  Publication swapped = sample;
  swapped.record = "swapped";
  ASSERT_TRUE(below_->Publish(swapped).ok());
  distrusted_ = swapped.record;
  EXPECT_TRUE(Misses(*store_, sample.key));
  // And they do not pass by having passed under another.
  Publication moved = Sample(2);
  moved.record = sample.record;
  ASSERT_TRUE(below_->Publish(moved).ok());
  distrusted_ = moved.record;
  EXPECT_TRUE(Misses(*store_, moved.key));
}

TEST_F(TrustedStoreTest, WhatFailedIsAskedAboutAgain) {
  const Publication sample = Sample(1);
  ASSERT_TRUE(below_->Publish(sample).ok());
  distrusted_ = sample.record;
  EXPECT_TRUE(Misses(*store_, sample.key));
  distrusted_ = "nothing";
  EXPECT_TRUE(Holds(*store_, sample));
}

TEST_F(TrustedStoreTest, ReconsiderAsksAboutEverythingAgain) {
  const Publication sample = Sample(1);
  ASSERT_TRUE(below_->Publish(sample).ok());
  EXPECT_TRUE(Holds(*store_, sample));
  distrusted_ = sample.record;
  EXPECT_TRUE(Holds(*store_, sample));
  store_->Reconsider();
  EXPECT_TRUE(Misses(*store_, sample.key));
}

}  // namespace
}  // namespace ingot::cache
