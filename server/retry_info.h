// google.rpc.RetryInfo as a payload of absl::Status: "try again after".
#ifndef INGOT_SERVER_RETRY_INFO_H_
#define INGOT_SERVER_RETRY_INFO_H_

#include <chrono>
#include <string>

#include "proto/status.h"
#include "server/wire_fields.h"

namespace ingot::server {

inline constexpr absl::string_view kRetryInfoUrl =
    "type.googleapis.com/google.rpc.RetryInfo";

// RetryInfo { Duration retry_delay = 1 { int64 seconds = 1; int32 nanos = 2 } }
inline absl::Status WithRetryInfo(absl::Status status,
                                  std::chrono::milliseconds delay) {
  std::string duration;
  AppendField(&duration, 1, static_cast<uint64_t>(delay.count() / 1000));
  AppendField(&duration, 2,
              static_cast<uint64_t>(delay.count() % 1000 * 1000000));
  std::string info;
  AppendField(&info, 1, duration);
  status.SetPayload(kRetryInfoUrl, absl::Cord(info));
  return status;
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_RETRY_INFO_H_
