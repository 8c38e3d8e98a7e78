#include "client/src/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace ingot::client {
namespace {

constexpr off_t kLargest = 1 << 20;

Status Refuse(const std::string& path, const char* found) {
  return Error(INGOT_INVALID_ARGUMENT, "found %s: %s, allowed a file to read",
               path.c_str(), found);
}

}  // namespace

Status ReadSmallFile(const std::string& path, std::string* text) {
  // Not to wait for what is no file.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Refuse(path, strerror(errno));
  struct stat facts;
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_size > kLargest) {
    close(fd);
    return Refuse(path, "no regular file, or a large one");
  }
  text->resize(static_cast<size_t>(facts.st_size));
  const ssize_t size = read(fd, text->data(), text->size());
  const int error = errno;
  close(fd);
  if (size < 0) return Refuse(path, strerror(error));
  text->resize(static_cast<size_t>(size));
  return Status();
}

}  // namespace ingot::client
