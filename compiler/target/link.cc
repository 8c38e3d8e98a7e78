#include "compiler/target/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace ingot::target {
namespace {

std::string PathOf(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

absl::Status SystemError(absl::string_view what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("link: ", what, ": ", strerror(errno)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool ReadAll(int fd, std::string* bytes) {
  constexpr size_t kChunk = 64 << 10;
  for (;;) {
    const size_t done = bytes->size();
    bytes->resize(done + kChunk);
    const ssize_t n = read(fd, &(*bytes)[done], kChunk);
    bytes->resize(done + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
  }
}

// LLD makes a regular output file by mapping a temporary one beside it and
// renaming. To a pipe it simply writes, so its output never has a name; the
// pipe must hold all of it, since nobody reads before LLD is done. Linking adds
// tables and a page of padding between segments.
constexpr size_t kLinkOverhead = 64 << 10;

absl::Status OpenPipe(size_t object_bytes, Descriptor& read_end,
                      Descriptor& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError("no pipe");
  read_end.Reset(ends[0]);
  write_end.Reset(ends[1]);
  const size_t bytes = object_bytes + kLinkOverhead;
  if (fcntl(write_end.get(), F_SETPIPE_SZ, static_cast<int>(bytes)) < 0) {
    return SystemError(absl::StrCat("no pipe of ", bytes, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> LinkCodeObject(absl::string_view object) {
  Descriptor input(memfd_create("ingot-object", MFD_CLOEXEC));
  if (input.get() < 0 || !WriteAll(input.get(), object)) {
    return SystemError("no memory file");
  }
  Descriptor read_end, write_end;
  INGOT_RETURN_IF_ERROR(OpenPipe(object.size(), read_end, write_end));
  const std::string in = PathOf(input.get());
  const std::string out = PathOf(write_end.get());
  // One thread: LLD's pool costs more than it saves on one small object.
  const char* args[] = {"ld.lld", "-shared",   "--threads=1",
                        "-o",     out.c_str(), in.c_str()};
  std::string log;
  llvm::raw_string_ostream stream(log);
  const lld::Result result =
      lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  write_end.Close();
  if (result.retCode != 0) {
    return absl::InternalError(absl::StrCat("link: ", log));
  }
  std::string linked;
  if (!ReadAll(read_end.get(), &linked)) return SystemError("reading the pipe");
  return linked;
}

}  // namespace ingot::target
