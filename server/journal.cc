#include "server/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "compiler/sha256.h"

namespace ingot::server {
namespace {

constexpr absl::string_view kMagic = "INGOTJ1\n";
constexpr size_t kHeader = 12;  // size and check

std::string Frame(absl::string_view entry) {
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) {
    frame.push_back(static_cast<char>(entry.size() >> shift));
  }
  absl::StrAppend(&frame, Sha256(entry).substr(0, 8), entry);
  return frame;
}

// The entry at the front of `bytes`, or false for none that is whole.
bool ReadFrame(absl::string_view bytes, absl::string_view* entry) {
  if (bytes.size() < kHeader) return false;
  size_t size = 0;
  for (size_t i = 4; i-- > 0;) {
    size = size << 8 | static_cast<uint8_t>(bytes[i]);
  }
  if (size > Journal::kMaxEntryBytes || bytes.size() - kHeader < size) {
    return false;
  }
  *entry = bytes.substr(kHeader, size);
  return Sha256(*entry).substr(0, 8) == bytes.substr(4, 8);
}

absl::Status Failed(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat(what, " ", path, ": ", std::strerror(errno)));
}

absl::Status WriteAll(int fd, absl::string_view bytes, off_t at,
                      const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("writing", path);
    bytes.remove_prefix(static_cast<size_t>(written));
    at += written;
  }
  return absl::OkStatus();
}

// A file's name is on the disk only with its folder.
absl::Status SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = open(folder.empty() ? "." : folder.c_str(),
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const absl::Status failed = Failed("syncing", folder);
  if (fd >= 0) close(fd);
  return synced ? absl::OkStatus() : failed;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

Journal::~Journal() { close(fd_); }

absl::StatusOr<Journal::Opened> Journal::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::FailedPreconditionError(Failed("opening", path).message());
  }
  Opened opened;
  opened.journal.reset(new Journal(path, fd, 0));
  const std::string bytes = ReadFile(path);
  absl::string_view rest(bytes);
  if (absl::StartsWith(kMagic, rest)) {
    // New, or the power went while it was made.
    INGOT_RETURN_IF_ERROR(opened.journal->Rewrite({}));
    return opened;
  }
  if (!absl::ConsumePrefix(&rest, kMagic)) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": found another kind of file, allowed a journal of ingotd"));
  }
  absl::string_view entry;
  while (ReadFrame(rest, &entry)) {
    opened.entries.emplace_back(entry);
    rest.remove_prefix(kHeader + entry.size());
  }
  opened.journal->end_ = static_cast<off_t>(bytes.size() - rest.size());
  if (rest.empty()) return opened;
  opened.damage = absl::StrCat(path, ": ", rest.size(), " bytes after ",
                               opened.entries.size(),
                               " entries cannot be read and are set aside");
  std::ofstream(path + ".damaged", std::ios::binary | std::ios::app) << rest;
  if (ftruncate(fd, opened.journal->end_) != 0) return Failed("cutting", path);
  return opened;
}

absl::Status Journal::Append(absl::string_view entry) {
  if (entry.size() > kMaxEntryBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("journal entry: found ", entry.size(), " bytes, allowed ",
                     kMaxEntryBytes));
  }
  const std::string frame = Frame(entry);
  absl::Status written = WriteAll(fd_, frame, end_, path_);
  if (written.ok() && fdatasync(fd_) != 0) written = Failed("syncing", path_);
  if (!written.ok()) {
    (void)!ftruncate(fd_, end_);
    return written;
  }
  end_ += static_cast<off_t>(frame.size());
  return absl::OkStatus();
}

absl::Status Journal::Rewrite(const std::vector<std::string>& entries) {
  std::string bytes(kMagic);
  for (const std::string& entry : entries) bytes += Frame(entry);
  const std::string fresh = path_ + ".new";
  const int fd =
      open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Failed("opening", fresh);
  absl::Status status = WriteAll(fd, bytes, 0, fresh);
  if (status.ok() && fsync(fd) != 0) status = Failed("syncing", fresh);
  if (status.ok() && std::rename(fresh.c_str(), path_.c_str()) != 0) {
    status = Failed("renaming", fresh);
  }
  if (!status.ok()) {
    close(fd);
    unlink(fresh.c_str());
    return status;
  }
  close(std::exchange(fd_, fd));
  end_ = static_cast<off_t>(bytes.size());
  return SyncFolderOf(path_);
}

}  // namespace ingot::server
