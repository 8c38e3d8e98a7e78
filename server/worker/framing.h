// Messages on a stream socket: a little-endian u32 length, then that many
// bytes. The other end may be dead, hung or writing nonsense; nothing here
// blocks beyond the deadline or allocates more than has arrived.
#ifndef INGOT_SERVER_WORKER_FRAMING_H_
#define INGOT_SERVER_WORKER_FRAMING_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/status.h"
#include "server/clock.h"

namespace ingot::server {

// Larger than any code object with its IR dump.
inline constexpr size_t kMaxFrameBytes = size_t{128} << 20;
inline constexpr MonotonicTime kNoDeadline = MonotonicTime::max();

// DEADLINE_EXCEEDED; UNAVAILABLE when the other end is gone. Never SIGPIPE.
absl::Status WriteFrame(int fd, absl::string_view payload,
                        MonotonicTime deadline = kNoDeadline);

// OK when there is something to read, the other end's close included;
// DEADLINE_EXCEEDED.
absl::Status WaitReadable(int fd, MonotonicTime deadline);

// DEADLINE_EXCEEDED; UNAVAILABLE when the other end closed; DATA_LOSS for a
// length that no sender of ours writes.
absl::StatusOr<std::string> ReadFrame(int fd,
                                      MonotonicTime deadline = kNoDeadline);

}  // namespace ingot::server

#endif  // INGOT_SERVER_WORKER_FRAMING_H_
