// The daemon's Unix socket: who connects is known by the kernel's word, which
// gRPC's own listener does not pass on.
#ifndef INGOT_SERVER_UNIX_LISTENER_H_
#define INGOT_SERVER_UNIX_LISTENER_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "proto/status.h"

namespace ingot::server {

struct UnixPeer {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
};

class UnixListener {
 public:
  // `fd` is the connection, non-blocking, and the callee's to close. Its number
  // was not in use for the last thousand connections, so that what is
  // remembered under a number is not taken for its next owner's.
  using Accepted = std::function<void(int fd, const UnixPeer& peer)>;

  // Listens on `path` with mode 0660, connections waiting until Start.
  // FAILED_PRECONDITION says what is in the way.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Open(
      const std::string& path);
  // Takes over a socket that somebody else bound, as systemd does.
  // INVALID_ARGUMENT when `fd` is no listening Unix stream socket.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Adopt(int fd);
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // Calls `accepted` on a thread of its own until Stop.
  void Start(Accepted accepted);
  // Nobody connects any more. Removes the path, if Open made it and it still
  // leads here.
  void Stop();

 private:
  UnixListener(int fd, std::string path);

  void Loop(const Accepted& accepted);
  // The descriptor under a number that was not used lately.
  int Renumber(int fd);

  int fd_;
  int wake_;                // an event: Stop was called
  const std::string path_;  // empty: not ours to remove
  dev_t device_ = 0;        // of the path as Open made it
  ino_t inode_ = 0;
  int next_number_;
  std::thread thread_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_UNIX_LISTENER_H_
