#include "client/src/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ingot::client {
namespace {

unsigned long long Number(uint64_t value) { return value; }

class FileSource : public ByteSource {
 public:
  FileSource(std::string path, int fd, uint64_t size)
      : path_(std::move(path)), fd_(fd), size_(size) {}
  ~FileSource() override { close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  const std::string& name() const override { return path_; }
  uint64_t size() const override { return size_; }

  Status Read(uint64_t offset, size_t size, uint8_t* out) const override {
    while (size > 0) {
      const ssize_t got = pread(fd_, out, size, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return Error(INGOT_DATA_LOSS, "%s: at offset %llu: %s", path_.c_str(),
                     Number(offset), strerror(errno));
      }
      if (got == 0) {
        return Error(INGOT_DATA_LOSS,
                     "%s: at offset %llu: found the end, expected %zu bytes",
                     path_.c_str(), Number(offset), size);
      }
      offset += static_cast<uint64_t>(got);
      out += got;
      size -= static_cast<size_t>(got);
    }
    return Status();
  }

 private:
  const std::string path_;
  const int fd_;
  const uint64_t size_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string name, const uint8_t* data, size_t size)
      : name_(std::move(name)), data_(data), size_(size) {}

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_; }

  Status Read(uint64_t offset, size_t size, uint8_t* out) const override {
    if (offset > size_ || size > size_ - offset) {
      return Error(INGOT_DATA_LOSS,
                   "%s: at offset %llu: found the end, expected %zu bytes",
                   name_.c_str(), Number(std::min<uint64_t>(offset, size_)),
                   size);
    }
    if (size > 0) memcpy(out, data_ + offset, size);
    return Status();
  }

 private:
  const std::string name_;
  const uint8_t* const data_;
  const size_t size_;
};

}  // namespace

Status OpenFile(const std::string& path, std::unique_ptr<ByteSource>* source) {
  // Without O_NONBLOCK a FIFO in its place would block for ever.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts = {};
  if (fd < 0) {
    return Error(errno == ENOENT ? INGOT_NOT_FOUND : INGOT_FAILED_PRECONDITION,
                 "%s: %s", path.c_str(), strerror(errno));
  }
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(fd);
    return Error(INGOT_FAILED_PRECONDITION, "%s: found no regular file",
                 path.c_str());
  }
  *source = std::make_unique<FileSource>(path, fd,
                                         static_cast<uint64_t>(facts.st_size));
  return Status();
}

std::unique_ptr<ByteSource> BytesInMemory(std::string name, const uint8_t* data,
                                          size_t size) {
  return std::make_unique<MemorySource>(std::move(name), data, size);
}

}  // namespace ingot::client
