#include "tests/support/blackhole_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace ingot::testing {
namespace {

// HTTP/2: a frame is its length in three bytes, type, flags, stream in four
// bytes, then its payload.
constexpr size_t kFrameHeader = 9;
enum FrameType { kData = 0, kHeaders = 1, kGoaway = 7 };

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

bool SendAll(int fd, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t sent =
        send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

// One client's connection and the daemon's.
struct BlackholeProxy::Link {
  int client = -1;
  int daemon = -1;
  Moment moment = Moment::kNever;
  bool is_lost = false;
  // Of what the daemon sends:
  std::string header;  // of a frame, as far as it has come
  size_t payload = 0;  // bytes of the frame that are to come
  int type = 0;
};

BlackholeProxy::BlackholeProxy(const std::string& path,
                               const std::string& daemon)
    : path_(path), daemon_(daemon) {
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(path);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0 ||
      listen(listener_, 64) != 0 || pipe(wake_) != 0) {
    return;  // accepted() stays 0, and the test sees that
  }
  thread_ = std::thread([this] { Serve(); });
}

BlackholeProxy::~BlackholeProxy() {
  close(wake_[1]);
  if (thread_.joinable()) thread_.join();
  for (Link& link : links_) Close(&link);
  close(wake_[0]);
  close(listener_);
  unlink(path_.c_str());
}

void BlackholeProxy::LoseAll() {
  lose_all_.store(true);
  const char any = 0;
  while (write(wake_[1], &any, 1) < 0) {
  }
  while (lose_all_.load()) std::this_thread::yield();
}

void BlackholeProxy::Accept() {
  Link link;
  link.client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (link.client < 0) return;
  link.daemon = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(daemon_);
  if (connect(link.daemon, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) != 0) {
    Close(&link);
    return;
  }
  link.moment = moment_.load();
  links_.push_back(link);
  accepted_.fetch_add(1);
  if (link.moment == Moment::kAtOnce) Lose(&links_.back());
}

void BlackholeProxy::Close(Link* link) {
  for (const int end : {link->client, link->daemon}) {
    if (end >= 0) close(end);
  }
}

void BlackholeProxy::Lose(Link* link) {
  if (!link->is_lost) lost_.fetch_add(1);
  link->is_lost = true;
}

// What of `bytes`, which the daemon sent, still goes through.
std::string BlackholeProxy::Pass(Link* link, const std::string& bytes) {
  std::string through;
  for (size_t at = 0; at < bytes.size() && !link->is_lost;) {
    if (link->header.size() < kFrameHeader) {
      link->header += bytes[at++];
      if (link->header.size() < kFrameHeader) continue;
      const auto byte = [&](size_t i) {
        return static_cast<size_t>(static_cast<uint8_t>(link->header[i]));
      };
      link->payload = byte(0) << 16 | byte(1) << 8 | byte(2);
      link->type = static_cast<int>(byte(3));
      if (link->moment == Moment::kBeforeHeaders && link->type == kHeaders) {
        Lose(link);
        break;
      }
      through += link->header;
    }
    size_t part = std::min(link->payload, bytes.size() - at);
    if (link->moment == Moment::kMidReply && link->type == kData) {
      part = std::min(part, link->payload / 2);
      Lose(link);
    }
    through.append(bytes, at, part);
    at += part;
    link->payload -= part;
    if (link->payload > 0) continue;
    link->header.clear();
    if (link->moment == Moment::kAfterGoaway && link->type == kGoaway) {
      Lose(link);
    }
  }
  return through;
}

bool BlackholeProxy::Relay(Link* link, int* from, int to, bool is_reply) {
  std::string bytes(size_t{1} << 16, '\0');
  const ssize_t got = recv(*from, bytes.data(), bytes.size(), 0);
  if (got <= 0) {
    close(*from);
    *from = -1;  // which poll ignores
    // The other end of a lost connection does not even learn of this.
    return link->is_lost;
  }
  bytes.resize(static_cast<size_t>(got));
  if (link->is_lost) return true;
  return SendAll(to, is_reply ? Pass(link, bytes) : bytes);
}

void BlackholeProxy::Serve() {
  for (;;) {
    std::vector<pollfd> waits = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Link& link : links_) {
      waits.push_back({link.client, POLLIN, 0});
      waits.push_back({link.daemon, POLLIN, 0});
    }
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    if ((waits[0].revents & POLLHUP) != 0) return;
    if ((waits[0].revents & POLLIN) != 0) {
      char any;
      if (read(wake_[0], &any, 1) != 1) return;
      for (Link& link : links_) Lose(&link);
      lose_all_.store(false);
      continue;
    }
    size_t i = 2;
    for (auto link = links_.begin(); link != links_.end(); i += 2) {
      const bool open = (waits[i].revents == 0 ||
                         Relay(&*link, &link->client, link->daemon, false)) &&
                        (waits[i + 1].revents == 0 ||
                         Relay(&*link, &link->daemon, link->client, true));
      if (open) {
        ++link;
        continue;
      }
      Close(&*link);
      link = links_.erase(link);
    }
    if (waits[1].revents != 0) Accept();
  }
}

}  // namespace ingot::testing
