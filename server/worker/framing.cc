#include "server/worker/framing.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

namespace ingot::server {
namespace {

absl::Status WaitFor(int fd, short events, MonotonicTime deadline) {
  for (;;) {
    int timeout_ms = -1;
    if (deadline != kNoDeadline) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyNow());
      if (left.count() <= 0) {
        return absl::DeadlineExceededError("time is up");
      }
      timeout_ms =
          static_cast<int>(std::min<int64_t>(left.count(), INT_MAX / 2));
    }
    pollfd poll_fd = {fd, events, 0};
    const int ready = poll(&poll_fd, 1, timeout_ms);
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) {
      return absl::UnavailableError(
          absl::StrCat("poll: ", std::strerror(errno)));
    }
  }
}

bool WouldBlock(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

absl::Status WriteAll(int fd, absl::string_view bytes, MonotonicTime deadline) {
  while (!bytes.empty()) {
    const ssize_t sent =
        send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (WouldBlock(errno)) {
      INGOT_RETURN_IF_ERROR(WaitFor(fd, POLLOUT, deadline));
    } else {
      return absl::UnavailableError(
          absl::StrCat("send: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadAll(int fd, char* bytes, size_t size, MonotonicTime deadline) {
  while (size > 0) {
    const ssize_t got = recv(fd, bytes, size, MSG_DONTWAIT);
    if (got > 0) {
      bytes += got;
      size -= static_cast<size_t>(got);
    } else if (got == 0) {
      return absl::UnavailableError("the other end closed the connection");
    } else if (WouldBlock(errno)) {
      INGOT_RETURN_IF_ERROR(WaitFor(fd, POLLIN, deadline));
    } else {
      return absl::UnavailableError(
          absl::StrCat("recv: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WaitReadable(int fd, MonotonicTime deadline) {
  return WaitFor(fd, POLLIN, deadline);
}

absl::Status WriteFrame(int fd, absl::string_view payload,
                        MonotonicTime deadline) {
  if (payload.size() > kMaxFrameBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "frame: found ", payload.size(), " bytes, allowed ", kMaxFrameBytes));
  }
  const uint32_t size = static_cast<uint32_t>(payload.size());
  const char header[4] = {static_cast<char>(size), static_cast<char>(size >> 8),
                          static_cast<char>(size >> 16),
                          static_cast<char>(size >> 24)};
  INGOT_RETURN_IF_ERROR(
      WriteAll(fd, absl::string_view(header, sizeof(header)), deadline));
  return WriteAll(fd, payload, deadline);
}

absl::StatusOr<std::string> ReadFrame(int fd, MonotonicTime deadline) {
  unsigned char header[4];
  INGOT_RETURN_IF_ERROR(
      ReadAll(fd, reinterpret_cast<char*>(header), sizeof(header), deadline));
  const size_t size = static_cast<size_t>(header[0]) |
                      static_cast<size_t>(header[1]) << 8 |
                      static_cast<size_t>(header[2]) << 16 |
                      static_cast<size_t>(header[3]) << 24;
  if (size > kMaxFrameBytes) {
    return absl::DataLossError(absl::StrCat("frame: found a length of ", size,
                                            ", allowed ", kMaxFrameBytes));
  }
  constexpr size_t kStep = size_t{1} << 20;
  std::string payload;
  while (payload.size() < size) {
    const size_t done = payload.size();
    payload.resize(std::min(size, std::max(done * 2, kStep)));
    INGOT_RETURN_IF_ERROR(
        ReadAll(fd, payload.data() + done, payload.size() - done, deadline));
  }
  return payload;
}

}  // namespace ingot::server
