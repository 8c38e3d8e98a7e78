// Work that runs in order behind the caller's back, as on a device queue.
#ifndef TESTS_EMULATOR_HIP_QUEUE_H_
#define TESTS_EMULATOR_HIP_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace ingot::emulator::hip {

// The end of one piece of work. Thread-safe.
class Completion {
 public:
  void Wait() const;
  bool done() const;
  // When it was done, on the steady clock.
  int64_t nanoseconds() const;
  void Finish();

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  int64_t nanoseconds_ = 0;
};
using CompletionPtr = std::shared_ptr<Completion>;

// A thread that does work in the order of submission. It is started by the
// first Push, lives until Close and an empty queue, and is never joined.
// Thread-safe.
class Queue : public std::enable_shared_from_this<Queue> {
 public:
  // Runs `work` once everything before it and all of `after` are done.
  CompletionPtr Push(std::function<void()> work,
                     std::vector<CompletionPtr> after);
  // The end of what was pushed last; null when that is done.
  CompletionPtr last() const;
  void Close();

  // Whether the calling thread is a queue's own: it must not wait for queues.
  static bool InQueue();
  // For the end of the process: nothing more is begun, and what runs has a few
  // seconds to end. Does nothing in a fork of the process that had the queues.
  static void StopAll();

 private:
  struct Item {
    std::function<void()> work;
    std::vector<CompletionPtr> after;
    CompletionPtr completion;
  };
  void Loop();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  CompletionPtr last_;
  bool started_ = false;
  bool closed_ = false;
};

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_QUEUE_H_
