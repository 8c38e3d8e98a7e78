// One HTTP/2 connection that carries one gRPC call at a time. No thread of its
// own: the calling thread polls. Not thread-safe.
#ifndef INGOT_CLIENT_SRC_CONNECTION_H_
#define INGOT_CLIENT_SRC_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/src/byte_stream.h"
#include "client/src/deadline.h"
#include "client/src/grpc_message.h"
#include "client/src/status.h"

struct nghttp2_session;

namespace ingot::client {

struct Call {
  const char* method = nullptr;  // "/ingot.v1.Kernels/GetKernel"
  const uint8_t* request = nullptr;
  size_t request_size = 0;
  Deadline deadline = Deadline::After(0);
  OnMessage on_message;
  std::string traceparent;  // W3C trace context to go along; empty: none
};

struct CallEnd {
  Status status;
  // The connection broke, or the server said that it did not look at the call,
  // before any part of an answer came: sending it again is safe for any call.
  bool unanswered = false;
};

class Connection {
 public:
  // `authority` is what the server is called: "localhost" on a Unix socket
  // (strict servers reset a path there). `tls`: the stream is.
  Connection(std::unique_ptr<ByteStream> stream, std::string authority,
             bool tls = false);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs a call to its end: OK only when the server said OK; UNAVAILABLE when
  // the connection broke; DEADLINE_EXCEEDED at the deadline, after which the
  // connection is of no further use.
  CallEnd Run(const Call& call);

  // Whether another call may be run: reads what has come in since the last one,
  // so that a server's farewell is seen before anything is sent.
  bool Usable();

  // In a forked child, for a connection that a thread of the parent was using:
  // gives this process's descriptor up. Nothing else may follow.
  void Abandon() { stream_->Abandon(); }

 private:
  struct Exchange;
  struct Callbacks;

  int64_t Submit(const Call& call, Exchange* exchange);
  bool Flush();
  bool ReadAvailable();
  void Break(std::string reason);
  CallEnd Finish(const Exchange& exchange) const;

  const std::unique_ptr<ByteStream> stream_;
  const std::string authority_;
  const std::string scheme_;
  nghttp2_session* session_ = nullptr;
  Exchange* exchange_ = nullptr;  // of the call that runs
  std::vector<uint8_t> out_;      // serialised, not yet written
  size_t out_done_ = 0;
  std::vector<uint8_t> in_;
  bool going_away_ = false;
  bool broken_ = false;
  std::string broken_why_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_CONNECTION_H_
