// RocksDB as the store uses it: families, options, opening and its mishaps.
#ifndef INGOT_CACHE_ROCKSDB_DATABASE_H_
#define INGOT_CACHE_ROCKSDB_DATABASE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
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

// Thread-safe, but for family(). After a failed write nothing more is written
// until Reopen: RocksDB's log is then torn at its end, and this release aborts
// the process when a torn log is written, synced or switched. Resuming in place
// does that; opening again reads the log up to the tear, which is all that was
// acknowledged.
class RocksDatabase {
 public:
  // On a full disk the result is not open: reads are kUnavailable until Reopen.
  static absl::StatusOr<std::unique_ptr<RocksDatabase>> Open(
      const RocksOptions& options);
  ~RocksDatabase();

  // Whether a write or background work has failed, or nothing is open.
  bool failed() const { return failed_; }
  // Closes and opens again, once a trial file shows that the disk takes writes.
  // Readers wait meanwhile. Nobody may hold a family().
  absl::Status Reopen();

  // For a WriteBatch, which keeps its number only. Null when nothing is open.
  rocksdb::ColumnFamilyHandle* family(Family family) const
      ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return db_ == nullptr ? nullptr : handles_[static_cast<size_t>(family)];
  }

  // False when it is not there.
  absl::StatusOr<bool> Get(Family family, absl::string_view key,
                           std::string* value) const;
  // The object where RocksDB put it, or nullopt. May outlive this object.
  absl::StatusOr<std::optional<Bytes>> GetObject(
      absl::string_view digest) const;
  // Like Get, but what cannot be read counts as not there: for bookkeeping, in
  // which a damaged block must not keep an entry from being replaced.
  bool GetIfReadable(Family family, absl::string_view key,
                     std::string* value) const;
  // Visits keys >= `from` in order until `visit` returns false. `visit` must
  // not call this object.
  absl::Status Walk(
      Family family, absl::string_view from,
      absl::FunctionRef<bool(absl::string_view key, absl::string_view value)>
          visit) const;
  // The last key <= `at`, or nullopt.
  std::optional<std::string> LastKey(Family family, absl::string_view at) const;

  absl::Status Write(rocksdb::WriteBatch& batch);
  // What was written is on the disk when this returns.
  absl::Status Sync();
  // Turns log and memtables into tables.
  absl::Status Flush();
  // Makes deleted objects leave the disk: files without a live object go, and
  // of the oldest others as many are rewritten as is worth it and as `room`
  // bytes hold what is live in them. Ends early once `cancelled`.
  absl::Status CollectObjects(uint64_t room, std::atomic<bool>& cancelled);
  // Atomically adds tables written with FamilyOptions.
  absl::Status Ingest(
      const std::vector<rocksdb::IngestExternalFileArg>& tables);
  // Bytes of the tables and blob files in use.
  uint64_t BytesOnDisk() const;
  // Bytes of the log, which opening again writes into tables.
  uint64_t LogBytes() const;

 private:
  RocksDatabase(const RocksOptions& options,
                std::unique_ptr<DirectoryLock> lock);
  absl::Status OpenAndCheck() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OpenOrSetAside() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  rocksdb::Status OpenOnce(bool tolerant) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckSchema() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TryDisk() const;
  rocksdb::Env* env() const;
  double ShareWorthCollecting(uint64_t room) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Log(const std::string& line) const;
  absl::Status Opened() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Runs one write while no other runs; a failure sets failed_.
  absl::Status WriteAlone(absl::FunctionRef<rocksdb::Status()> write);

  const RocksOptions options_;
  // Outlives what was read through it, and so every opening.
  const std::shared_ptr<rocksdb::Cache> block_cache_;
  // Released last.
  const std::unique_ptr<DirectoryLock> lock_;
  std::atomic<bool> failed_{false};
  // A compaction met a block that it cannot read, and would again: from the
  // next Reopen until the process ends there are none, and writes go on.
  std::atomic<bool> unmergeable_{false};
  absl::Mutex write_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  // The first write that no sync has followed.
  absl::Time unsynced_since_ ABSL_GUARDED_BY(write_mutex_) =
      absl::InfiniteFuture();
  // Held shared by whatever uses db_, alone by Reopen.
  mutable absl::Mutex mutex_;
  std::unique_ptr<rocksdb::DB> db_ ABSL_GUARDED_BY(mutex_);
  // The known families first, in Family's order; then those of a later build.
  std::vector<rocksdb::ColumnFamilyHandle*> handles_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_ROCKSDB_DATABASE_H_
