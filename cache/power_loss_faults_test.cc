// The machine loses power at any point of a publish, a deletion or an opening.
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/checked_store.h"
#include "cache/rocksdb_store.h"
#include "cache/scrub.h"
#include "cache/testing/faulty_file_system.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

constexpr int kRounds = 200;
constexpr uint64_t kPromiseMicros = 100000;

struct Done {
  Publication sample;
  uint64_t at = 0;  // when it was acknowledged
  bool deleted = false;
};

class PowerLossTest : public ::testing::Test {
 protected:
  PowerLossTest() {
    options_.directory = directory_ / "store";
    // Tables are written when a store is opened. In the background a failed
    // flush would sleep for a second before RocksDB gave up.
    options_.memory_bytes = 32 << 20;
    options_.env = env_.get();
    options_.now_micros = [this] { return now_; };
  }

  std::unique_ptr<Store> Open() {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(options_);
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Publishes, and deletes now and then, until the power goes. Time passes by
  // steps of less than what the store may leave unsynced.
  void Work(Store& store) {
    for (int i = 0; i < 60; ++i) {
      now_ += random_() % 30000;
      Publication sample = Sample(next_ / 2, 3000 + next_ % 5 * 7000);
      sample.key = SampleKey(next_++);
      const bool published = store.Publish(sample).ok();
      if (env_.files().powerless()) return;
      ASSERT_TRUE(published);
      done_.push_back({std::move(sample), now_});
      if (i % 5 != 4) continue;
      Done& victim = done_[random_() % done_.size()];
      const bool removed = store.Delete(victim.sample.key).ok();
      // It may be gone whether it was acknowledged or not.
      victim.deleted = true;
      victim.at = now_;
      if (env_.files().powerless()) return;
      ASSERT_TRUE(removed);
    }
  }

  // What the power left is whole, and what was promised is there.
  void Check(Store& store) {
    for (const Done& done : done_) {
      const bool promised = done.at + kPromiseMicros < now_;
      const bool holds = Holds(store, done.sample);
      EXPECT_TRUE(holds || Misses(store, done.sample.key));
      if (promised) {
        EXPECT_EQ(holds, !done.deleted);
      }
      if (!promised && holds == done.deleted) ++lost_;
    }
  }

  TempDir directory_;
  FaultyEnv env_;
  RocksOptions options_;
  std::mt19937 random_{7};
  uint64_t now_ = 1'000'000'000;
  uint64_t next_ = 0;
  std::vector<Done> done_;
  int lost_ = 0;
};

void ExpectOnlyWholeEntries(std::unique_ptr<Store> store) {
  const uint64_t entries = store->Stats().entries;
  CheckedStore checked(std::move(store), {});
  const absl::StatusOr<ScrubReport> report =
      Scrub(checked, {.bytes_per_second = 0});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->damaged + report->errors, 0);
  EXPECT_EQ(report->entries, entries);
}

TEST_F(PowerLossTest, KeepsWhatIsOlderThanTheSyncAndOnlyWholeEntries) {
  int cuts_while_opening = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    if (round % 5 == 0) {
      std::filesystem::remove_all(options_.directory);
      done_.clear();
    }
    env_.files().CutPowerAfter(random_() % (round % 4 == 0 ? 60 : 300));
    std::unique_ptr<Store> store = Open();
    if (store == nullptr || env_.files().powerless()) {
      ++cuts_while_opening;
    } else {
      Work(*store);
    }
    env_.files().CutPowerAfter(0);
    store.reset();
    env_.files().RestorePower(random_);

    store = Open();
    ASSERT_NE(store, nullptr);
    Check(*store);
    ExpectOnlyWholeEntries(std::move(store));
    // What was lost is not promised any more.
    std::erase_if(done_, [&](const Done& done) {
      return done.at + kPromiseMicros >= now_;
    });
    now_ += 2 * kPromiseMicros;
    if (HasFailure()) return;
  }
  // Else the power never went where it hurts, and nothing was tested.
  EXPECT_GT(lost_, kRounds / 2);
  EXPECT_GT(cuts_while_opening, 3);
}

}  // namespace
}  // namespace ingot::cache
