// A point in time by which something must have ended, on the monotonic clock.
#ifndef INGOT_CLIENT_SRC_DEADLINE_H_
#define INGOT_CLIENT_SRC_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ingot::client {

class Deadline {
 public:
  static Deadline After(int64_t milliseconds) {
    return Deadline(Clock::now() + std::chrono::milliseconds(milliseconds));
  }

  // The earlier of this and `milliseconds` from now.
  Deadline Within(int64_t milliseconds) const {
    return Deadline(std::min(at_, After(milliseconds).at_));
  }

  // Half of what is left.
  Deadline Half() const { return Within(RemainingMs() / 2); }

  // Rounded up, so that waiting that long never ends early; 0 when past.
  int64_t RemainingMs() const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now());
    return std::max<int64_t>(0, left.count());
  }

  bool Expired() const { return Clock::now() >= at_; }

 private:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(Clock::time_point at) : at_(at) {}

  Clock::time_point at_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_DEADLINE_H_
