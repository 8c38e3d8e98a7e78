#include "tests/emulator/hip/queue.h"

#include <unistd.h>

#include <chrono>
#include <thread>

namespace ingot::emulator::hip {
namespace {

thread_local bool in_queue = false;

// All queues of the process; never destroyed, since threads outlive main.
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  bool stopped = false;
  const pid_t process = getpid();
};
Running& Shared() {
  static Running* const shared = new Running;
  return *shared;
}

bool Begin() {
  Running& r = Shared();
  std::lock_guard<std::mutex> lock(r.mutex);
  if (r.stopped) return false;
  ++r.count;
  return true;
}
void End() {
  Running& r = Shared();
  std::lock_guard<std::mutex> lock(r.mutex);
  if (--r.count == 0) r.changed.notify_all();
}

}  // namespace

void Completion::Wait() const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
}

bool Completion::done() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

int64_t Completion::nanoseconds() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return nanoseconds_;
}

void Completion::Finish() {
  std::lock_guard<std::mutex> lock(mutex_);
  done_ = true;
  nanoseconds_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::steady_clock::now().time_since_epoch())
                     .count();
  changed_.notify_all();
}

CompletionPtr Queue::Push(std::function<void()> work,
                          std::vector<CompletionPtr> after) {
  Shared();  // before any fork that could follow
  auto completion = std::make_shared<Completion>();
  std::lock_guard<std::mutex> lock(mutex_);
  items_.push_back({std::move(work), std::move(after), completion});
  last_ = completion;
  if (!started_) {
    started_ = true;
    std::thread([self = shared_from_this()] { self->Loop(); }).detach();
  }
  changed_.notify_one();
  return completion;
}

CompletionPtr Queue::last() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_ == nullptr || last_->done() ? nullptr : last_;
}

void Queue::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

bool Queue::InQueue() { return in_queue; }

void Queue::Loop() {
  in_queue = true;
  for (;;) {
    Item item;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    for (const CompletionPtr& before : item.after) before->Wait();
    if (Begin()) {
      item.work();
      item.work = nullptr;  // what it owns is gone before others go on
      End();
    }
    item.completion->Finish();
  }
}

void Queue::StopAll() {
  Running& r = Shared();
  if (r.process != getpid()) return;
  std::unique_lock<std::mutex> lock(r.mutex);
  r.stopped = true;
  r.changed.wait_for(lock, std::chrono::seconds(5),
                     [&r] { return r.count == 0; });
}

}  // namespace ingot::emulator::hip
