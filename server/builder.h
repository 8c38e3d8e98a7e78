// From a kernel that no tier has to one that all have: single flight, queue,
// worker, publish; and what is remembered of those that cannot be built.
//
// A worker's death costs its job a retry on another worker. Two deaths that
// were the job's own fault (a crash signal, the daemon's own limits) put the
// kernel in quarantine: FAILED_PRECONDITION with the id of a repro bundle, for
// good after crashes, for a while after limits. A SIGKILL from outside counts
// for neither; when the third worker dies of one too, the caller gets
// UNAVAILABLE.
#ifndef INGOT_SERVER_BUILDER_H_
#define INGOT_SERVER_BUILDER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "compiler/plan.h"
#include "proto/status.h"
#include "server/bundles.h"
#include "server/counters.h"
#include "server/flights.h"
#include "server/job_queue.h"
#include "server/kernel_store.h"
#include "server/negative_cache.h"
#include "server/trust.h"

namespace ingot::server {

// Thread-safe.
class Builder {
 public:
  // One finished compile, for the log.
  using Note = std::function<void(
      const std::string& op, absl::string_view key, const absl::Status& status,
      int64_t compile_us, const std::string& traceparent)>;

  // All must outlive the builder. `workers` is how many jobs run at once, for
  // the estimate in RetryInfo. What is built is signed by `trust`; nothing is
  // built that would not pass its policy.
  Builder(KernelStore& store, JobQueue& queue, NegativeCache& refusals,
          Bundles& bundles, const Trust& trust, Counters& counters, int workers,
          Note note);

  // `done` is called exactly once, possibly before this returns, unless
  // Abandon comes first. Looks in the store once more before compiling.
  // `client` is whose turn it takes in the queue; `traceparent` is of the one
  // who asked first, for the log.
  Flights::Ticket Build(const PlanKernel& kernel, Priority priority,
                        const std::string& client, Flights::Done done,
                        std::string traceparent = "");
  // The caller no longer waits: `done` will not start. Others may.
  void Abandon(const Flights::Ticket& ticket);

  // What a caller may wait before it tries again, from the queue's length.
  std::chrono::milliseconds RetryDelay() const;

  // What a build of `key` would be refused with unasked; OK for nothing.
  absl::Status Known(absl::string_view key) { return refusals_.Find(key); }

  // Forgets refusals and quarantine of a key; of all when empty.
  void Forgive(absl::string_view key);

  // From now on every build is refused with UNAVAILABLE; queued ones are handed
  // back, running ones go on.
  void Drain();
  // Ends what still runs with UNAVAILABLE.
  void GiveUp();
  // Builds that are queued or running.
  size_t in_flight() const { return flights_.size(); }

 private:
  // What is known of the flight's kernel while it is built.
  struct Work {
    std::string key;
    std::string key_encoding;
    std::string op;
    std::string symbol;
    std::string client;
    std::string traceparent;
    uint64_t flight = 0;
    int deaths = 0;  // of workers, for whatever cause
  };

  absl::Status Refusal(absl::string_view key);
  void Enqueue(Work work, Priority priority);
  // Continues with what a worker, or the lack of one, said.
  void OnOutcome(const Job& job, Work& work, JobOutcome outcome);
  void OnReply(const Work& work, worker::Reply reply);
  void OnDeath(const Job& job, Work& work, const WorkerDeath& death);
  void Quarantine(const Work& work, const WorkerDeath& death);
  void Succeed(const Work& work, worker::Reply reply);
  void Fail(const Work& work, const absl::Status& status);
  void ObserveStage(absl::string_view stage, int64_t micros);
  int CountFault(absl::string_view key);
  // Writes the bundle; the status that names it.
  absl::Status Explain(const Work& work, absl::StatusCode code,
                       absl::string_view what, Bundle bundle);

  KernelStore& store_;
  JobQueue& queue_;
  NegativeCache& refusals_;
  Bundles& bundles_;
  const Trust& trust_;
  const int workers_;
  const Note note_;
  Counters& counters_;
  Counter& compiles_;
  Counter& compile_failures_;
  Counter compile_us_;  // of all compiles together
  Counter& coalesced_;
  Counter& negative_hits_;
  Counter& quarantined_;
  Counter& retries_;
  Flights flights_;
  std::atomic<bool> draining_{false};
  std::mutex mutex_;
  absl::flat_hash_map<std::string, int> faults_;  // workers' deaths by key
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_BUILDER_H_
