// What live traffic asks for, by spec: how often, when, with what answer. From
// it a list can be made that warms the next daemon.
#ifndef INGOT_SERVER_RECORDER_H_
#define INGOT_SERVER_RECORDER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "ingot/v1/recorded.pb.h"
#include "proto/status.h"
#include "server/clock.h"
#include "server/counters.h"
#include "server/plans.h"

namespace ingot::server {

// Thread-safe. Bounded: when it is full, further specs are counted and not
// recorded, and those that it has go on.
class Recorder {
 public:
  enum class Answer { kHit, kCompiled, kRefused, kAbandoned };

  // One spec. Whoever will answer for it again keeps it, so that counting
  // allocates nothing and takes no lock. Thread-safe.
  class Line {
   public:
    void Count(Answer answer, int64_t unix_ms = UnixMillis());
    // The single values of token-like dims in `asked`.
    void Note(const Spec& asked);

   private:
    friend class Recorder;

    struct Tokens {
      std::string dim;
      std::atomic<int64_t> min{INT64_MAX};
      std::atomic<int64_t> max{-1};
    };

    explicit Line(const Spec& canonical);
    void Write(v1::RecordedSpec* out) const;

    v1::Spec spec_;
    std::array<std::atomic<uint64_t>, 4> counts_{};  // by Answer
    std::atomic<Answer> last_{Answer::kHit};
    std::atomic<int64_t> first_ms_{0};  // 0: nothing was counted
    std::atomic<int64_t> last_ms_{0};
    std::array<Tokens, 4> tokens_;  // those with a name
  };

  // `max_specs` 0 records nothing. `counters` must outlive this.
  Recorder(size_t max_specs, Counters& counters);

  // The line of the spec that `plan` was made for, with its values noted. Null
  // when it is not recorded; then the request was counted as that.
  std::shared_ptr<Line> Of(const AskedPlan& plan);

  // INVALID_ARGUMENT for a page that there cannot be.
  absl::StatusOr<v1::ListRecordedResponse> List(
      const v1::ListRecordedRequest& request) const;

  // Returns how many there were. Lines that somebody keeps count on unseen.
  size_t Forget();

  size_t size() const;

 private:
  const size_t max_specs_;
  Counter& unrecorded_;  // since the start

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Line>> lines_;  // by spec digest
  int64_t since_ms_ = UnixMillis();
  uint64_t unrecorded_before_ = 0;  // Forget
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_RECORDER_H_
