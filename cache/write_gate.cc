#include "cache/write_gate.h"

namespace ingot::cache {

absl::Status WriteGate::Admit(uint64_t bytes) {
  if (!shut() && options_.floor_bytes > 0) {
    const uint64_t free = options_.free_bytes();
    if (free < options_.floor_bytes + bytes) {
      Shut(absl::StrCat(free, " bytes of disk are free, the floor is ",
                        options_.floor_bytes));
    }
  }
  if (!shut()) return absl::OkStatus();
  std::string reason;
  {
    absl::MutexLock lock(&mutex_);
    reason = reason_;
  }
  return Drop(absl::StrCat("the store is read-only: ", reason));
}

absl::Status WriteGate::Finish(const absl::Status& written) {
  if (written.ok()) return written;
  Shut(written.message());
  return Drop(written.message());
}

void WriteGate::Shut(absl::string_view reason) {
  {
    absl::MutexLock lock(&mutex_);
    if (shut_.load(std::memory_order_relaxed)) return;
    reason_ = std::string(reason);
    shut_.store(true, std::memory_order_relaxed);
  }
  if (options_.log) {
    options_.log(absl::StrCat("store is read-only: ", reason));
  }
}

absl::Status WriteGate::Drop(absl::string_view reason) {
  dropped_.fetch_add(1, std::memory_order_relaxed);
  return absl::ResourceExhaustedError(reason);
}

void WriteGate::TryHeal() {
  if (!shut()) return;
  if (BytesMissing() > 0) return;
  if (!options_.resume().ok()) return;
  {
    absl::MutexLock lock(&mutex_);
    shut_.store(false, std::memory_order_relaxed);
  }
  if (options_.log) options_.log("store is writable again");
}

uint64_t WriteGate::BytesMissing() const {
  if (options_.floor_bytes == 0) return 0;
  // A shut gate wants an eighth more, so that it does not flap around the
  // floor.
  const uint64_t enough =
      options_.floor_bytes + (shut() ? options_.floor_bytes / 8 : 0);
  const uint64_t free = options_.free_bytes();
  return free < enough ? enough - free : 0;
}

}  // namespace ingot::cache
