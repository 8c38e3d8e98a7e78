// Handles are looked up, never trusted: a stale or invented one is not found.
// The address of a dropped object is not used again soon, so that a stale
// handle does not become somebody else's.
#ifndef TESTS_EMULATOR_HIP_REGISTRY_H_
#define TESTS_EMULATOR_HIP_REGISTRY_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ingot::emulator::hip {

// The live objects of one kind, by address. Thread-safe.
template <class T>
class Registry {
 public:
  void* Add(std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    void* const handle = object.get();
    live_[handle] = std::move(object);
    return handle;
  }
  // Null when `handle` is not live.
  std::shared_ptr<T> Find(const void* handle) const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = live_.find(handle);
    return it == live_.end() ? nullptr : it->second;
  }
  std::shared_ptr<T> Drop(const void* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = live_.find(handle);
    if (it == live_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(it->second);
    live_.erase(it);
    // Keeps the address taken: objects come from make_shared.
    dropped_.push_back(object);
    if (dropped_.size() > kRemembered) dropped_.pop_front();
    return object;
  }
  std::vector<std::shared_ptr<T>> All() const {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<T>> all;
    for (const auto& [handle, object] : live_) all.push_back(object);
    return all;
  }

 private:
  static constexpr size_t kRemembered = 4096;

  mutable std::mutex mutex_;
  std::map<const void*, std::shared_ptr<T>> live_;
  std::deque<std::weak_ptr<T>> dropped_;
};

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_REGISTRY_H_
