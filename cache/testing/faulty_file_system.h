// A file system for RocksDB that fills up and loses power when a test says so.
#ifndef INGOT_CACHE_TESTING_FAULTY_FILE_SYSTEM_H_
#define INGOT_CACHE_TESTING_FAULTY_FILE_SYSTEM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

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
  // From now on nothing reaches the files, and nobody is told: a machine
  // without power sees no errors either.
  void CutPower();
  // Takes from each file what was written and not synced before the cut, as a
  // journalling file system would after a power loss (directory operations stay
  // in order), and lets writes through again. Nobody may have the files open.
  void RestorePower();

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
  // OK, or why nothing can be added.
  rocksdb::IOStatus Writable();
  bool powerless();
  void Synced(const std::string& name, uint64_t size);

  absl::Mutex mutex_;
  bool full_ ABSL_GUARDED_BY(mutex_) = false;
  bool powerless_ ABSL_GUARDED_BY(mutex_) = false;
  // How much of each file written since the start a power loss leaves.
  std::map<std::string, uint64_t> synced_ ABSL_GUARDED_BY(mutex_);
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
