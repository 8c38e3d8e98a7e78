// RocksDB as the store uses it: families, options, opening and its mishaps.
#ifndef INGOT_CACHE_ROCKSDB_DATABASE_H_
#define INGOT_CACHE_ROCKSDB_DATABASE_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cache/directory_lock.h"
#include "cache/rocksdb_store.h"
#include "proto/status.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace ingot::cache {

enum class Family : uint8_t {
  kMeta,
  kRecords,
  kObjects,
  kRefs,
  kPlans,
  kAccess,
  kLru,
};
inline constexpr size_t kFamilies = 7;

inline rocksdb::Slice ToSlice(absl::string_view view) {
  return {view.data(), view.size()};
}
inline absl::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// kDataLoss for damage, kResourceExhausted for a full disk, else kInternal.
absl::Status ToStatus(const rocksdb::Status& status);

// The options of one family; also what an SST file for it is written with.
rocksdb::Options FamilyOptions(const RocksOptions& options, Family family);

// Thread-safe. Not copyable; closes RocksDB, then gives the directory free.
class RocksDatabase {
 public:
  static absl::StatusOr<std::unique_ptr<RocksDatabase>> Open(
      const RocksOptions& options);
  ~RocksDatabase();

  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* family(Family family) const {
    return handles_[static_cast<size_t>(family)];
  }

  // False when it is not there.
  absl::StatusOr<bool> Get(Family family, absl::string_view key,
                           std::string* value) const;
  // Like Get, but what cannot be read counts as not there: for bookkeeping, in
  // which a damaged block must not keep an entry from being replaced.
  bool GetIfReadable(Family family, absl::string_view key,
                     std::string* value) const;
  absl::Status Write(rocksdb::WriteBatch& batch) const;
  std::unique_ptr<rocksdb::Iterator> Iterate(Family family) const;
  // Bytes of files that RocksDB keeps for live data.
  uint64_t BytesOnDisk() const;

 private:
  RocksDatabase(std::unique_ptr<DirectoryLock> lock) : lock_(std::move(lock)) {}
  rocksdb::Status OpenOnce(const RocksOptions& options, bool tolerant);
  absl::Status OpenOrSetAside(const RocksOptions& options);
  absl::Status CheckSchema() const;
  void Close();

  // Released last.
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<rocksdb::DB> db_;
  // The known families first, in Family's order; then those of a later build.
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_ROCKSDB_DATABASE_H_
