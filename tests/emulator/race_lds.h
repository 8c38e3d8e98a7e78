// Finds accesses of LDS that nothing orders.
//
// Between waves of a workgroup only barriers order. Since a barrier joins all
// waves, what happened before the last one is ordered, except operations that
// their wave had not waited for when it arrived: these are carried over, as if
// they were issued again right after the barrier. Within a wave, LDS
// instructions are in order, and so are transfers from memory; one of each is
// ordered only by the wait that covers the first.
//
// An epoch is the time between two barriers. lds_stamps.h keeps who accessed
// what, and settles nearly every access at once.
//
// Two readers are enough: whichever wave writes, one of the last two different
// readers is another wave if any reader is.
//
// A store that leaves the bytes as another wave's store made them harms nobody:
// waves that hold the same values (replicated layouts) all store them. For that
// `seen_` holds LDS as the instruction before left it.
#ifndef TESTS_EMULATOR_RACE_LDS_H_
#define TESTS_EMULATOR_RACE_LDS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tests/emulator/lds_stamps.h"
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
  // From the high bits on: serial number, path, wave.
  using Stamp = LdsStamps::Stamp;

  // One instruction of a wave.
  struct Op {
    uint64_t pc = 0;
    uint64_t number = 0;  // on its path
    uint64_t time = 0;    // SyncLog's
    Path path = Path::kLds;
    uint8_t wave = 0;
    bool writes = false;
    bool atomic = false;
    bool stores = false;   // writes what it was given, and reads nothing
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
  // The access under examination.
  struct Visitor {
    Wave& wave;
    const Op& op;
    Stamp stamp;
    int lane;
  };

  bool Polls(const Wave& w, const Inst& i, uint64_t pc);
  Stamp NewStamp(const Op& op);
  const Op& OpOf(Stamp stamp) const;
  void NewEpoch(Group& g);
  void Carry(Wave& w, Path path);
  void DropFlights(const Wave& w, Path path);
  void KeepFlight(const Wave& w, const Op& op, const AccessList& accesses);
  std::deque<std::unique_ptr<Flight>>& Flights(int wave, Path path);

  // These return false after a fault.
  bool VisitAll(Wave& w, const Op& op, const AccessList& accesses);
  bool Visit(const Visitor& v, uint32_t address, uint32_t bytes);
  bool Check(const Visitor& v, const LdsStamps::Entry& entry, uint32_t address,
             uint32_t bytes);
  bool CheckOne(const Visitor& v, Stamp stamp, uint32_t address);
  void Report(const Visitor& v, const Op& other, uint32_t address);
  bool Repeats(const Visitor& v, Stamp writer, uint32_t address,
               uint32_t bytes) const;
  void See(const Wave& w, const AccessList& accesses);

  SyncLog* sync_;
  bool waits_;
  std::vector<int8_t> polls_;  // by Inst::index; -1: not known yet
  LdsStamps stamps_;
  std::vector<uint8_t> seen_;  // see above; empty when waves do not race
  std::vector<Op> ops_;        // of this epoch, by serial number
  int32_t first_ = 1;          // serial number of ops_[0]
  // [2 * wave + path], oldest first.
  std::vector<std::deque<std::unique_ptr<Flight>>> flights_;
  std::vector<std::unique_ptr<Flight>> spare_;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_RACE_LDS_H_
