// A thread that does one piece of work soon after it is asked to.
#ifndef INGOT_CACHE_BACKGROUND_TASK_H_
#define INGOT_CACHE_BACKGROUND_TASK_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace ingot::cache {

// Runs `work` on a thread of its own: `delay` after the first Kick() since the
// last run began, and every `period` without one (absl::InfiniteDuration() =
// never; an idle task then costs no wake-ups). Runs never overlap. The
// destructor waits for a run in progress and starts no further one.
class BackgroundTask {
 public:
  BackgroundTask(absl::Duration delay, absl::Duration period,
                 std::function<void()> work);
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Thread-safe.
  void Kick();

 private:
  void Loop();

  const absl::Duration delay_;
  const absl::Duration period_;
  const std::function<void()> work_;
  absl::Mutex mutex_;
  bool kicked_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_BACKGROUND_TASK_H_
