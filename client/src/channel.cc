#include "client/src/channel.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "client/src/tls_stream.h"

namespace ingot::client {
namespace {

constexpr int kMostRetries = 4;
constexpr int64_t kFirstBackoffMs = 20;

bool IsRetryable(const Status& status) {
  if (status.code == INGOT_UNAVAILABLE) return true;
  return status.code == INGOT_RESOURCE_EXHAUSTED && status.retry_after_ms >= 0;
}

void SleepMs(int64_t milliseconds) {
  timespec time = {static_cast<time_t>(milliseconds / 1000),
                   static_cast<long>(milliseconds % 1000 * 1'000'000)};
  while (nanosleep(&time, &time) != 0) {
  }
}

// Doubled twice each time, and spread by the clock's low bits, so that clients
// refused together do not come back together.
int64_t BackoffMs(const Status& status, int retry) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t base =
      std::max(kFirstBackoffMs << (2 * retry), status.retry_after_ms);
  return base + now.tv_nsec / 1000 % (base / 2 + 1);
}

std::string AuthorityOf(const Address& address) {
  if (address.kind != Address::kTcp) return "localhost";
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + address.port;
}

}  // namespace

std::string TraceparentOfEnvironment() {
  constexpr size_t kLongest = 256;
  const char* text = getenv("TRACEPARENT");
  if (text == nullptr) return "";
  const std::string value(text);
  // Anything else would break the connection; what it says is the daemon's to
  // judge.
  const bool sendable =
      value.size() <= kLongest &&
      value.find_first_not_of("0123456789abcdef-") == std::string::npos;
  return sendable ? value : "";
}

Channel::~Channel() = default;

void Channel::OnForkChild() {
  // The parent goes on using these sockets; closing this process's descriptors
  // sends nothing on them.
  idle_.clear();
  for (Connection* connection : in_use_) connection->Abandon();
  in_use_.clear();
}

std::unique_ptr<Connection> Channel::TakeIdle() {
  for (;;) {
    std::unique_ptr<Connection> connection;
    {
      const std::lock_guard<std::mutex> lock(mutex());
      if (idle_.empty()) return nullptr;
      connection = std::move(idle_.back());
      idle_.pop_back();
      in_use_.push_back(connection.get());
    }
    if (connection->Usable()) return connection;
    Untrack(connection.get());
  }
}

void Channel::Track(Connection* connection) {
  const std::lock_guard<std::mutex> lock(mutex());
  in_use_.push_back(connection);
}

void Channel::Untrack(Connection* connection) {
  const std::lock_guard<std::mutex> lock(mutex());
  in_use_.erase(std::remove(in_use_.begin(), in_use_.end(), connection),
                in_use_.end());
}

void Channel::Return(std::unique_ptr<Connection> connection) {
  const bool usable = connection->Usable();
  const std::lock_guard<std::mutex> lock(mutex());
  in_use_.erase(std::remove(in_use_.begin(), in_use_.end(), connection.get()),
                in_use_.end());
  if (usable && idle_.size() < options_.max_idle) {
    idle_.push_back(std::move(connection));
  }
}

Status Channel::Open(Deadline deadline,
                     std::unique_ptr<Connection>* connection) {
  const Address& address = options_.address;
  std::unique_ptr<ByteStream> stream;
  INGOT_CLIENT_RETURN_IF_ERROR(Connect(address, deadline, &stream));
  if (address.tls) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        StartTls(options_.tls, address, deadline, &stream));
  }
  stats_.connections.fetch_add(1, std::memory_order_relaxed);
  *connection = std::make_unique<Connection>(std::move(stream),
                                             AuthorityOf(address), address.tls);
  return Status();
}

CallEnd Channel::RunOnce(const Call& call, bool fresh, Attempt* attempt) {
  std::unique_ptr<Connection> connection = fresh ? nullptr : TakeIdle();
  attempt->reused = connection != nullptr;
  if (connection == nullptr) {
    CallEnd end;
    end.status =
        Open(call.deadline.Within(options_.connect_timeout_ms), &connection);
    if (!end.status.ok()) return end;
    Track(connection.get());
  }
  attempt->connected = true;
  stats_.calls.fetch_add(1, std::memory_order_relaxed);
  CallEnd end = connection->Run(call);
  if (!end.status.ok()) {
    stats_.failed_calls.fetch_add(1, std::memory_order_relaxed);
  }
  Return(std::move(connection));
  return end;
}

Status Channel::Invoke(const Call& call) {
  bool delivered = false;
  Call counted = call;
  counted.traceparent = options_.traceparent;
  counted.on_message = [&](const uint8_t* data, size_t size) {
    delivered = true;
    return call.on_message(data, size);
  };
  bool fresh = false;
  for (int retry = 0;;) {
    // What has come in time counts, however late it is looked at; what cannot
    // come in time is not asked for.
    if (call.deadline.Expired()) {
      return Error(INGOT_DEADLINE_EXCEEDED,
                   "the time budget of %s was spent before it was sent",
                   call.method);
    }
    Attempt attempt;
    CallEnd end = RunOnce(counted, fresh, &attempt);
    if (end.status.ok() || delivered || !IsRetryable(end.status)) {
      return end.status;
    }
    // Nobody listens: that is the answer, and whoever has a fallback wants it
    // now.
    if (!attempt.connected) return end.status;
    fresh = true;
    if (attempt.reused && end.unanswered) {
      // The pooled connection was older than the daemon.
      stats_.retries.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    const int64_t wait = BackoffMs(end.status, retry);
    if (retry == kMostRetries || wait >= call.deadline.RemainingMs()) {
      return end.status;
    }
    SleepMs(wait);
    ++retry;
    stats_.retries.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace ingot::client
