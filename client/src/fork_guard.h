// What keeps the library usable on both sides of fork(). Only the forking
// thread lives on in the child, so a lock that another thread held would stay
// locked for ever, and a connection would be shared by two processes. Every
// object with a lock or a connection is a ForkGuarded: its lock is taken before
// the fork and given back on both sides, and the child drops what it must not
// share.
//
// A ForkGuarded's lock is never taken while another one's is held, so the order
// in which the fork takes them does not matter.
#ifndef INGOT_CLIENT_SRC_FORK_GUARD_H_
#define INGOT_CLIENT_SRC_FORK_GUARD_H_

#include <cstdint>
#include <mutex>

namespace ingot::client {

class ForkGuarded {
 public:
  ForkGuarded();
  ForkGuarded(const ForkGuarded&) = delete;
  ForkGuarded& operator=(const ForkGuarded&) = delete;

 protected:
  // No thread may fork while an object of a class that overrides OnForkChild is
  // being destroyed.
  virtual ~ForkGuarded();

  // In the child, mutex() held.
  virtual void OnForkChild() {}

  std::mutex& mutex() { return mutex_; }

 private:
  friend struct ForkHandlers;

  std::mutex mutex_;
  ForkGuarded* next_ = nullptr;
  ForkGuarded* previous_ = nullptr;
};

// How many forks lie between this process and the one that first used the
// library. Changes in the child alone. Any thread.
uint64_t ForkGeneration();

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_FORK_GUARD_H_
