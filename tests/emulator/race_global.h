// Finds accesses of memory by the waves of one workgroup that nothing orders.
//
// Accesses are noted as spans of bytes and compared at each barrier and at the
// end, and only when something was written: a wave's spans since the last
// barrier must not meet another wave's store. Atomics and coherent accesses may
// meet each other (race_sync.h).
//
// A store need not be waited for before a barrier: the waves of a workgroup
// share a CU, whose memory pipeline keeps the order of issue (compilers rely on
// it). Scalar loads have another path and a cache: they must not read what the
// workgroup stored, unless s_dcache_inv comes between.
//
// Different workgroups are not compared: they may order themselves by atomics
// in ways that cannot be told from races.
#ifndef TESTS_EMULATOR_RACE_GLOBAL_H_
#define TESTS_EMULATOR_RACE_GLOBAL_H_

#include <cstdint>
#include <vector>

#include "tests/emulator/race_sync.h"
#include "tests/emulator/watcher.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator {

class GlobalRaces : public Watcher {
 public:
  // `sync` must outlive this and be told of each instruction before it is.
  explicit GlobalRaces(const SyncLog* sync);

  void StartGroup(Group&) override;
  void After(Wave&, const Inst&, const AccessList&) override;
  void Barrier(Group&) override;
  void EndGroup(Group&) override;

 private:
  enum class Kind : uint8_t { kRead, kWrite, kAtomicRead, kAtomicWrite };
  struct Op {
    uint64_t pc, time;
    uint8_t wave;
    uint8_t unit;  // bytes a lane
    Kind kind;
  };
  struct Span {
    uint64_t begin, end;
    uint32_t op;  // in ops_
    int lane;     // of the first byte
  };
  struct Range {
    uint64_t begin = ~uint64_t{0}, end = 0;
    void Add(uint64_t b, uint64_t e);
    bool Meets(uint64_t b, uint64_t e) const { return b < end && begin < e; }
  };

  static bool Writes(Kind kind);
  static bool Conflict(Kind a, Kind b);
  void NoteStored(const std::vector<Span>& spans, size_t from);
  void NoteScalar(Wave& w, const Inst& i, const AccessList& accesses);
  void Note(uint32_t op, const AccessList& accesses, std::vector<Span>* spans);
  void DropCovered(std::vector<Span>* spans);
  void Compare(Group& g);
  bool Meet(Group& g, const Span& a, const Span& b);
  void Forget();

  const SyncLog& sync_;
  std::vector<Op> ops_;                   // since the last barrier
  std::vector<std::vector<Span>> spans_;  // of each wave, likewise
  std::vector<size_t> limit_;             // spans of a wave until it is tidied
  Range written_;                         // around all stores, likewise
  std::vector<Span> all_, active_;        // for Compare
  std::vector<Range> stored_;             // plain stores since s_dcache_inv
  Range stored_around_;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_RACE_GLOBAL_H_
