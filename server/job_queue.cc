#include "server/job_queue.h"

#include <algorithm>
#include <utility>

namespace ingot::server {
namespace {

std::deque<Job>::iterator FindJob(std::deque<Job>& line, uint64_t id) {
  return std::find_if(line.begin(), line.end(),
                      [id](const Job& job) { return job.id == id; });
}

}  // namespace

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
  Line(job.priority).push_back(std::move(job));
  changed_.notify_one();
  return absl::OkStatus();
}

bool JobQueue::Requeue(Job job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return false;
  Line(job.priority).push_front(std::move(job));
  changed_.notify_one();
  return true;
}

std::optional<Job> JobQueue::Pop(std::chrono::nanoseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, timeout,
                    [this] { return closed_ || SizeLocked() > 0; });
  for (std::deque<Job>& line : lines_) {
    if (line.empty()) continue;
    Job job = std::move(line.front());
    line.pop_front();
    return job;
  }
  return std::nullopt;
}

void JobQueue::Promote(uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::deque<Job>& warmup = Line(Priority::kWarmup);
  const auto found = FindJob(warmup, id);
  if (found == warmup.end()) return;
  Job job = std::move(*found);
  warmup.erase(found);
  job.priority = Priority::kInteractive;
  Line(Priority::kInteractive).push_back(std::move(job));
}

bool JobQueue::Remove(uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::deque<Job>& line : lines_) {
    const auto found = FindJob(line, id);
    if (found == line.end()) continue;
    line.erase(found);
    return true;
  }
  return false;
}

std::vector<Job> JobQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  std::vector<Job> waiting;
  for (std::deque<Job>& line : lines_) {
    for (Job& job : line) waiting.push_back(std::move(job));
    line.clear();
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
