#include "server/program_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ingot::server {
namespace {

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
         a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

int MoveUp(int fd) {
  if (fd < 0) return -1;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 64);
  close(fd);
  return moved;
}

absl::StatusOr<std::unique_ptr<ProgramFile>> ProgramFile::Open(
    std::string path) {
  const int fd = MoveUp(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat identity = {};
  if (fd < 0 || fstat(fd, &identity) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot open the program ", path, ": ", std::strerror(errno)));
  }
  std::unique_ptr<ProgramFile> file(
      new ProgramFile(std::move(path), fd, identity));
  if (!S_ISREG(identity.st_mode) || (identity.st_mode & 0111) == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(file->path(), " is not an executable file"));
  }
  return file;
}

ProgramFile::~ProgramFile() { close(fd_); }

bool ProgramFile::ChangedOnDisk() const {
  struct stat now = {};
  return stat(path_.c_str(), &now) != 0 || !SameFile(now, identity_);
}

}  // namespace ingot::server
