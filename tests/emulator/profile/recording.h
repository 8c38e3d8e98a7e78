// What is counted while a kernel runs: per instruction of the program, and the
// bytes that workgroups and the launch touch. Sums alone, so a recording does
// not depend on how workgroups were dealt to host threads.
#ifndef TESTS_EMULATOR_PROFILE_RECORDING_H_
#define TESTS_EMULATOR_PROFILE_RECORDING_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/profile/byte_set.h"
#include "tests/emulator/profile/facts.h"

namespace ingot::profile {

struct Bytes {
  uint64_t read = 0, written = 0;
  uint64_t both() const { return read + written; }
  void Add(const Bytes& other) {
    read += other.read;
    written += other.written;
  }
};

// The memory accesses of one instruction, over all its executions.
struct MemoryUse {
  Bytes global;  // requested by lanes
  Bytes lds;
  Bytes scratch;
  Bytes scalar;  // requested by the wave
  // Of the global accesses: distinct in each execution, times their size.
  Bytes lines64, lines128;
  // Of 128 bytes, read by vector memory, first in their workgroup. (Where the
  // arguments, which scalar memory reads, lie in their lines is the host's.)
  uint64_t first_lines = 0;
  uint64_t vmem_clocks = 0;  // of the vector memory path
  uint64_t lds_clocks = 0;
  uint64_t lds_least = 0;  // without conflicts
  double lds_degree = 0;   // the worst; 0: no LDS access
  void Add(const MemoryUse& other);
};

// One instruction of the program.
struct Executed {
  const emulator::Inst* inst = nullptr;
  Facts facts;
  std::vector<uint64_t> by_wave;  // executions by the wave's place in its group
  uint64_t count = 0;
  // Of the waves that execute it at all.
  uint64_t waves = 0, least = 0, most = 0;
  uint64_t lanes = 0;  // that were active, vector instructions
  MemoryUse memory;
};

struct Recording {
  // By offset in the code object's image.
  std::map<uint64_t, Executed> program;
  // Jumps taken, calls and returns left out: from, to, how often.
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> jumps;
  std::set<uint64_t> functions;  // where the kernel starts, and what it calls
  uint64_t groups = 0, waves_per_group = 0;
  // Sums over workgroups of the distinct bytes of each.
  Bytes group_bytes;
  ByteSet read, written;  // of the launch
  // What one workgroup executed, wave by wave, as offsets in order; empty when
  // that was more than kMostTraced instructions.
  std::vector<std::vector<uint32_t>> trace;
};

inline constexpr uint64_t kMostTraced = 1 << 24;

// Fills a recording: one watcher a host thread, added up when they end.
class Recorder {
 public:
  emulator::WatcherFactory Factory();
  // After the launch.
  Recording Take() { return std::move(recording_); }

 private:
  friend class ThreadRecorder;
  void Merge(Recording&& part);
  // True for the first who asks: one workgroup is traced.
  bool ClaimTrace() { return !traced_.exchange(true); }

  std::atomic<bool> traced_{false};
  std::mutex mutex_;
  Recording recording_;  // guarded by mutex_ while the launch runs
};

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_RECORDING_H_
