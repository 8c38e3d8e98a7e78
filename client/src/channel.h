// Calls to one daemon: a small pool of connections with one call in flight
// each, so that a hit never waits behind a cold compile. Connections are made
// when needed and thrown away when they break; no background threads.
#ifndef INGOT_CLIENT_SRC_CHANNEL_H_
#define INGOT_CLIENT_SRC_CHANNEL_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "client/src/address.h"
#include "client/src/connection.h"
#include "client/src/fork_guard.h"
#include "client/src/tls_options.h"

namespace ingot::client {

// The environment's TRACEPARENT, by which a process is told the trace that it
// belongs to; empty when there is none or it cannot be one.
std::string TraceparentOfEnvironment();

struct ChannelOptions {
  Address address;
  TlsOptions tls;  // of an address with tls
  int64_t connect_timeout_ms = 1000;
  size_t max_idle = 4;
  std::string traceparent = TraceparentOfEnvironment();
};

struct ChannelStats {
  std::atomic<uint64_t> calls = 0;
  std::atomic<uint64_t> failed_calls = 0;
  std::atomic<uint64_t> retries = 0;
  std::atomic<uint64_t> connections = 0;
};

// Thread-safe.
class Channel : public ForkGuarded {
 public:
  explicit Channel(ChannelOptions options) : options_(std::move(options)) {}
  ~Channel() override;

  // Runs a call that is safe to repeat. It is repeated, within its deadline,
  // after a broken connection, UNAVAILABLE, and RESOURCE_EXHAUSTED with
  // RetryInfo, as long as on_message was not called. When no daemon listens it
  // fails at once.
  Status Invoke(const Call& call);

  const Address& address() const { return options_.address; }
  const ChannelStats& stats() const { return stats_; }

 private:
  struct Attempt {
    bool connected = false;
    bool reused = false;  // a connection that had carried a call before
  };

  void OnForkChild() override;
  Status Open(Deadline deadline, std::unique_ptr<Connection>* connection);
  CallEnd RunOnce(const Call& call, bool fresh, Attempt* attempt);
  std::unique_ptr<Connection> TakeIdle();
  void Return(std::unique_ptr<Connection> connection);
  void Track(Connection* connection);
  void Untrack(Connection* connection);

  const ChannelOptions options_;
  ChannelStats stats_;
  // Both under mutex().
  std::vector<std::unique_ptr<Connection>> idle_;  // the last used is last
  std::vector<Connection*> in_use_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_CHANNEL_H_
