#include "server/job_queue.h"

#include <utility>

namespace ingot::server {

JobQueue::JobQueue(size_t capacity) : capacity_(capacity) {}

absl::Status JobQueue::Push(Job job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return absl::UnavailableError("the daemon is draining");
  const size_t reserved = job.priority == Priority::kWarmup ? capacity_ / 8 : 0;
  const size_t allowed = capacity_ - reserved;
  if (SizeLocked() >= allowed) {
    return absl::ResourceExhaustedError(
        absl::StrCat("compile queue: found ", SizeLocked(),
                     " waiting jobs, allowed ", allowed));
  }
  const size_t share = capacity_ - capacity_ / 4;
  const size_t held =
      lines_[0].SizeOf(job.client) + lines_[1].SizeOf(job.client);
  if (!job.client.empty() && held >= share) {
    return absl::ResourceExhaustedError(
        absl::StrCat("compile queue: found ", held, " waiting jobs of ",
                     job.client, ", allowed ", share, " of one client"));
  }
  job.queued = SteadyNow();
  Line(job.priority).PushBack(std::move(job));
  changed_.notify_one();
  return absl::OkStatus();
}

bool JobQueue::Requeue(Job job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return false;
  Line(job.priority).PushFront(std::move(job));
  changed_.notify_one();
  return true;
}

std::optional<Job> JobQueue::Pop(std::chrono::nanoseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, timeout,
                    [this] { return closed_ || SizeLocked() > 0; });
  for (FairLine<Job>& line : lines_) {
    if (!line.empty()) return line.Pop();
  }
  return std::nullopt;
}

void JobQueue::Promote(uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Job job;
  if (!Line(Priority::kWarmup).Take(id, &job)) return;
  job.priority = Priority::kInteractive;
  Line(Priority::kInteractive).PushBack(std::move(job));
}

bool JobQueue::Remove(uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Job job;
  return lines_[0].Take(id, &job) || lines_[1].Take(id, &job);
}

std::vector<Job> JobQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  std::vector<Job> waiting;
  for (FairLine<Job>& line : lines_) {
    while (!line.empty()) waiting.push_back(line.Pop());
  }
  changed_.notify_all();
  return waiting;
}

bool JobQueue::closed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return closed_;
}

size_t JobQueue::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return SizeLocked();
}

}  // namespace ingot::server
