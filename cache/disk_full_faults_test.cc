// A full disk: reads go on, writes are dropped and counted, and writing resumes
// by itself once there is space again.
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "cache/rocksdb_store.h"
#include "cache/testing/eventually.h"
#include "cache/testing/faulty_file_system.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

constexpr size_t kObject = 1 << 18;

std::unique_ptr<Store> Open(RocksOptions options) {
  options.heal_period = absl::Milliseconds(20);
  absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

// Publishes until a write is dropped; the number of entries that were stored.
int FillUp(Store& store, int first, int limit) {
  int stored = 0;
  while (stored < limit &&
         store.Publish(Sample(first + stored, kObject)).ok()) {
    ++stored;
  }
  return stored;
}

void ExpectHolds(Store& store, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    EXPECT_TRUE(Holds(store, Sample(i, kObject))) << i;
  }
}

TEST(DiskFullTest, HealsWhenWritesSucceedAgain) {
  TempDir directory;
  FaultyEnv env;
  RocksOptions options = {.directory = directory / "store", .env = env.get()};
  {
    const std::unique_ptr<Store> store = Open(options);
    ASSERT_NE(store, nullptr);
    for (int round = 0; round < 5; ++round) {
      ASSERT_EQ(FillUp(*store, 10 * round, 9), 9);
      env.files().SetFull(true);
      EXPECT_TRUE(absl::IsResourceExhausted(
          store->Publish(Sample(10 * round + 9, kObject))));
      EXPECT_TRUE(store->Stats().read_only);
      ExpectHolds(*store, 10 * round, 9);
      env.files().SetFull(false);
      ASSERT_TRUE(Eventually([&] { return !store->Stats().read_only; }));
    }
    EXPECT_GE(store->Stats().dropped_writes, 5);
  }
  const std::unique_ptr<Store> store = Open(options);
  ASSERT_NE(store, nullptr);
  for (int round = 0; round < 5; ++round) ExpectHolds(*store, 10 * round, 9);
}

TEST(DiskFullTest, BelowTheFloorItEvictsWhenThatCanHelp) {
  TempDir directory;
  constexpr uint64_t kDisk = 24 << 20;
  const std::string path = directory / "store";
  RocksOptions options = {
      .directory = path, .free_floor_bytes = 4 << 20, .memory_bytes = 8 << 20};
  options.free_bytes = [path] {
    uint64_t used = 0;
    std::error_code ignored;
    for (const auto& file :
         std::filesystem::directory_iterator(path, ignored)) {
      const uint64_t size = file.file_size(ignored);
      if (!ignored) used += size;
    }
    return used < kDisk ? kDisk - used : 0;
  };
  const std::unique_ptr<Store> store = Open(options);
  ASSERT_NE(store, nullptr);
  int dropped = 0;
  for (int i = 0; i < 200; ++i) {
    if (store->Publish(Sample(i, kObject)).ok()) continue;
    ++dropped;
    ASSERT_TRUE(Eventually([&] { return !store->Stats().read_only; })) << i;
  }
  EXPECT_GT(dropped, 0);
  EXPECT_LT(dropped, 100);
  EXPECT_GT(store->Stats().evictions, 50);
  EXPECT_TRUE(Misses(*store, SampleKey(0)));
}

// A real file system of 48 MiB; needs the right to mount one.
class SmallDisk {
 public:
  SmallDisk() {
    mounted_ =
        mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=48m") == 0;
    if (!mounted_) why_ = std::strerror(errno);
  }
  ~SmallDisk() {
    if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string& why() const { return why_; }
  std::string operator/(const std::string& name) const {
    return directory_ / name;
  }

 private:
  TempDir directory_;
  bool mounted_ = false;
  std::string why_;
};

TEST(DiskFullTest, ARealFullFileSystemHealsToo) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << disk.why();
  const RocksOptions options = {.directory = disk / "store",
                                .memory_bytes = 8 << 20};
  const std::string ballast = disk / "ballast";
  {
    const std::unique_ptr<Store> store = Open(options);
    ASSERT_NE(store, nullptr);
    ASSERT_EQ(FillUp(*store, 0, 20), 20);
    {
      std::ofstream file(ballast, std::ios::binary);
      const std::string block(1 << 16, 'x');
      while (file.write(block.data(), block.size()).flush()) {
      }
    }
    const int more = FillUp(*store, 20, 1000);
    EXPECT_LT(more, 1000);
    EXPECT_TRUE(store->Stats().read_only);
    ExpectHolds(*store, 0, 20 + more);
    std::filesystem::remove(ballast);
    ASSERT_TRUE(Eventually([&] { return !store->Stats().read_only; }));
    ASSERT_EQ(FillUp(*store, 1020, 20), 20);
    ExpectHolds(*store, 0, 20);
  }
  const std::unique_ptr<Store> store = Open(options);
  ASSERT_NE(store, nullptr);
  ExpectHolds(*store, 0, 20);
  ExpectHolds(*store, 1020, 20);
}

// The disk is smaller than the quota: the floor is what keeps it from filling.
TEST(DiskFullTest, ADiskSmallerThanTheQuotaKeepsServing) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << disk.why();
  const std::unique_ptr<Store> store = Open({.directory = disk / "store",
                                             .quota_bytes = uint64_t{1} << 30,
                                             .free_floor_bytes = 12 << 20,
                                             .memory_bytes = 8 << 20});
  ASSERT_NE(store, nullptr);
  int stored = 0;
  for (int i = 0; i < 400; ++i) {
    if (store->Publish(Sample(i, kObject)).ok()) {
      ++stored;
      EXPECT_TRUE(Holds(*store, Sample(i, kObject)));
    } else {
      ASSERT_TRUE(Eventually([&] { return !store->Stats().read_only; })) << i;
    }
  }
  // Space for a fifth of them, and every eviction makes room for many.
  EXPECT_GT(stored, 360);
  EXPECT_GT(store->Stats().evictions, 100);
}

}  // namespace
}  // namespace ingot::cache
