#include "client/src/fork_guard.h"

#include <pthread.h>

#include <atomic>

namespace ingot::client {
namespace {

// Plain data without constructors: objects may be made before static
// initialisers of the host have run.
constinit std::mutex registry_mutex;
constinit ForkGuarded* first = nullptr;
constinit bool installed = false;
constinit std::atomic<uint64_t> generation = 0;

}  // namespace

struct ForkHandlers {
  static void Prepare() {
    registry_mutex.lock();
    for (ForkGuarded* at = first; at != nullptr; at = at->next_) {
      at->mutex_.lock();
    }
  }

  static void Parent() {
    for (ForkGuarded* at = first; at != nullptr; at = at->next_) {
      at->mutex_.unlock();
    }
    registry_mutex.unlock();
  }

  static void Child() {
    generation.fetch_add(1);
    for (ForkGuarded* at = first; at != nullptr; at = at->next_) {
      at->OnForkChild();
      at->mutex_.unlock();
    }
    registry_mutex.unlock();
  }
};

ForkGuarded::ForkGuarded() {
  const std::lock_guard<std::mutex> lock(registry_mutex);
  if (!installed) {
    pthread_atfork(ForkHandlers::Prepare, ForkHandlers::Parent,
                   ForkHandlers::Child);
    installed = true;
  }
  next_ = first;
  if (first != nullptr) first->previous_ = this;
  first = this;
}

ForkGuarded::~ForkGuarded() {
  const std::lock_guard<std::mutex> lock(registry_mutex);
  if (previous_ != nullptr) previous_->next_ = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  if (first == this) first = next_;
}

uint64_t ForkGeneration() { return generation.load(); }

}  // namespace ingot::client
