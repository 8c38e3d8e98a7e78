#include "cache/scrub.h"

#include <memory>
#include <utility>

#include "cache/checked_store.h"
#include "cache/memory_store.h"
#include "cache/testing/faulty_store.h"
#include "cache/testing/samples.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

class ScrubTest : public ::testing::Test {
 protected:
  ScrubTest() {
    auto below = std::make_unique<FaultyStore>(
        std::make_unique<MemoryStore>(MemoryOptions{}));
    below_ = below.get();
    store_ = std::make_unique<CheckedStore>(std::move(below), Checks{});
    for (int i = 0; i < 600; ++i) {
      EXPECT_TRUE(store_->Publish(Sample(i, 1000)).ok());
    }
  }

  FaultyStore* below_;
  std::unique_ptr<CheckedStore> store_;
};

TEST_F(ScrubTest, ReadsEverythingOnce) {
  const ScrubReport report = *Scrub(*store_, {.bytes_per_second = 0});
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.entries, 600);
  EXPECT_GT(report.bytes, 600000);
  EXPECT_EQ(report.damaged + report.errors, 0);
}

TEST_F(ScrubTest, CountsWhatTheStoreDropped) {
  below_->Mutate([](Entry& entry) {
    if (*entry.record == "record 7") {
      entry.object = std::make_shared<std::string>("torn");
    }
  });
  const ScrubReport report = *Scrub(*store_, {.bytes_per_second = 0});
  EXPECT_EQ(report.damaged, 1);
  EXPECT_EQ(report.entries, 599);
  EXPECT_EQ(store_->Stats().entries, 599);
}

TEST_F(ScrubTest, KeepsToItsRate) {
  absl::Time now = absl::UnixEpoch();
  ScrubOptions options = {.bytes_per_second = 100000};
  options.now = [&] { return now; };
  options.sleep = [&](absl::Duration time) { now += time; };
  const ScrubReport report = *Scrub(*store_, options);
  const double seconds = absl::ToDoubleSeconds(now - absl::UnixEpoch());
  EXPECT_NEAR(seconds, static_cast<double>(report.bytes) / 100000, 0.1);
}

TEST_F(ScrubTest, GoesOnWhereItWasCancelled) {
  int budget = 250;
  ScrubOptions options = {.bytes_per_second = 0};
  options.cancelled = [&] { return budget-- == 0; };
  const ScrubReport first = *Scrub(*store_, options);
  EXPECT_FALSE(first.complete);
  EXPECT_EQ(first.entries, 250);
  const ScrubReport second =
      *Scrub(*store_, {.bytes_per_second = 0, .after = first.last});
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.entries, 350);
}

TEST_F(ScrubTest, TellsOfAFailedScan) {
  below_->FailWith(absl::InternalError("disk"));
  EXPECT_FALSE(Scrub(*store_, {}).ok());
}

}  // namespace
}  // namespace ingot::cache
