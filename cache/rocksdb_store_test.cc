// What the RocksDB store promises beyond Store: it survives a restart, keeps
// within its limits, and is owned by one process.
#include "cache/rocksdb_store.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cache/checked_store.h"
#include "cache/rocksdb_database.h"
#include "cache/rocksdb_schema.h"
#include "cache/testing/eventually.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::string> Pinned(Store& store) {
  std::vector<std::string> keys;
  EXPECT_TRUE(store
                  .Scan("", 100,
                        [&](const ScanEntry& entry) {
                          if (entry.pinned) keys.push_back(entry.key);
                          return true;
                        })
                  .ok());
  return keys;
}

class RocksStoreTest : public ::testing::Test {
 protected:
  RocksStoreTest() {
    options_.directory = directory_ / "store";
    options_.now_micros = [this] { return now_micros_.load(); };
    options_.free_bytes = [this] { return free_bytes_.load(); };
    options_.heal_period = absl::Milliseconds(5);
    options_.recency_period = absl::Milliseconds(5);
    options_.recency_resolution = absl::ZeroDuration();
    options_.log = [this](absl::string_view line) {
      absl::MutexLock lock(&mutex_);
      absl::StrAppend(&log_, line, "\n");
    };
  }

  void Open() {
    store_.reset();
    absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(options_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  void PublishAt(uint64_t micros, const Publication& sample) {
    now_micros_ = micros;
    ASSERT_TRUE(store_->Publish(sample).ok());
  }

  void TouchAt(uint64_t micros, Kind kind, const std::string& key) {
    now_micros_ = micros;
    store_->Touch(kind, key);
  }

  // As a later build would.
  void AddFamily(const std::string& name) {
    std::vector<std::string> names;
    ASSERT_TRUE(
        rocksdb::DB::ListColumnFamilies({}, options_.directory, &names).ok());
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& known : names) {
      families.emplace_back(known, rocksdb::ColumnFamilyOptions());
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(
        rocksdb::DB::Open({}, options_.directory, families, &handles, &db)
            .ok());
    handles.push_back(nullptr);
    ASSERT_TRUE(db->CreateColumnFamily({}, name, &handles.back()).ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      db->DestroyColumnFamilyHandle(handle);
    }
    delete db;
  }

  std::string log() {
    absl::MutexLock lock(&mutex_);
    return log_;
  }

  TempDir directory_;
  std::atomic<uint64_t> now_micros_{1000000};
  std::atomic<uint64_t> free_bytes_{1 << 30};
  absl::Mutex mutex_;
  std::string log_ ABSL_GUARDED_BY(mutex_);
  RocksOptions options_;
  std::unique_ptr<Store> store_;
};

TEST_F(RocksStoreTest, KeepsEverythingAcrossARestart) {
  Open();
  for (int i = 0; i < 20; ++i) PublishAt(i, Sample(i));
  ASSERT_TRUE(store_->PutPlan("plan", "a plan").ok());
  ASSERT_TRUE(store_->Delete(SampleKey(7)).value());
  const StoreStats before = store_->Stats();
  Open();
  EXPECT_EQ(store_->Stats().entries, 19);
  EXPECT_EQ(store_->Stats().bytes, before.bytes);
  for (int i = 0; i < 20; ++i) {
    if (i == 7) continue;
    EXPECT_TRUE(Holds(*store_, Sample(i))) << i;
  }
  EXPECT_TRUE(Misses(*store_, SampleKey(7)));
  EXPECT_EQ(**store_->GetPlan("plan").value(), "a plan");
}

TEST_F(RocksStoreTest, TellsASecondOpenerWhoHasIt) {
  Open();
  const absl::Status second = OpenRocksStore(options_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(second)) << second;
  EXPECT_THAT(std::string(second.message()),
              AllOf(HasSubstr(options_.directory),
                    HasSubstr(absl::StrCat("process ", getpid()))));
  store_.reset();
  EXPECT_TRUE(OpenRocksStore(options_).ok());
}

TEST_F(RocksStoreTest, RefusesASchemaThatNeedsALaterBuild) {
  {
    const auto database = *RocksDatabase::Open(options_);
    rocksdb::WriteBatch batch;
    batch.Put(database->family(Family::kMeta), kSchemaKey,
              EncodeSchema({kSchemaVersion + 2, kSchemaVersion + 1}));
    ASSERT_TRUE(database->Write(batch).ok());
  }
  const absl::Status status = OpenRocksStore(options_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("has schema 3"));
}

TEST_F(RocksStoreTest, ReadsALaterSchemaThatStillAllowsIt) {
  Open();
  PublishAt(1, Sample(1));
  store_.reset();
  AddFamily("a_later_family");
  {
    const auto database = *RocksDatabase::Open(options_);
    rocksdb::WriteBatch batch;
    batch.Put(database->family(Family::kMeta), kSchemaKey,
              EncodeSchema({kSchemaVersion + 1, kSchemaVersion}) + "more");
    ASSERT_TRUE(database->Write(batch).ok());
  }
  Open();
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  store_.reset();
  // The later build finds its version where it left it.
  const auto database = *RocksDatabase::Open(options_);
  std::string value;
  ASSERT_TRUE(*database->Get(Family::kMeta, kSchemaKey, &value));
  EXPECT_EQ(DecodeSchema(value)->version, kSchemaVersion + 1);
}

TEST_F(RocksStoreTest, EvictsTheLeastRecentlyUsedDownToTheWatermark) {
  constexpr size_t kBytes = 10000;
  options_.quota_bytes = 10 * kBytes + 5000;
  options_.low_watermark = 0.6;
  Open();
  for (int i = 0; i < 10; ++i) PublishAt(100 + i, Sample(i, kBytes));
  EXPECT_EQ(store_->Stats().evictions, 0);
  TouchAt(500, Kind::kKernel, SampleKey(0));
  TouchAt(501, Kind::kKernel, SampleKey(3));
  PublishAt(502, Sample(10, kBytes));
  ASSERT_TRUE(Eventually([&] { return store_->Stats().evictions >= 5; }));
  for (int i : {0, 3, 7, 8, 9, 10}) {
    EXPECT_TRUE(Holds(*store_, Sample(i, kBytes))) << i;
  }
  for (int i : {1, 2, 4, 5, 6}) EXPECT_TRUE(Misses(*store_, SampleKey(i))) << i;
  EXPECT_EQ(store_->Stats().evictions, 5);
  EXPECT_LE(store_->Stats().bytes, 63000);
}

TEST_F(RocksStoreTest, WhatIsPinnedSurvivesEviction) {
  constexpr size_t kBytes = 10000;
  options_.quota_bytes = 10 * kBytes + 5000;
  options_.low_watermark = 0.6;
  Open();
  for (int i = 0; i < 10; ++i) PublishAt(100 + i, Sample(i, kBytes));
  EXPECT_TRUE(*store_->SetPinned(SampleKey(1), true));
  EXPECT_TRUE(*store_->SetPinned(SampleKey(2), true));
  EXPECT_FALSE(*store_->SetPinned(SampleKey(99), true));
  // A pin outlives a restart and a rebuild, and ends when it is taken off.
  Open();
  PublishAt(200, Sample(1, kBytes));
  EXPECT_TRUE(*store_->SetPinned(SampleKey(2), false));
  EXPECT_EQ(Pinned(*store_), std::vector<std::string>{SampleKey(1)});
  for (int i = 10; i < 40; ++i) PublishAt(300 + i, Sample(i, kBytes));
  ASSERT_TRUE(Eventually(
      [&] { return store_->Stats().bytes <= options_.quota_bytes; }));
  EXPECT_TRUE(Holds(*store_, Sample(1, kBytes)));
  EXPECT_TRUE(Misses(*store_, SampleKey(2)));
  // Deleting is no eviction, and forgets the pin.
  EXPECT_TRUE(*store_->Delete(SampleKey(1)));
  PublishAt(400, Sample(1, kBytes));
  EXPECT_TRUE(Pinned(*store_).empty());
}

TEST_F(RocksStoreTest, APinOutlivesDamage) {
  Open();
  bool valid = true;
  Checks checks;
  checks.entry = [&](absl::string_view, absl::string_view, absl::string_view,
                     absl::string_view) {
    return valid ? absl::OkStatus() : absl::DataLossError("damaged");
  };
  CheckedStore store(std::move(store_), checks);
  const auto damage = [&] {
    valid = false;
    EXPECT_TRUE(Misses(store, SampleKey(1)));
    valid = true;
    EXPECT_EQ(store.Stats().entries, 0);
  };
  ASSERT_TRUE(store.Publish(Sample(1)).ok());
  EXPECT_TRUE(*store.SetPinned(SampleKey(1), true));
  damage();
  ASSERT_TRUE(store.Publish(Sample(1)).ok());
  EXPECT_EQ(Pinned(store), std::vector<std::string>{SampleKey(1)});
  // A pin that waits for its entry can be taken off, once.
  damage();
  EXPECT_TRUE(*store.SetPinned(SampleKey(1), false));
  EXPECT_FALSE(*store.SetPinned(SampleKey(1), false));
  ASSERT_TRUE(store.Publish(Sample(1)).ok());
  EXPECT_TRUE(Pinned(store).empty());
  damage();
  EXPECT_FALSE(*store.SetPinned(SampleKey(1), true));
}

TEST_F(RocksStoreTest, UsesCountAcrossARestart) {
  constexpr size_t kBytes = 10000;
  options_.quota_bytes = 10 * kBytes + 5000;
  options_.low_watermark = 0.9;
  Open();
  for (int i = 0; i < 10; ++i) PublishAt(100 + i, Sample(i, kBytes));
  TouchAt(500, Kind::kKernel, SampleKey(0));
  Open();
  // A clock that was set back does not make new entries the oldest.
  PublishAt(1, Sample(10, kBytes));
  ASSERT_TRUE(Eventually([&] { return store_->Stats().evictions >= 2; }));
  EXPECT_TRUE(Holds(*store_, Sample(0, kBytes)));
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_TRUE(Misses(*store_, SampleKey(2)));
  EXPECT_TRUE(Holds(*store_, Sample(10, kBytes)));
}

TEST_F(RocksStoreTest, EvictionKeepsAnObjectThatAYoungerKeyNames) {
  constexpr size_t kBytes = 10000;
  options_.quota_bytes = 3 * kBytes + 5000;
  options_.low_watermark = 0.9;
  Open();
  Publication sharer = Sample(1, kBytes);
  sharer.key = SampleKey(99);
  PublishAt(100, Sample(1, kBytes));
  PublishAt(101, Sample(2, kBytes));
  PublishAt(102, Sample(3, kBytes));
  PublishAt(103, sharer);
  PublishAt(104, Sample(4, kBytes));
  ASSERT_TRUE(Eventually([&] { return store_->Stats().evictions >= 2; }));
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_TRUE(Misses(*store_, SampleKey(2)));
  EXPECT_TRUE(Holds(*store_, sharer));
}

TEST_F(RocksStoreTest, PlansAreEvictedToo) {
  options_.quota_bytes = 100000;
  options_.low_watermark = 0.5;
  Open();
  for (int i = 0; i < 50; ++i) {
    now_micros_ = 100 + i;
    ASSERT_TRUE(
        store_->PutPlan(absl::StrCat("plan ", i), std::string(2500, 'p')).ok());
  }
  ASSERT_TRUE(Eventually([&] { return store_->Stats().bytes <= 100000; }));
  EXPECT_EQ(store_->GetPlan("plan 0").value(), std::nullopt);
  EXPECT_NE(store_->GetPlan("plan 49").value(), std::nullopt);
}

TEST_F(RocksStoreTest, WritersCannotOutrunEviction) {
  options_.quota_bytes = 1 << 20;
  Open();
  for (int i = 0; i < 500; ++i) {
    PublishAt(100 + i, Sample(i, 20000));
    ASSERT_LE(store_->Stats().bytes, options_.quota_bytes * 5 / 4 + 20200);
  }
  EXPECT_TRUE(Holds(*store_, Sample(499, 20000)));
}

TEST_F(RocksStoreTest, DropsWhatCanNeverFit) {
  options_.quota_bytes = 10000;
  Open();
  PublishAt(100, Sample(1, 1000));
  const absl::Status status = store_->Publish(Sample(2, 20000));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(store_->Stats().dropped_writes, 1);
  EXPECT_FALSE(store_->Stats().read_only);
  EXPECT_TRUE(Holds(*store_, Sample(1, 1000)));
}

TEST_F(RocksStoreTest, BelowTheFloorItIsReadOnlyUntilSpaceReturns) {
  options_.free_floor_bytes = 1 << 20;
  Open();
  PublishAt(100, Sample(1));
  free_bytes_ = 1000;
  EXPECT_TRUE(absl::IsResourceExhausted(store_->Publish(Sample(2))));
  EXPECT_TRUE(store_->Stats().read_only);
  EXPECT_EQ(store_->Stats().dropped_writes, 1);
  EXPECT_TRUE(Holds(*store_, Sample(1)));
  free_bytes_ = 1 << 30;
  ASSERT_TRUE(Eventually([&] { return !store_->Stats().read_only; }));
  EXPECT_TRUE(store_->Publish(Sample(2)).ok());
  EXPECT_TRUE(Holds(*store_, Sample(2)));
  // Small as it is, emptying the store would not have brought the space back.
  EXPECT_EQ(store_->Stats().evictions, 0);
  EXPECT_THAT(log(),
              AllOf(HasSubstr("read-only"), HasSubstr("writable again")));
}

TEST_F(RocksStoreTest, ADirectoryTooDamagedToOpenIsSetAside) {
  Open();
  PublishAt(100, Sample(1));
  store_.reset();
  std::ofstream(options_.directory + "/CURRENT") << "nonsense\n";
  Open();
  EXPECT_TRUE(Misses(*store_, SampleKey(1)));
  EXPECT_TRUE(store_->Publish(Sample(2)).ok());
  EXPECT_TRUE(std::filesystem::exists(options_.directory + "/damaged/CURRENT"));
  EXPECT_THAT(log(), HasSubstr("set aside"));
  Open();
  EXPECT_TRUE(Holds(*store_, Sample(2)));
}

TEST_F(RocksStoreTest, SaysWhyADirectoryCannotBeMade) {
  std::ofstream(directory_ / "file") << "x";
  options_.directory = directory_ / "file/store";
  const absl::Status status = OpenRocksStore(options_).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(options_.directory));
}

}  // namespace
}  // namespace ingot::cache
