// Time as the daemon's parts see it: handed in, so that tests need not wait.
#ifndef INGOT_SERVER_CLOCK_H_
#define INGOT_SERVER_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <functional>

namespace ingot::server {

using MonotonicTime = std::chrono::steady_clock::time_point;
// Called from any thread.
using Clock = std::function<MonotonicTime()>;

inline MonotonicTime SteadyNow() { return std::chrono::steady_clock::now(); }

// What is written down for people and for later runs.
inline int64_t UnixMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_CLOCK_H_
