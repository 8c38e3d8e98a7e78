// Finds accesses of LDS that nothing orders.
//
// Between waves of a workgroup only barriers order. Since a barrier joins all
// waves, what happened before the last one is ordered, except operations that
// their wave had not waited for when it arrived: these are carried over, as if
// they were issued again right after the barrier. Within a wave, LDS
// instructions are in order, and so are transfers from memory; one of each is
// ordered only by the wait that covers the first.
//
// An epoch is the time between two barriers. Per dword of LDS there are
// stamps: who wrote last, and the last two waves that read. A stamp from an
// earlier epoch, or from the same wave and path, conflicts with nothing, so a
// few compares settle nearly every access. Dwords that are accessed in parts
// have stamps for each byte.
//
// Two readers are enough: whichever wave writes, one of the last two different
// readers is another wave if any reader is.
#ifndef TESTS_EMULATOR_RACE_LDS_H_
#define TESTS_EMULATOR_RACE_LDS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/emulator/race_sync.h"
#include "tests/emulator/watcher.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator {

class LdsRaces : public Watcher {
 public:
  // `waits`: report conflicts within a wave. `sync`: report conflicts between
  // waves, unless this may order them; it must outlive this and be told of each
  // instruction before it is. Null: no such reports.
  LdsRaces(SyncLog* sync, bool waits);

  void StartGroup(Group&) override;
  void After(Wave&, const Inst&, const AccessList&) override;
  void Barrier(Group&) override;

 private:
  // Grows with time: serial number, split mark, path, wave.
  using Stamp = int32_t;

  // One instruction of a wave.
  struct Op {
    uint64_t pc = 0;
    uint64_t number = 0;  // on its path
    uint64_t time = 0;    // SyncLog's
    Path path = Path::kLds;
    uint8_t wave = 0;
    bool writes = false;
    bool atomic = false;
    bool polls = false;    // waits for another wave: see race_poll.h
    bool carried = false;  // issued before the last barrier
  };
  struct Span {
    uint32_t address, bytes;
  };
  // An operation that may be in flight, with its places.
  struct Flight {
    Op op;
    std::vector<Span> spans;
  };
  struct Stamps {
    Stamp writer = 0;
    Stamp reader[2] = {};
  };
  // The access under examination.
  struct Visit {
    Wave& wave;
    const Op& op;
    Stamp stamp;
    int lane;
  };

  bool Polls(const Wave& w, uint64_t pc);
  Stamp NewStamp(const Op& op);
  const Op& OpOf(Stamp stamp) const;
  void NewEpoch(Group& g);
  void Carry(Wave& w, Path path);
  void KeepFlight(const Wave& w, const Op& op, const AccessList& accesses);
  std::deque<std::unique_ptr<Flight>>& Flights(int wave, Path path);

  // Both return false after a fault.
  bool VisitDwords(const Visit& v, uint32_t dword, uint32_t count);
  bool VisitBytes(const Visit& v, uint32_t address, uint32_t bytes);
  bool Check(const Visit& v, const Stamps& stamps, uint32_t address);
  bool CheckOne(const Visit& v, Stamp stamp, bool wrote, uint32_t address);
  void Report(const Visit& v, const Op& other, bool wrote, uint32_t address);
  void Mark(const Op& op, Stamp stamp, uint32_t address, uint32_t bytes);
  void Renew(const Op& op, Stamp stamp, Stamps* stamps) const;
  bool AnySplit(uint32_t dword, uint32_t count) const;
  Stamps* Split(uint32_t dword);
  Stamps Whole(uint32_t dword) const;
  void SetWhole(uint32_t dword, const Stamps& stamps);

  SyncLog* sync_;
  bool waits_;
  std::unordered_map<uint64_t, bool> polls_;      // by pc, for one launch
  std::vector<Stamp> writer_, reader_, reader2_;  // per dword
  std::vector<Stamps> bytes_;                     // per byte; made when needed
  std::vector<Op> ops_;  // of this epoch, by serial number
  int32_t first_ = 1;    // serial number of ops_[0]
  Stamp base_ = 0;       // stamps below are from earlier epochs
  // [2 * wave + path], oldest first.
  std::vector<std::deque<std::unique_ptr<Flight>>> flights_;
  std::vector<std::unique_ptr<Flight>> spare_;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_RACE_LDS_H_
