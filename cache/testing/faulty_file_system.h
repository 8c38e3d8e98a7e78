// A file system for RocksDB that fills up and loses power when a test says so.
#ifndef INGOT_CACHE_TESTING_FAULTY_FILE_SYSTEM_H_
#define INGOT_CACHE_TESTING_FAULTY_FILE_SYSTEM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace ingot::cache {

// The system's files, but for what is asked for here. Thread-safe.
class FaultyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  FaultyFileSystem();
  const char* Name() const override { return "FaultyFileSystem"; }

  // Appends and new files fail as on a full disk.
  void SetFull(bool full);

  // After so many more operations that change the disk, nothing reaches it any
  // more and nobody is told: a machine without power sees no errors either.
  void CutPowerAfter(int64_t operations);
  bool powerless();
  // Leaves what a power loss may leave, and lets writes through again: of each
  // file what was synced and a random part of the rest; of creations, renames
  // and deletions in a directory those before its last sync and a random number
  // of the next. Nobody may have the files open.
  void RestorePower(std::mt19937& random);

  rocksdb::IOStatus NewWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* result,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name,
                                 const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  friend class FaultyFile;
  friend class FaultyDirectory;

  struct Extent {
    uint64_t synced = 0;
    uint64_t written = 0;
  };
  // A change of a directory that no sync has followed. `backup` holds what the
  // change took away; empty when that was nothing.
  struct Change {
    std::string created;  // or renamed to; empty: a deletion
    std::string removed;  // or renamed from; empty: a creation
    std::string backup;
  };

  // OK, or why nothing can be added.
  rocksdb::IOStatus Writable();
  // Counts an operation; false when it must not reach the disk.
  bool Powered() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Undo(const Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves the file aside; where to, or "" when there is none.
  std::string SetAside(const std::string& name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SyncDirectory(const std::string& name);

  absl::Mutex mutex_;
  bool full_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t operations_left_ ABSL_GUARDED_BY(mutex_) = INT64_MAX;
  int backups_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of each file written since the start.
  std::map<std::string, Extent> extents_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<Change>> changes_  // by directory
      ABSL_GUARDED_BY(mutex_);
};

// An Env on top of one.
class FaultyEnv {
 public:
  FaultyEnv();
  rocksdb::Env* get() { return env_.get(); }
  FaultyFileSystem& files() { return *files_; }

 private:
  std::shared_ptr<FaultyFileSystem> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_TESTING_FAULTY_FILE_SYSTEM_H_
