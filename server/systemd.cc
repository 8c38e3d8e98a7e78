#include "server/systemd.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/numbers.h"

namespace ingot::server {
namespace {

constexpr int kFirstHandedOver = 3;  // SD_LISTEN_FDS_START

// The variable, which is then gone: workers must not take it for theirs.
std::string TakeVariable(const char* name) {
  const char* value = std::getenv(name);
  std::string taken = value == nullptr ? "" : value;
  unsetenv(name);
  return taken;
}

bool IsThisProcess(const std::string& pid) {
  int64_t number = 0;
  return absl::SimpleAtoi(pid, &number) && number == getpid();
}

}  // namespace

Systemd Systemd::Take() {
  Systemd systemd;
  const std::string listen_pid = TakeVariable("LISTEN_PID");
  const std::string listen_fds = TakeVariable("LISTEN_FDS");
  unsetenv("LISTEN_FDNAMES");
  int handed_over = 0;
  if (IsThisProcess(listen_pid) && absl::SimpleAtoi(listen_fds, &handed_over) &&
      handed_over > 0) {
    systemd.socket_ = kFirstHandedOver;
  }
  systemd.notify_ = TakeVariable("NOTIFY_SOCKET");
  const std::string watchdog_pid = TakeVariable("WATCHDOG_PID");
  const std::string watchdog = TakeVariable("WATCHDOG_USEC");
  int64_t micros = 0;
  if ((watchdog_pid.empty() || IsThisProcess(watchdog_pid)) &&
      absl::SimpleAtoi(watchdog, &micros) && micros > 0) {
    systemd.watchdog_ = std::chrono::microseconds(micros);
  }
  return systemd;
}

void Systemd::Notify(absl::string_view state) const {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (notify_.empty() || notify_.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, notify_.data(), notify_.size());
  if (notify_[0] == '@') address.sun_path[0] = '\0';  // an abstract name
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + notify_.size());
  (void)!sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
}

}  // namespace ingot::server
