// Tasks one after another on a thread of their own.
#ifndef INGOT_SERVER_TASK_LINE_H_
#define INGOT_SERVER_TASK_LINE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace ingot::server {

// Thread-safe. What waits when the object goes is still done.
class TaskLine {
 public:
  explicit TaskLine(size_t capacity)
      : capacity_(capacity), thread_([this] { Loop(); }) {}
  ~TaskLine() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }
  TaskLine(const TaskLine&) = delete;
  TaskLine& operator=(const TaskLine&) = delete;

  // False when `capacity` tasks wait already.
  bool Push(std::function<void()> task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (tasks_.size() >= capacity_) return false;
    tasks_.push_back(std::move(task));
    changed_.notify_one();
    return true;
  }
  size_t capacity() const { return capacity_; }

 private:
  void Loop() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> tasks_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_TASK_LINE_H_
