#include "cache/testing/faulty_file_system.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ingot::cache {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
namespace fs = std::filesystem;

class FaultyFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::string name,
             FaultyFileSystem* files)
      : FSWritableFileOwnerWrapper(std::move(file)),
        name_(std::move(name)),
        files_(files) {}

  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::PositionedAppend;

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    IOStatus status = files_->Writable();
    if (!status.ok()) return status;
    absl::MutexLock lock(&files_->mutex_);
    if (!files_->Powered()) return IOStatus::OK();
    status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    // Out of the process, so that the file's size is what was written.
    if (status.ok()) status = target()->Flush(options, debug);
    if (status.ok()) files_->extents_[name_].written += data.size();
    return status;
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  // A power loss here is an act of RestorePower, so the real disk need not be
  // waited for.
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    absl::MutexLock lock(&files_->mutex_);
    if (!files_->Powered()) return IOStatus::OK();
    FaultyFileSystem::Extent& extent = files_->extents_[name_];
    extent.synced = extent.written;
    return IOStatus::OK();
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Sync(options, debug);
  }

 private:
  const std::string name_;
  FaultyFileSystem* const files_;
};

class FaultyDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  FaultyDirectory(std::unique_ptr<rocksdb::FSDirectory> directory,
                  std::string name, FaultyFileSystem* files)
      : FSDirectoryWrapper(std::move(directory)),
        name_(std::move(name)),
        files_(files) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    files_->SyncDirectory(name_);
    return IOStatus::OK();
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

 private:
  const std::string name_;
  FaultyFileSystem* const files_;
};

namespace {

std::string DirectoryOf(const std::string& name) {
  return fs::path(name).parent_path();
}

std::string WithoutSlash(std::string name) {
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  return name;
}

}  // namespace

FaultyFileSystem::FaultyFileSystem()
    : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

void FaultyFileSystem::SetFull(bool full) {
  absl::MutexLock lock(&mutex_);
  full_ = full;
}

void FaultyFileSystem::CutPowerAfter(int64_t operations) {
  absl::MutexLock lock(&mutex_);
  operations_left_ = operations;
}

bool FaultyFileSystem::powerless() {
  absl::MutexLock lock(&mutex_);
  return operations_left_ <= 0;
}

bool FaultyFileSystem::Powered() {
  if (operations_left_ <= 0) return false;
  --operations_left_;
  return true;
}

void FaultyFileSystem::RestorePower(std::mt19937& random) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, extent] : extents_) {
    const uint64_t tail = extent.written - extent.synced;
    const uint64_t kept =
        extent.synced + (tail == 0 ? 0 : random() % (tail + 1));
    std::error_code error;
    fs::resize_file(name, kept, error);
  }
  for (auto& [directory, changes] : changes_) {
    size_t kept = random() % (changes.size() + 1);
    while (changes.size() > kept) {
      Undo(changes.back());
      changes.pop_back();
    }
    for (const Change& change : changes) {
      std::error_code ignored;
      if (!change.backup.empty()) fs::remove(change.backup, ignored);
    }
  }
  extents_.clear();
  changes_.clear();
  operations_left_ = INT64_MAX;
}

void FaultyFileSystem::Undo(const Change& change) {
  std::error_code ignored;
  if (!change.created.empty() && !change.removed.empty()) {
    fs::rename(change.created, change.removed, ignored);
  } else if (!change.created.empty()) {
    fs::remove(change.created, ignored);
  }
  if (change.backup.empty()) return;
  const bool deletion = change.created.empty();
  fs::rename(change.backup, deletion ? change.removed : change.created,
             ignored);
}

std::string FaultyFileSystem::SetAside(const std::string& name) {
  // Outside the directory, where RocksDB does not find it.
  const std::string backup =
      absl::StrCat(DirectoryOf(name), ".lost-", backups_++);
  std::error_code error;
  fs::rename(name, backup, error);
  return error ? "" : backup;
}

void FaultyFileSystem::SyncDirectory(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  if (!Powered()) return;
  std::vector<Change>& changes = changes_[WithoutSlash(name)];
  for (const Change& change : changes) {
    std::error_code ignored;
    if (!change.backup.empty()) fs::remove(change.backup, ignored);
  }
  changes.clear();
}

IOStatus FaultyFileSystem::Writable() {
  absl::MutexLock lock(&mutex_);
  if (!full_) return IOStatus::OK();
  IOStatus status = IOStatus::NoSpace("disk is full");
  status.SetRetryable(true);  // as the system's file system marks ENOSPC
  return status;
}

IOStatus FaultyFileSystem::NewWritableFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
  IOStatus status = Writable();
  if (!status.ok()) return status;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  absl::MutexLock lock(&mutex_);
  if (!Powered()) {
    return FileSystemWrapper::NewWritableFile(
        absl::StrCat(DirectoryOf(name), ".dark-", backups_++), options, result,
        debug);
  }
  const std::string backup = SetAside(name);
  status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
  if (!status.ok()) return status;
  extents_[name] = {};
  changes_[DirectoryOf(name)].push_back({.created = name, .backup = backup});
  *result = std::make_unique<FaultyFile>(std::move(file), name, this);
  return status;
}

IOStatus FaultyFileSystem::NewDirectory(
    const std::string& name, const IOOptions& options,
    std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> directory;
  const IOStatus status =
      FileSystemWrapper::NewDirectory(name, options, &directory, debug);
  if (status.ok()) {
    *result =
        std::make_unique<FaultyDirectory>(std::move(directory), name, this);
  }
  return status;
}

IOStatus FaultyFileSystem::DeleteFile(const std::string& name, const IOOptions&,
                                      IODebugContext*) {
  absl::MutexLock lock(&mutex_);
  if (!Powered()) return IOStatus::OK();
  const std::string backup = SetAside(name);
  if (backup.empty()) return IOStatus::PathNotFound(name);
  extents_.erase(name);
  changes_[DirectoryOf(name)].push_back({.removed = name, .backup = backup});
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::RenameFile(const std::string& from,
                                      const std::string& to,
                                      const IOOptions& options,
                                      IODebugContext* debug) {
  absl::MutexLock lock(&mutex_);
  if (!Powered()) return IOStatus::OK();
  const std::string backup = SetAside(to);
  const IOStatus status =
      FileSystemWrapper::RenameFile(from, to, options, debug);
  if (!status.ok()) return status;
  changes_[DirectoryOf(to)].push_back(
      {.created = to, .removed = from, .backup = backup});
  const auto found = extents_.find(from);
  if (found == extents_.end()) return status;
  extents_[to] = found->second;
  extents_.erase(from);
  return status;
}

FaultyEnv::FaultyEnv()
    : files_(std::make_shared<FaultyFileSystem>()),
      env_(rocksdb::NewCompositeEnv(files_)) {}

}  // namespace ingot::cache
