#include "server/worker_pool.h"

#include <algorithm>
#include <utility>

#include "server/worker/hello.h"

namespace ingot::server {
namespace {

// How often an idle thread looks whether its worker still lives.
constexpr std::chrono::milliseconds kIdleCheck{500};
constexpr std::chrono::milliseconds kFirstBackoff{100};
constexpr std::chrono::milliseconds kLastBackoff{10000};

}  // namespace

WorkerPool::WorkerPool(const ProgramFile& program, JobQueue& queue,
                       Counters& counters, PoolSettings settings, Note note)
    : program_(program),
      queue_(queue),
      settings_(std::move(settings)),
      expected_(OwnHello()),
      note_(std::move(note)),
      starts_(counters.Get("ingot_worker_starts_total")),
      start_failures_(counters.Get("ingot_worker_start_failures_total")),
      crashes_(counters.Get(R"(ingot_worker_deaths_total{cause="crash"})")),
      limits_(counters.Get(R"(ingot_worker_deaths_total{cause="limit"})")),
      killed_(counters.Get(R"(ingot_worker_deaths_total{cause="outside"})")),
      recycled_(counters.Get("ingot_worker_recycled_total")),
      interactive_wait_(counters.GetHistogram(
          R"(ingot_queue_wait_seconds{priority="interactive"})")),
      warmup_wait_(counters.GetHistogram(
          R"(ingot_queue_wait_seconds{priority="warmup"})")) {
  for (int i = 0; i < settings_.workers; ++i) {
    slots_.push_back(std::make_unique<Slot>());
    Slot& slot = *slots_.back();
    threads_.emplace_back([this, &slot] { Serve(slot); });
  }
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Interrupt() {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    const std::lock_guard<std::mutex> lock(slot->mutex);
    if (slot->worker) slot->worker->Interrupt();
  }
}

void WorkerPool::Stop() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::Serve(Slot& slot) {
  absl::Status error;
  std::chrono::milliseconds backoff = kFirstBackoff;
  while (!queue_.closed()) {
    EnsureWorker(slot, error);
    backoff = slot.worker ? kFirstBackoff : std::min(backoff * 2, kLastBackoff);
    const std::optional<Job> job =
        queue_.Pop(slot.worker ? kIdleCheck : backoff);
    if (!job) continue;
    EnsureWorker(slot, error);
    if (slot.worker) {
      RunJob(slot, *job);
    } else if (!job->begin || job->begin()) {
      job->done(*job,
                absl::UnavailableError(absl::StrCat(
                    "no compile worker can be started: ", error.message())));
    }
  }
  if (slot.worker) Bury(slot);
}

void WorkerPool::Bury(Slot& slot) {
  std::unique_ptr<WorkerProcess> worker;
  {
    const std::lock_guard<std::mutex> lock(slot.mutex);
    worker = std::move(slot.worker);
  }
  warm_.fetch_sub(1);
}

void WorkerPool::EnsureWorker(Slot& slot, absl::Status& error) {
  if (slot.worker && !slot.worker->Alive()) {
    note_("worker died idle",
          absl::StrCat("after ", slot.worker->jobs(), " jobs"), "");
    killed_.Add();
    Bury(slot);
  }
  if (slot.worker) return;
  absl::StatusOr<std::unique_ptr<WorkerProcess>> started =
      WorkerProcess::Start(program_, settings_.worker, expected_,
                           [this] { return queue_.closed(); });
  if (!started.ok()) {
    error = started.status();
    if (absl::IsCancelled(error)) return;  // wanted no more
    start_failures_.Add();
    foreign_.store(absl::IsFailedPrecondition(error));
    note_("worker not started", std::string(error.message()), "");
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(slot.mutex);
    slot.worker = *std::move(started);
  }
  foreign_.store(false);
  starts_.Add();
  warm_.fetch_add(1);
  note_("worker warm", absl::StrCat("pid ", slot.worker->pid()), "");
  const worker::Hello& hello = slot.worker->hello();
  sandbox_layers_.store(hello.sandbox_layers_size());
  if (!hello.sandbox_missing().empty() && !warned_.exchange(true)) {
    note_("worker not fully confined", hello.sandbox_missing(), "");
  }
}

void WorkerPool::RunJob(Slot& slot, const Job& job) {
  if (job.begin && !job.begin()) return;
  (job.priority == Priority::kWarmup ? warmup_wait_ : interactive_wait_)
      .Observe(SteadyNow() - job.queued);
  busy_.fetch_add(1);
  std::variant<worker::Reply, WorkerDeath> result =
      slot.worker->Run(*job.request, settings_.job_timeout);
  busy_.fetch_sub(1);
  if (worker::Reply* reply = std::get_if<worker::Reply>(&result)) {
    const bool worn_out = WornOut(*slot.worker);
    // The answer first: nobody waits for the replacement.
    job.done(job, std::move(*reply));
    if (worn_out) {
      recycled_.Add();
      Bury(slot);
    }
    return;
  }
  WorkerDeath& death = std::get<WorkerDeath>(result);
  using Cause = WorkerDeath::Cause;
  (death.cause == Cause::kCrash   ? crashes_
   : death.cause == Cause::kLimit ? limits_
                                  : killed_)
      .Add();
  note_("worker died", death.what, job.request->trace());
  Bury(slot);
  job.done(job, std::move(death));
}

bool WorkerPool::WornOut(const WorkerProcess& worker) const {
  return worker.jobs() >= settings_.max_jobs ||
         (settings_.max_rss_bytes > 0 &&
          worker.rss_bytes() > settings_.max_rss_bytes);
}

}  // namespace ingot::server
