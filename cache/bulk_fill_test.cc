#include "cache/bulk_fill.h"

#include <memory>
#include <utility>

#include "cache/checked_store.h"
#include "cache/rocksdb_store.h"
#include "cache/scrub.h"
#include "cache/testing/eventually.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

TEST(BulkFillTest, AFilledStoreIsLikeAPublishedOne) {
  TempDir directory;
  const std::string path = directory / "store";
  ASSERT_TRUE(
      BulkFill({.directory = path, .entries = 2000, .object_bytes = 1024})
          .ok());
  CheckedStore store(*OpenRocksStore({.directory = path}), {});
  EXPECT_EQ(store.Stats().entries, 2000);
  EXPECT_TRUE(Holds(store, SyntheticEntry(0, 1024)));
  EXPECT_TRUE(Holds(store, SyntheticEntry(1999, 1024)));
  const ScrubReport report = *Scrub(store, {.bytes_per_second = 0});
  EXPECT_EQ(report.entries, 2000);
  EXPECT_EQ(report.damaged, 0);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(*store.Delete(SyntheticEntry(i, 0).key)) << i;
  }
  EXPECT_EQ(store.Stats().entries, 0);
  EXPECT_EQ(store.Stats().bytes, 0);
}

TEST(BulkFillTest, SharedObjectsAreStoredOnceAndEvictionIsByNumber) {
  TempDir directory;
  const std::string path = directory / "store";
  BulkFillOptions options = {.directory = path, .entries = 100};
  options.entry = [](uint64_t number) {
    Publication entry = Sample(number / 2, 10000);
    entry.key = SampleKey(1000 + number);
    return entry;
  };
  ASSERT_TRUE(BulkFill(options).ok());
  const std::unique_ptr<Store> store =
      *OpenRocksStore({.directory = path, .quota_bytes = 400000});
  EXPECT_LT(store->Stats().bytes, 520000);
  ASSERT_TRUE(store->Publish(Sample(5000)).ok());
  ASSERT_TRUE(Eventually([&] { return store->Stats().bytes <= 360000; }));
  EXPECT_TRUE(Misses(*store, SampleKey(1000)));
  EXPECT_TRUE(Holds(*store, options.entry(99)));
}

TEST(BulkFillTest, RefusesAStoreThatHoldsEntries) {
  TempDir directory;
  const std::string path = directory / "store";
  ASSERT_TRUE(BulkFill({.directory = path, .entries = 3}).ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(BulkFill({.directory = path, .entries = 3})));
}

}  // namespace
}  // namespace ingot::cache
