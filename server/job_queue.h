// What waits for a worker: bounded, interactive before warm-up, clients taking
// turns within each, in order of arrival within a client.
#ifndef INGOT_SERVER_JOB_QUEUE_H_
#define INGOT_SERVER_JOB_QUEUE_H_

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proto/status.h"
#include "server/clock.h"
#include "server/fair_line.h"
#include "server/worker/worker.pb.h"

namespace ingot::server {

enum class Priority { kInteractive = 0, kWarmup = 1 };

// Why a worker ended without an answer.
struct WorkerDeath {
  enum class Cause {
    kCrash,    // the job's fault: a crash signal, an exit, nonsense
    kLimit,    // the job's fault: memory, CPU or wall time ran out
    kOutside,  // somebody else's: SIGKILL that we did not send
  };
  Cause cause = Cause::kCrash;
  std::string what;  // one line
  std::string log;   // the end of its standard error
};

// A reply, a death, or the reason why no worker ever had the job.
using JobOutcome = std::variant<worker::Reply, WorkerDeath, absl::Status>;

struct Job {
  uint64_t id = 0;  // the caller's, for Promote and Remove; 0: neither
  Priority priority = Priority::kInteractive;
  std::string client;      // whose; empty: the daemon's own
  MonotonicTime queued{};  // set by Push
  std::shared_ptr<const worker::Request> request;
  // Asked once, just before the work; false drops the job. `done` is then not
  // called. Null: always.
  std::function<bool()> begin;
  std::function<void(const Job& job, JobOutcome outcome)> done;
};

// Thread-safe.
class JobQueue {
 public:
  // Of `capacity`, an eighth is kept for interactive jobs; a client may have
  // three quarters of it.
  explicit JobQueue(size_t capacity);

  // RESOURCE_EXHAUSTED when full or the client has its share, UNAVAILABLE after
  // Close.
  absl::Status Push(Job job);
  // Puts a job back at the front, whatever the capacity: its caller has waited.
  // False after Close.
  bool Requeue(Job job);

  // The next job; nullopt when `timeout` passed or the queue is closed.
  std::optional<Job> Pop(std::chrono::nanoseconds timeout);

  // Moves a warm-up job to the end of the interactive ones.
  void Promote(uint64_t id);
  bool Remove(uint64_t id);

  // Wakes everybody, takes nothing more, returns what was waiting.
  std::vector<Job> Close();
  bool closed() const;

  size_t size() const;
  size_t capacity() const { return capacity_; }

 private:
  FairLine<Job>& Line(Priority priority) {
    return lines_[static_cast<size_t>(priority)];
  }
  size_t SizeLocked() const { return lines_[0].size() + lines_[1].size(); }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::array<FairLine<Job>, 2> lines_;  // by Priority
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_JOB_QUEUE_H_
