#include "cache/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"

namespace ingot::cache {
namespace {

absl::Status ErrnoStatus(const std::string& what) {
  return absl::ErrnoToStatus(errno, what);
}

std::string ReadHolder(int fd) {
  char text[512];
  const ssize_t read = pread(fd, text, sizeof text, 0);
  if (read <= 0) return "an unknown process";
  return absl::StrCat(
      "process ", absl::StripAsciiWhitespace(absl::string_view(text, read)));
}

absl::Status WriteHolder(int fd, const std::string& path) {
  char host[256] = "unknown-host";
  gethostname(host, sizeof host - 1);
  const std::string text = absl::StrCat(getpid(), " on ", host, "\n");
  if (ftruncate(fd, 0) != 0)
    return ErrnoStatus(absl::StrCat("emptying ", path));
  const ssize_t written = pwrite(fd, text.data(), text.size(), 0);
  // On a full disk the lock is good all the same; only its message suffers.
  if (written < 0 && errno != ENOSPC && errno != EDQUOT) {
    return ErrnoStatus(absl::StrCat("writing ", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DirectoryLock>> DirectoryLock::Acquire(
    const std::string& directory) {
  std::error_code error;
  const bool created = std::filesystem::create_directories(directory, error);
  if (error) {
    errno = error.value();
    return ErrnoStatus(absl::StrCat("creating store directory ", directory));
  }
  if (created) chmod(directory.c_str(), 0750);
  const std::string path = absl::StrCat(directory, "/owner.pid");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return ErrnoStatus(absl::StrCat("opening ", path));
  std::unique_ptr<DirectoryLock> lock(new DirectoryLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return ErrnoStatus(absl::StrCat("locking ", path));
    return absl::FailedPreconditionError(absl::StrCat(
        "store directory ", directory, " is in use by ", ReadHolder(fd),
        ": stop it or give this daemon a directory of its own"));
  }
  INGOT_RETURN_IF_ERROR(WriteHolder(fd, path));
  return lock;
}

DirectoryLock::~DirectoryLock() { close(fd_); }

}  // namespace ingot::cache
