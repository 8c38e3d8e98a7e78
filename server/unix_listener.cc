#include "server/unix_listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "server/listen_address.h"

namespace ingot::server {
namespace {

constexpr int kBacklog = 4096;
// Numbers below are for files of the daemon itself.
constexpr int kFirstNumber = 512;
constexpr int kNumbers = 4096;
// How long to leave waiting callers alone when there are no descriptors.
constexpr std::chrono::milliseconds kExhausted{50};

absl::Status Failed(absl::string_view what, absl::string_view path) {
  return absl::FailedPreconditionError(absl::StrCat(
      "socket: cannot ", what, " ", path, ": ", std::strerror(errno)));
}

int OptionOf(int fd, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

}  // namespace

UnixListener::UnixListener(int fd, std::string path)
    : fd_(fd),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      path_(std::move(path)),
      next_number_(kFirstNumber) {
  // Accepting never blocks: a caller may be gone again.
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  fcntl(fd_, F_SETFD, FD_CLOEXEC);
}

UnixListener::~UnixListener() {
  Stop();
  close(wake_);
}

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Open(
    const std::string& path) {
  INGOT_RETURN_IF_ERROR(PrepareSocketPath(path));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("make", path);
  // The socket must be for owner and group from its first moment.
  const mode_t before = umask(0117);
  const int bound =
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  umask(before);
  if (bound != 0 || listen(fd, kBacklog) != 0) {
    const absl::Status failed = Failed("listen on", path);
    close(fd);
    return failed;
  }
  std::unique_ptr<UnixListener> listener(new UnixListener(fd, path));
  struct stat made = {};
  if (lstat(path.c_str(), &made) == 0) {
    listener->device_ = made.st_dev;
    listener->inode_ = made.st_ino;
  }
  return listener;
}

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Adopt(int fd) {
  if (OptionOf(fd, SO_DOMAIN) != AF_UNIX ||
      OptionOf(fd, SO_TYPE) != SOCK_STREAM ||
      OptionOf(fd, SO_ACCEPTCONN) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "socket: descriptor ", fd,
        " was handed over, which is no listening Unix stream socket"));
  }
  return std::unique_ptr<UnixListener>(new UnixListener(fd, ""));
}

void UnixListener::Start(Accepted accepted) {
  thread_ =
      std::thread([this, accepted = std::move(accepted)] { Loop(accepted); });
}

void UnixListener::Loop(const Accepted& accepted) {
  for (;;) {
    pollfd waits[] = {{fd_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
        poll(&waits[1], 1, static_cast<int>(kExhausted.count()));
      }
      continue;
    }
    ucred credentials = {};
    socklen_t size = sizeof(credentials);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
      close(fd);
      continue;
    }
    accepted(Renumber(fd), {credentials.uid, credentials.gid, credentials.pid});
  }
}

int UnixListener::Renumber(int fd) {
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  const int most = static_cast<int>(std::min<rlim_t>(
      files.rlim_cur, static_cast<rlim_t>(kFirstNumber + kNumbers)));
  if (next_number_ >= most) next_number_ = kFirstNumber;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, next_number_);
  if (moved < 0) return fd;
  close(fd);
  next_number_ = moved + 1;
  return moved;
}

void UnixListener::Stop() {
  if (fd_ < 0) return;
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
  struct stat there = {};
  if (!path_.empty() && lstat(path_.c_str(), &there) == 0 &&
      there.st_dev == device_ && there.st_ino == inode_) {
    unlink(path_.c_str());
  }
  close(fd_);
  fd_ = -1;
}

}  // namespace ingot::server
