// A thread and a warm worker process for each job that may run at once.
#ifndef INGOT_SERVER_WORKER_POOL_H_
#define INGOT_SERVER_WORKER_POOL_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/counters.h"
#include "server/job_queue.h"
#include "server/program_file.h"
#include "server/worker_process.h"

namespace ingot::server {

struct PoolSettings {
  int workers = 1;
  WorkerSettings worker;
  std::chrono::milliseconds job_timeout{60000};
  int max_jobs = 1000;         // then the worker is replaced
  uint64_t max_rss_bytes = 0;  // likewise, after a job; 0: never
};

// Takes jobs from the queue until Stop. Thread-safe.
class WorkerPool {
 public:
  // `note` is told of starts, deaths and replacements, for the log.
  // A line for the log, with the traceparent of whose job it was about, if any.
  using Note = std::function<void(absl::string_view event, const std::string&,
                                  const std::string& traceparent)>;

  // `program`, `queue` and `counters` must outlive the pool.
  WorkerPool(const ProgramFile& program, JobQueue& queue, Counters& counters,
             PoolSettings settings, Note note);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Ends the jobs that are running, each with a death from outside.
  // REQUIRES: the queue is closed.
  void Interrupt();
  // Ends the threads once their jobs have ended. REQUIRES: the queue is closed.
  void Stop();

  int size() const { return settings_.workers; }
  int busy() const { return busy_.load(std::memory_order_relaxed); }
  int warm() const { return warm_.load(std::memory_order_relaxed); }
  // Layers of the sandbox (server/worker/sandbox.h) that hold in the worker
  // started last.
  int sandbox_layers() const { return sandbox_layers_.load(); }
  // A worker said in its Hello that it is of another build.
  bool foreign_worker() const { return foreign_.load(); }

 private:
  // One thread's worker. Only that thread changes it, under the lock; Interrupt
  // reads it, under the lock.
  struct Slot {
    std::mutex mutex;
    std::unique_ptr<WorkerProcess> worker;
  };

  void Serve(Slot& slot);
  // Leaves the slot empty on failure, with the reason in `error`.
  void EnsureWorker(Slot& slot, absl::Status& error);
  void RunJob(Slot& slot, const Job& job);
  void Bury(Slot& slot);
  bool WornOut(const WorkerProcess& worker) const;

  const ProgramFile& program_;
  JobQueue& queue_;
  const PoolSettings settings_;
  const worker::Hello expected_;
  const Note note_;
  Counter& starts_;
  Counter& start_failures_;
  Counter& crashes_;
  Counter& limits_;
  Counter& killed_;
  Counter& recycled_;
  Histogram& interactive_wait_;
  Histogram& warmup_wait_;
  std::atomic<int> busy_{0};
  std::atomic<int> warm_{0};
  std::atomic<bool> foreign_{false};
  std::atomic<int> sandbox_layers_{0};
  std::atomic<bool> warned_{false};  // of a layer that is missing
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::thread> threads_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_WORKER_POOL_H_
