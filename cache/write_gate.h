// Whether the store may write: shut by a full disk or a failed write, opened
// again by a write that succeeds.
#ifndef INGOT_CACHE_WRITE_GATE_H_
#define INGOT_CACHE_WRITE_GATE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/status.h"

namespace ingot::cache {

// Thread-safe.
class WriteGate {
 public:
  struct Options {
    uint64_t floor_bytes = 0;
    std::function<uint64_t()> free_bytes;
    // Clears what the failure latched below and proves it with a synced write.
    std::function<absl::Status()> resume;
    std::function<void(absl::string_view)> log;  // may be empty
  };
  explicit WriteGate(Options options) : options_(std::move(options)) {}

  // OK when a write of `bytes` may be tried. kResourceExhausted, counted as a
  // dropped write, when the gate is shut or the write would go below the floor.
  absl::Status Admit(uint64_t bytes);
  // For a write that was admitted: a failure shuts the gate, counts the write
  // as dropped and comes back as kResourceExhausted.
  absl::Status Finish(const absl::Status& written);
  // Shuts the gate for a failure that no caller waits for.
  void Shut(absl::string_view reason);
  // For a write refused for another reason (over quota).
  absl::Status Drop(absl::string_view reason);

  // Opens a shut gate if there is space again and `resume` succeeds.
  void TryHeal();

  bool shut() const { return shut_.load(std::memory_order_relaxed); }
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  // How much disk must become free for the gate to stay open, or to open again.
  uint64_t BytesMissing() const;

 private:
  const Options options_;
  std::atomic<bool> shut_{false};
  std::atomic<uint64_t> dropped_{0};
  absl::Mutex mutex_;
  std::string reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_WRITE_GATE_H_
