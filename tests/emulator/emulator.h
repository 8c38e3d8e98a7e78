// A functional gfx950 on the CPU: loads code objects and runs their kernels.
//
// This is the interface for tests and tools; hip/ puts the HIP module API in
// front of it. Results do not depend on the number of host threads.
#ifndef TESTS_EMULATOR_EMULATOR_H_
#define TESTS_EMULATOR_EMULATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulator/code_object.h"
#include "tests/emulator/isa.h"
#include "tests/emulator/memory_map.h"

namespace ingot::emulator {

// Defaults are the strict ones; each check can be switched off.
struct Options {
  int threads = 0;              // 0: the CPUs this process may use
  bool check_waits = true;      // a result used before its s_waitcnt
  bool check_bounds = true;     // off: reads give 0, writes are dropped
  bool check_alignment = true;  // what hardware refuses or misplaces
  bool check_lds_races = true;  // between waves of a workgroup
  bool check_global_races = true;
  bool check_barriers = true;     // waves or lanes that miss a barrier
  bool check_exec = true;         // MFMA, transposing reads with lanes off
  bool check_undefined = true;    // unwritten bits in memory, address, branch
  bool reverse_waves = false;     // run the waves of a group last to first
  uint64_t max_instructions = 0;  // per wave; 0: the default of 2^36
  // INGOT_EMULATOR_THREADS, INGOT_EMULATOR_CHECK_<NAME>=0 (kChecks),
  // INGOT_EMULATOR_REVERSE_WAVES=1, INGOT_EMULATOR_LEVEL=x86-64-v2|v3|v4,
  // INGOT_EMULATOR_MAX_INSTRUCTIONS.
  static Options FromEnvironment();
};

struct CheckName {
  const char* name;
  bool Options::* enabled;
};
inline constexpr CheckName kChecks[] = {
    {"WAITS", &Options::check_waits},
    {"BOUNDS", &Options::check_bounds},
    {"ALIGNMENT", &Options::check_alignment},
    {"LDS_RACES", &Options::check_lds_races},
    {"GLOBAL_RACES", &Options::check_global_races},
    {"BARRIERS", &Options::check_barriers},
    {"EXEC", &Options::check_exec},
    {"UNDEFINED", &Options::check_undefined},
};

// Wave instructions executed, by class, and what was clipped by buffer bounds.
struct Statistics {
  uint64_t executed[static_cast<int>(OpClass::kCount)] = {};
  uint64_t waves = 0;
  uint64_t clipped_loads = 0;  // dwords of buffer loads past num_records
  uint64_t clipped_stores = 0;
  // Plain accesses of lanes that hardware splits: counted while alignment is
  // checked.
  uint64_t misaligned_loads = 0;
  uint64_t misaligned_stores = 0;
  uint64_t total() const;
  void Add(const Statistics& other);
};

enum class RunStatus {
  kOk,
  kInvalidLaunch,   // geometry or arguments; nothing ran
  kIllegalAddress,  // an access outside every allocation
  kLaunchFailure,   // any other fault
};

struct RunResult {
  RunStatus status = RunStatus::kOk;
  std::string report;  // empty when ok
  Statistics statistics;
};

// Makes one host thread's watcher (watcher.h); called on that thread.
class Watcher;
using WatcherFactory = std::function<std::unique_ptr<Watcher>()>;

struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};   // workgroups
  uint32_t block[3] = {1, 1, 1};  // work-items
  uint32_t dynamic_lds = 0;       // bytes
  // The workgroups that run, by x + grid[0] * (y + grid[1] * z); empty: all.
  std::vector<uint64_t> groups;
  std::vector<WatcherFactory> watchers;
};

class Program;

// One emulated device. Thread-safe, except that Run calls on one device exclude
// each other.
class Device {
 public:
  Device();
  ~Device();

  MemoryMap& memory();

  // Null on failure, with the reason. The program lives until the device dies
  // or Unload.
  Program* Load(const void* code_object, size_t size, LoadError* error,
                std::string* message);
  void Unload(Program* program);

  // Runs `kernel` of `program` with explicit arguments laid out as the kernarg
  // segment wants them; hidden arguments are filled in from the metadata.
  RunResult Run(Program* program, const KernelInfo& kernel,
                const LaunchConfig& config, const void* kernarg,
                size_t kernarg_bytes,
                const Options& options = Options::FromEnvironment());

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "x86-64-v4" and the like: the interpreter build that this process uses.
const char* InterpreterLevel();

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_EMULATOR_H_
