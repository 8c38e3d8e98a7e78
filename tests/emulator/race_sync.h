// Order between waves that atomics make, where there is no barrier.
//
// Waves may hand data over by a flag or a lock: one releases it with an atomic
// or a coherent store, another acquires it with an atomic that returns or a
// coherent load, or with a load that polls (race_poll.h). Whether the kernel
// had the value in mind cannot be seen, so every such pair counts; race checks
// ask here before they report.
#ifndef TESTS_EMULATOR_RACE_SYNC_H_
#define TESTS_EMULATOR_RACE_SYNC_H_

#include <cstdint>
#include <vector>

#include "tests/emulator/watcher.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator {

// True for accesses of memory that bypass what is not shared (sc0, sc1): that
// is how atomic loads and stores are compiled.
inline bool IsCoherent(const Inst& i) {
  return i.op->cls == OpClass::kVmem && (i.sc0 || i.sc1) &&
         (i.op->flags & kAtomic) == 0;
}

// Keeps the atomics since the last barrier. Must come before the checks that
// ask it.
class SyncLog : public Watcher {
 public:
  SyncLog();
  void StartGroup(Group&) override;
  void After(Wave&, const Inst&, const AccessList&) override;
  void Barrier(Group&) override;

  // Counts the memory instructions of the group.
  uint64_t now() const { return now_; }
  // Wave `b` polled at time `to` and found what wave `a` stored at `from`.
  void Link(int a, uint64_t from, int b, uint64_t to);
  // True when what wave `a` did at time `from` may be ordered before what wave
  // `b` does at time `to`.
  bool MayOrder(int a, uint64_t from, int b, uint64_t to) const;

 private:
  // Beyond this many the rest is not kept, and every pair counts as ordered.
  static constexpr size_t kMost = 512;
  struct Event {
    uint64_t time, begin, end;
    uint8_t wave;
    bool acquires, releases;
  };

  uint64_t now_ = 0;
  std::vector<Event> events_;  // by time
  bool over_ = true;           // a barrier came after them
  bool acquired_ = false;      // some event acquires
  bool full_ = false;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_RACE_SYNC_H_
