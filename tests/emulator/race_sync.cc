#include "tests/emulator/race_sync.h"

#include <algorithm>
#include <array>

namespace ingot::emulator {
namespace {

constexpr size_t kMostWaves = 16;
// Sets LDS offsets apart from addresses.
constexpr uint64_t kLdsTag = uint64_t{1} << 63;
constexpr uint64_t kLinkTag = uint64_t{1} << 62;

}  // namespace

SyncLog::SyncLog() : Watcher(0, kMemoryClasses) {}

void SyncLog::StartGroup(Group&) { over_ = true; }
// Other checks still ask at the barrier itself.
void SyncLog::Barrier(Group&) { over_ = true; }

void SyncLog::After(Wave& w, const Inst& i, const AccessList& accesses) {
  ++now_;
  if (over_) {
    events_.clear();
    over_ = acquired_ = full_ = false;
  }
  const bool atomic = (i.op->flags & kAtomic) != 0;
  if (!atomic && !IsCoherent(i)) return;
  Event event = {};
  event.time = now_;
  event.wave = static_cast<uint8_t>(w.index);
  event.releases = atomic || (i.op->flags & kStore) != 0;
  event.acquires = atomic ? i.sc0 || (i.op->flags & kReturns) != 0
                          : (i.op->flags & kLoad) != 0;
  acquired_ |= event.acquires;
  for (const Access& a : accesses) {
    if (a.space == Space::kScratch) continue;
    event.begin = a.address | (a.space == Space::kLds ? kLdsTag : 0);
    event.end = event.begin + a.bytes;
    const Event* last = events_.empty() ? nullptr : &events_.back();
    if (last != nullptr && last->time == now_ && last->begin == event.begin)
      continue;
    full_ |= events_.size() == kMost;
    if (!full_) events_.push_back(event);
  }
}

void SyncLog::Link(int a, uint64_t from, int b, uint64_t to) {
  acquired_ = true;
  full_ |= events_.size() + 2 > kMost;
  if (full_) return;
  const auto add = [this](uint64_t time, uint64_t tag, int wave,
                          bool acquires) {
    const auto later = [](uint64_t t, const Event& e) { return t < e.time; };
    events_.insert(
        std::upper_bound(events_.begin(), events_.end(), time, later),
        {time, tag, tag + 1, static_cast<uint8_t>(wave), acquires, !acquires});
  };
  const uint64_t tag = kLinkTag | from;  // an address that nothing else has
  add(from, tag, a, false);
  add(to, tag, b, true);
}

bool SyncLog::MayOrder(int a, uint64_t from, int b, uint64_t to) const {
  if (!acquired_) return false;
  if (full_) return true;
  // Since when each wave has been behind the first access, if at all.
  std::array<uint64_t, kMostWaves> since;
  since.fill(~uint64_t{0});
  since[static_cast<size_t>(a)] = from;
  std::vector<const Event*> released;
  for (const Event& e : events_) {
    uint64_t& mine = since[e.wave];
    if (e.acquires && mine > e.time) {
      for (const Event* r : released) {
        if (r->begin >= e.end || e.begin >= r->end) continue;
        mine = e.time;
        break;
      }
    }
    if (e.releases && mine <= e.time) released.push_back(&e);
  }
  return since[static_cast<size_t>(b)] <= to;
}

}  // namespace ingot::emulator
