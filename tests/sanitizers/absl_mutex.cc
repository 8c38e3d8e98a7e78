// Tells the thread sanitizer about absl::Mutex. The distribution's abseil is
// not instrumented, so its mutexes order nothing in the sanitizer's eyes and
// every guarded member looks like a race. Linked into each test program of the
// tsan preset, these definitions stand before the library's: each calls the
// library's own and says that what happened before an unlock happened before
// the next lock.
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "tests/sanitizers/next_definition.h"

namespace {

void Acquired(absl::Mutex* mutex) { __tsan_acquire(mutex); }
void Releasing(absl::Mutex* mutex) { __tsan_release(mutex); }

// Around a wait, which gives the mutex up and takes it again.
template <typename Wait>
auto Waiting(absl::Mutex* mutex, Wait wait) {
  struct Again {
    absl::Mutex* mutex;
    ~Again() { Acquired(mutex); }
  } again{mutex};
  Releasing(mutex);
  return wait();
}

// A condition that is evaluated by whichever thread holds the mutex, inside the
// library, after Waiting has spoken: each evaluation speaks for itself.
struct Watched {
  absl::Mutex* mutex;
  const absl::Condition& condition;

  bool operator()() const {
    Acquired(mutex);
    const bool holds = condition.Eval();
    Releasing(mutex);
    return holds;
  }
};

}  // namespace

namespace absl {

#define INGOT_NEXT(Result, name, ...) \
  static const auto next = ingot::NextDefinition<Result (*)(__VA_ARGS__)>(name)

void Mutex::Lock() {
  INGOT_NEXT(void, "_ZN4absl7debian35Mutex4LockEv", Mutex*);
  next(this);
  Acquired(this);
}

void Mutex::Unlock() {
  INGOT_NEXT(void, "_ZN4absl7debian35Mutex6UnlockEv", Mutex*);
  Releasing(this);
  next(this);
}

bool Mutex::TryLock() {
  INGOT_NEXT(bool, "_ZN4absl7debian35Mutex7TryLockEv", Mutex*);
  const bool locked = next(this);
  if (locked) Acquired(this);
  return locked;
}

void Mutex::ReaderLock() {
  INGOT_NEXT(void, "_ZN4absl7debian35Mutex10ReaderLockEv", Mutex*);
  next(this);
  Acquired(this);
}

void Mutex::ReaderUnlock() {
  INGOT_NEXT(void, "_ZN4absl7debian35Mutex12ReaderUnlockEv", Mutex*);
  Releasing(this);
  next(this);
}

void Mutex::Await(const Condition& condition) {
  INGOT_NEXT(void, "_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE", Mutex*,
             const Condition&);
  const Watched watched{this, condition};
  Waiting(this, [&] { next(this, Condition(&watched)); });
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  INGOT_NEXT(bool,
             "_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_"
             "8DurationE",
             Mutex*, const Condition&, Duration);
  const Watched watched{this, condition};
  return Waiting(this,
                 [&] { return next(this, Condition(&watched), timeout); });
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  INGOT_NEXT(
      bool,
      "_ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE",
      Mutex*, const Condition&, Time);
  const Watched watched{this, condition};
  return Waiting(this,
                 [&] { return next(this, Condition(&watched), deadline); });
}

void Mutex::LockWhen(const Condition& condition) {
  INGOT_NEXT(void, "_ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE", Mutex*,
             const Condition&);
  const Watched watched{this, condition};
  Waiting(this, [&] { next(this, Condition(&watched)); });
}

void CondVar::Wait(Mutex* mutex) {
  INGOT_NEXT(void, "_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE", CondVar*,
             Mutex*);
  Waiting(mutex, [&] { next(this, mutex); });
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  INGOT_NEXT(
      bool,
      "_ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE",
      CondVar*, Mutex*, Duration);
  return Waiting(mutex, [&] { return next(this, mutex, timeout); });
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  INGOT_NEXT(
      bool, "_ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE",
      CondVar*, Mutex*, Time);
  return Waiting(mutex, [&] { return next(this, mutex, deadline); });
}

#undef INGOT_NEXT

}  // namespace absl
