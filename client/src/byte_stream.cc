#include "client/src/byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <climits>
#include <cstddef>
#include <cstring>

namespace ingot::client {
namespace {

bool PollSocket(int fd, int16_t events, Deadline deadline) {
  for (;;) {
    pollfd waiting = {fd, events, 0};
    const int64_t left = std::min<int64_t>(deadline.RemainingMs(), INT_MAX);
    const int ready = poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the next I/O reports it
    if (deadline.Expired()) return false;
  }
}

class SocketStream : public ByteStream {
 public:
  explicit SocketStream(int fd) : fd_(fd) {}
  ~SocketStream() override { Abandon(); }

  int64_t Read(uint8_t* data, size_t size) override {
    return Result(recv(fd_, data, size, 0));
  }

  int64_t Write(const uint8_t* data, size_t size) override {
    return Result(send(fd_, data, size, MSG_NOSIGNAL));
  }

  bool Wait(bool write, Deadline deadline) override {
    return PollSocket(fd_, write ? POLLIN | POLLOUT : POLLIN, deadline);
  }

  void Abandon() override {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  std::string error() const override {
    return error_ == 0 ? "" : strerror(error_);
  }

 private:
  int64_t Result(ssize_t moved) {
    if (moved >= 0) return moved;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      return kWouldBlock;
    }
    error_ = errno;
    return kBroken;
  }

  int fd_;
  int error_ = 0;
};

Status CannotConnect(const Address& address, int error) {
  const char* hint =
      address.kind == Address::kTcp
          ? "is ingotd running there?"
          : "is ingotd running, and may this user open its socket?";
  return Error(INGOT_UNAVAILABLE, "no daemon answers at %s: %s; %s",
               address.text.c_str(), strerror(error), hint);
}

// Connects one socket; an errno, or 0 with *fd set.
int ConnectOne(int family, const sockaddr* to, socklen_t size,
               Deadline deadline, int* fd) {
  const int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s < 0) return errno;
  int error = connect(s, to, size) == 0 ? 0 : errno;
  // A Unix socket whose backlog is full says EAGAIN at once and cannot be
  // waited for with poll.
  while (error == EAGAIN && family == AF_UNIX && !deadline.Expired()) {
    usleep(1000);
    error = connect(s, to, size) == 0 ? 0 : errno;
  }
  if (error == EINPROGRESS || error == EINTR) {
    if (PollSocket(s, POLLOUT, deadline)) {
      socklen_t length = sizeof(error);
      getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &length);
    } else {
      error = ETIMEDOUT;
    }
  }
  if (error != 0) {
    close(s);
    return error;
  }
  if (family != AF_UNIX) {
    const int on = 1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  *fd = s;
  return 0;
}

Status ConnectUnix(const Address& address, Deadline deadline, int* fd) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  const size_t skip = address.kind == Address::kAbstract ? 1 : 0;
  memcpy(to.sun_path + skip, address.path.data(), address.path.size());
  // An abstract name ends with the length, a path with its NUL.
  const size_t size = offsetof(sockaddr_un, sun_path) + address.path.size() + 1;
  const int error = ConnectOne(AF_UNIX, reinterpret_cast<sockaddr*>(&to),
                               static_cast<socklen_t>(size), deadline, fd);
  return error == 0 ? Status() : CannotConnect(address, error);
}

Status ConnectTcp(const Address& address, Deadline deadline, int* fd) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed =
      getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (failed != 0) {
    return Error(INGOT_UNAVAILABLE, "no daemon answers at %s: %s",
                 address.text.c_str(), gai_strerror(failed));
  }
  int error = EADDRNOTAVAIL;
  for (const addrinfo* to = found; to != nullptr; to = to->ai_next) {
    error =
        ConnectOne(to->ai_family, to->ai_addr, to->ai_addrlen, deadline, fd);
    if (error == 0 || deadline.Expired()) break;
  }
  freeaddrinfo(found);
  return error == 0 ? Status() : CannotConnect(address, error);
}

}  // namespace

std::unique_ptr<ByteStream> AdoptSocket(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return std::make_unique<SocketStream>(fd);
}

Status Connect(const Address& address, Deadline deadline,
               std::unique_ptr<ByteStream>* stream) {
  int fd = -1;
  INGOT_CLIENT_RETURN_IF_ERROR(address.kind == Address::kTcp
                                   ? ConnectTcp(address, deadline, &fd)
                                   : ConnectUnix(address, deadline, &fd));
  *stream = std::make_unique<SocketStream>(fd);
  return Status();
}

}  // namespace ingot::client
