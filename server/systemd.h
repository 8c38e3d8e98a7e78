// The two things that systemd hands a service: a socket that already listens,
// and a place to say how the service is (sd_listen_fds(3), sd_notify(3)).
#ifndef INGOT_SERVER_SYSTEMD_H_
#define INGOT_SERVER_SYSTEMD_H_

#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::server {

class Systemd {
 public:
  // Reads LISTEN_PID, LISTEN_FDS, NOTIFY_SOCKET, WATCHDOG_PID and WATCHDOG_USEC
  // and takes them out of the environment. Call once, before threads start.
  static Systemd Take();

  // The first socket handed over; nullopt when there is none.
  std::optional<int> socket() const { return socket_; }
  // How often "WATCHDOG=1" must be said; nullopt: never.
  std::optional<std::chrono::microseconds> watchdog() const {
    return watchdog_;
  }
  // "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=..."; nothing happens where
  // nobody listens. Thread-safe.
  void Notify(absl::string_view state) const;

 private:
  std::optional<int> socket_;
  std::optional<std::chrono::microseconds> watchdog_;
  std::string notify_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_SYSTEMD_H_
