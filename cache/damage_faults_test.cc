// Bytes that change on the disk: the entries in them become misses and can be
// built again, all others stay.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cache/checked_store.h"
#include "cache/rocksdb_schema.h"
#include "cache/rocksdb_store.h"
#include "cache/scrub.h"
#include "cache/testing/eventually.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

constexpr int kEntries = 60;
constexpr size_t kObject = 20000;

std::unique_ptr<CheckedStore> Open(const std::string& directory) {
  // Small buffers, so that entries are in tables and not in the log alone.
  absl::StatusOr<std::unique_ptr<Store>> store =
      OpenRocksStore({.directory = directory,
                      .memory_bytes = 256 << 10,
                      .heal_period = absl::Milliseconds(20)});
  EXPECT_TRUE(store.ok()) << store.status();
  if (!store.ok()) return nullptr;
  return std::make_unique<CheckedStore>(*std::move(store), Checks{});
}

std::vector<std::string> Files(const std::string& directory,
                               const std::string& extension) {
  std::vector<std::string> found;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() == extension) {
      found.push_back(file.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void FlipByte(const std::string& path, uint64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(at);
  file.put(byte);
  ASSERT_TRUE(file.good()) << path;
}

class DamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::unique_ptr<CheckedStore> store = Open(path_);
    for (int i = 0; i < kEntries; ++i) {
      ASSERT_TRUE(store->Publish(Sample(i, kObject)).ok());
    }
  }

  // Every entry is right or a miss; the misses can be built again.
  int LostAndRebuilt() {
    const std::unique_ptr<CheckedStore> store = Open(path_);
    if (store == nullptr) return -1;
    int lost = 0;
    for (int i = 0; i < kEntries; ++i) {
      if (Holds(*store, Sample(i, kObject))) continue;
      EXPECT_TRUE(Misses(*store, SampleKey(i))) << i;
      // A compaction that meets the damage makes the store read-only for as
      // long as opening it again takes.
      EXPECT_TRUE(Eventually([&] {
        return store->Publish(Sample(i, kObject)).ok();
      })) << i;
      ++lost;
    }
    for (int i = 0; i < kEntries; ++i) {
      EXPECT_TRUE(Holds(*store, Sample(i, kObject))) << i;
    }
    return lost;
  }

  TempDir directory_;
  const std::string path_ = directory_ / "store";
};

TEST_F(DamageTest, ABlobsEntryIsDroppedAndNoOther) {
  const std::vector<std::string> blobs = Files(path_, ".blob");
  ASSERT_FALSE(blobs.empty());
  FlipByte(blobs.front(), std::filesystem::file_size(blobs.front()) / 2);
  {
    const std::unique_ptr<CheckedStore> store = Open(path_);
    ASSERT_NE(store, nullptr);
    const absl::StatusOr<ScrubReport> report =
        Scrub(*store, {.bytes_per_second = 0});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->damaged, 1);
    EXPECT_EQ(report->entries, kEntries - 1);
    // Where a compaction met the damage first, the store is read-only until it
    // has been opened again, and the next read drops the entry.
    EXPECT_TRUE(Eventually([&] {
      return Scrub(*store, {.bytes_per_second = 0}).ok() &&
             store->Stats().entries == kEntries - 1;
    }));
  }
  EXPECT_EQ(LostAndRebuilt(), 1);
}

TEST_F(DamageTest, ATruncatedBlobFileCostsItsEntries) {
  const std::vector<std::string> blobs = Files(path_, ".blob");
  ASSERT_FALSE(blobs.empty());
  std::filesystem::resize_file(blobs.front(),
                               std::filesystem::file_size(blobs.front()) / 2);
  const int lost = LostAndRebuilt();
  EXPECT_GT(lost, 0);
}

TEST_F(DamageTest, ADamagedLogCostsItsTail) {
  const std::vector<std::string> logs = Files(path_, ".log");
  ASSERT_FALSE(logs.empty());
  const uint64_t size = std::filesystem::file_size(logs.back());
  ASSERT_GT(size, 1000);
  FlipByte(logs.back(), size / 2);
  const int lost = LostAndRebuilt();
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, kEntries);
}

TEST_F(DamageTest, AMissingFileDoesNotKeepTheStoreFromOpening) {
  const std::vector<std::string> tables = Files(path_, ".sst");
  ASSERT_FALSE(tables.empty());
  std::filesystem::remove(tables.front());
  // It may have held nothing but bookkeeping.
  EXPECT_GE(LostAndRebuilt(), 0);
}

// Any byte of any file, one at a time.
TEST_F(DamageTest, NoSingleByteCostsMoreThanMisses) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 25; ++round) {
    std::vector<std::string> files = Files(path_, ".blob");
    for (const char* extension : {".sst", ".log"}) {
      for (std::string& file : Files(path_, extension)) {
        files.push_back(std::move(file));
      }
    }
    const std::string& victim = files[random() % files.size()];
    const uint64_t size = std::filesystem::file_size(victim);
    if (size == 0) continue;
    FlipByte(victim, random() % size);
    ASSERT_GE(LostAndRebuilt(), 0) << victim;
  }
}

TEST(DecodeTest, RandomBytesAreRefusedOrWithinTheirBounds) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (!bytes.empty() && i % 2 == 0) bytes[0] = static_cast<char>(i / 2 % 3);
    const auto within = [&](absl::string_view part) {
      return part.data() >= bytes.data() &&
             part.data() + part.size() <= bytes.data() + bytes.size();
    };
    const auto record = DecodeRecord(bytes);
    if (record.has_value()) {
      ASSERT_EQ(EncodeRecord(*record), bytes);
      ASSERT_TRUE(within(record->digest) && within(record->record));
    }
    const auto plan = DecodePlan(bytes);
    if (plan.has_value()) {
      ASSERT_EQ(EncodePlan(*plan), bytes);
    }
    const auto access = DecodeAccess(bytes);
    if (access.has_value()) {
      ASSERT_EQ(EncodeAccess(*access), bytes);
    }
    const auto place = DecodeLruKey(bytes);
    if (place.has_value()) {
      ASSERT_EQ(EncodeLruKey(place->access, place->id), bytes);
    }
  }
}

TEST(DecodeTest, OrderOfPlacesIsOrderOfTime) {
  const std::string id = EntryId(Kind::kKernel, SampleKey(1));
  const std::string early = EncodeLruKey({.micros = 255}, id);
  const std::string late = EncodeLruKey({.micros = 256}, id);
  const std::string pinned =
      EncodeLruKey({.cls = Class::kPinned, .micros = 1}, id);
  EXPECT_LT(early, late);
  EXPECT_LT(late, pinned);
}

}  // namespace
}  // namespace ingot::cache
