#include "cache/background_task.h"

#include <utility>

namespace ingot::cache {

BackgroundTask::BackgroundTask(absl::Duration delay, absl::Duration period,
                               std::function<void()> work)
    : delay_(delay), period_(period), work_(std::move(work)) {
  thread_ = std::thread([this] { Loop(); });
}

BackgroundTask::~BackgroundTask() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void BackgroundTask::Kick() {
  absl::MutexLock lock(&mutex_);
  kicked_ = true;
}

void BackgroundTask::Loop() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      const auto awake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return kicked_ || stopping_;
      };
      mutex_.AwaitWithTimeout(absl::Condition(&awake), period_);
      if (kicked_ && !stopping_) {
        mutex_.AwaitWithTimeout(absl::Condition(&stopping_), delay_);
      }
      if (stopping_) return;
      // Cleared before the work: a Kick during it asks for another run.
      kicked_ = false;
    }
    work_();
  }
}

}  // namespace ingot::cache
