// A program opened once and exec'd from its descriptor ever after, so that an
// upgrade on disk cannot mix new code into a running daemon; and whether such
// an upgrade has happened.
#ifndef INGOT_SERVER_PROGRAM_FILE_H_
#define INGOT_SERVER_PROGRAM_FILE_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "proto/status.h"

namespace ingot::server {

// Thread-safe after Open.
class ProgramFile {
 public:
  // FAILED_PRECONDITION when there is no such executable.
  static absl::StatusOr<std::unique_ptr<ProgramFile>> Open(std::string path);
  ~ProgramFile();
  ProgramFile(const ProgramFile&) = delete;
  ProgramFile& operator=(const ProgramFile&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

  // The path names another file than the open one, or none, or the file was
  // written to.
  bool ChangedOnDisk() const;

 private:
  ProgramFile(std::string path, int fd, const struct stat& identity)
      : path_(std::move(path)), fd_(fd), identity_(identity) {}

  const std::string path_;
  const int fd_;  // 64 or higher, close on exec
  const struct stat identity_;
};

// A duplicate of `fd` out of the way of those that a child gets (>= 64, close
// on exec); `fd` is closed. -1 on failure.
int MoveUp(int fd);

}  // namespace ingot::server

#endif  // INGOT_SERVER_PROGRAM_FILE_H_
