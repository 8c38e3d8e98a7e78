#include "cache/testing/faulty_file_system.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace ingot::cache {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

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
    if (files_->powerless()) return IOStatus::OK();
    IOStatus status = files_->Writable();
    if (!status.ok()) return status;
    status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    if (status.ok()) written_ += data.size();
    return status;
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  // A power loss here is an act of RestorePower, so the real disk need not be
  // waited for.
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    files_->Synced(name_, written_);
    return FSWritableFileOwnerWrapper::Flush(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Sync(options, debug);
  }

 private:
  const std::string name_;
  FaultyFileSystem* const files_;
  uint64_t written_ = 0;
};

namespace {

// Directory operations are never lost here, so they need no syncing either.
class UnsyncedDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  using FSDirectoryWrapper::FSDirectoryWrapper;
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*,
                               const rocksdb::DirFsyncOptions&) override {
    return IOStatus::OK();
  }
};

}  // namespace

FaultyFileSystem::FaultyFileSystem()
    : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

void FaultyFileSystem::SetFull(bool full) {
  absl::MutexLock lock(&mutex_);
  full_ = full;
}

void FaultyFileSystem::CutPower() {
  absl::MutexLock lock(&mutex_);
  powerless_ = true;
}

void FaultyFileSystem::RestorePower() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, size] : synced_) {
    std::error_code error;
    if (std::filesystem::file_size(name, error) > size && !error) {
      std::filesystem::resize_file(name, size, error);
    }
  }
  synced_.clear();
  powerless_ = false;
}

bool FaultyFileSystem::powerless() {
  absl::MutexLock lock(&mutex_);
  return powerless_;
}

IOStatus FaultyFileSystem::Writable() {
  absl::MutexLock lock(&mutex_);
  if (!full_) return IOStatus::OK();
  IOStatus status = IOStatus::NoSpace("disk is full");
  status.SetRetryable(true);  // as the system's file system marks ENOSPC
  return status;
}

void FaultyFileSystem::Synced(const std::string& name, uint64_t size) {
  absl::MutexLock lock(&mutex_);
  const auto found = synced_.find(name);
  if (found != synced_.end() && !powerless_) found->second = size;
}

IOStatus FaultyFileSystem::NewWritableFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
  IOStatus status = Writable();
  if (!status.ok()) return status;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
  if (!status.ok()) return status;
  {
    absl::MutexLock lock(&mutex_);
    synced_[name] = 0;
  }
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
    *result = std::make_unique<UnsyncedDirectory>(std::move(directory));
  }
  return status;
}

IOStatus FaultyFileSystem::DeleteFile(const std::string& name,
                                      const IOOptions& options,
                                      IODebugContext* debug) {
  if (powerless()) return IOStatus::OK();
  {
    absl::MutexLock lock(&mutex_);
    synced_.erase(name);
  }
  return FileSystemWrapper::DeleteFile(name, options, debug);
}

IOStatus FaultyFileSystem::RenameFile(const std::string& from,
                                      const std::string& to,
                                      const IOOptions& options,
                                      IODebugContext* debug) {
  if (powerless()) return IOStatus::OK();
  const IOStatus status =
      FileSystemWrapper::RenameFile(from, to, options, debug);
  absl::MutexLock lock(&mutex_);
  const auto found = synced_.find(from);
  if (!status.ok() || found == synced_.end()) return status;
  synced_[to] = found->second;
  synced_.erase(from);
  return status;
}

FaultyEnv::FaultyEnv()
    : files_(std::make_shared<FaultyFileSystem>()),
      env_(rocksdb::NewCompositeEnv(files_)) {}

}  // namespace ingot::cache
