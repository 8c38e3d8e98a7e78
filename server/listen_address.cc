#include "server/listen_address.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"

namespace ingot::server {
namespace {

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address = {};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24) == 127;
}

bool IsNumeric(const std::string& host) {
  in_addr v4 = {};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return true;
  in6_addr v6 = {};
  return host.size() > 2 && host.front() == '[' && host.back() == ']' &&
         inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1;
}

// Only a refusal proves that nobody does: a daemon of another user may not be
// connected to, and is there all the same.
bool SomebodyListens(const sockaddr_un& address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  const int failed =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const bool refused = failed != 0 && errno == ECONNREFUSED;
  close(fd);
  return !refused;
}

}  // namespace

absl::Status CheckTcpAddress(const std::string& address, bool insecure) {
  const size_t colon = address.rfind(':');
  int port = -1;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 ||
      port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("tcp: found ", address, ", allowed host:port"));
  }
  const std::string host = address.substr(0, colon);
  if (IsLoopback(host)) return absl::OkStatus();
  if (!IsNumeric(host)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tcp: found host ", host,
        ", allowed localhost or a numeric address ([...] for IPv6)"));
  }
  if (insecure) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("tcp: found ", address,
                   ", which is not loopback; allowed only with --insecure, "
                   "since everybody who reaches it gets in"));
}

absl::Status PrepareSocketPath(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("socket: found a path of ", path.size(),
                     " bytes, allowed ", sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::absolute(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::FailedPreconditionError(absl::StrCat(
        "socket: cannot make the folder of ", path, ": ", error.message()));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("socket: cannot make ", path, ": ", folder.string(), ": ",
                     std::strerror(errno)));
  }
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0) return absl::OkStatus();
  if (!S_ISSOCK(there.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("socket: ", path, " is there and is no socket"));
  }
  if (SomebodyListens(address)) {
    return absl::FailedPreconditionError(
        absl::StrCat("socket: another daemon listens on ", path));
  }
  unlink(path.c_str());
  return absl::OkStatus();
}

}  // namespace ingot::server
