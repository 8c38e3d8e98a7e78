// The parts of the gRPC wire protocol that are not HTTP/2: message framing, the
// status in trailers, time-outs. Pure.
#ifndef INGOT_CLIENT_SRC_GRPC_MESSAGE_H_
#define INGOT_CLIENT_SRC_GRPC_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/src/status.h"

namespace ingot::client {

// A message on the wire: u8 compressed, u32 length (big-endian), bytes.
inline constexpr size_t kMessagePrefix = 5;

// Given a whole message, which is gone when it returns. What it returns, when
// not OK, ends the call with that.
using OnMessage = std::function<Status(const uint8_t* data, size_t size)>;

// Puts messages together from pieces of any size.
class MessageReader {
 public:
  MessageReader(size_t largest, OnMessage on_message)
      : largest_(largest), on_message_(std::move(on_message)) {}

  // RESOURCE_EXHAUSTED for a message above the limit, UNIMPLEMENTED for a
  // compressed one, else what on_message returned. After an error no more.
  Status Feed(const uint8_t* data, size_t size);

  // Whether the pieces so far end with a whole message.
  bool AtBoundary() const { return prefix_size_ == 0; }

 private:
  Status StartBody();

  const size_t largest_;
  const OnMessage on_message_;
  uint8_t prefix_[kMessagePrefix];
  size_t prefix_size_ = 0;
  size_t body_size_ = 0;
  std::vector<uint8_t> body_;
};

// "120000m": at most eight digits and a unit.
std::string GrpcTimeout(int64_t milliseconds);

// grpc-message is percent-encoded; what is no valid escape stays as it is.
std::string PercentDecode(const std::string& text);

// The delay of a google.rpc.RetryInfo in grpc-status-details-bin (base64 of a
// google.rpc.Status) in milliseconds; -1 when there is none.
int64_t RetryDelayMs(const std::string& details_base64);

// gRPC's code for an HTTP answer without grpc-status, and for a reset stream.
int CodeOfHttpStatus(int http_status);
int CodeOfReset(uint32_t http2_error);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_GRPC_MESSAGE_H_
