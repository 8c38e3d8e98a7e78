// The profile of one launch of a kernel: run it, then read off.
#ifndef TESTS_EMULATOR_PROFILE_PROFILE_H_
#define TESTS_EMULATOR_PROFILE_PROFILE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/profile/flow.h"
#include "tests/emulator/profile/launch_time.h"
#include "tests/emulator/profile/model.h"
#include "tests/emulator/profile/occupancy.h"
#include "tests/emulator/profile/recording.h"

namespace ingot::profile {

// Sums over a set of instructions and all waves that ran.
struct Tally {
  std::array<uint64_t, kClasses> by_class{};
  uint64_t total = 0;
  uint64_t acc_moves = 0;
  uint64_t scratch_accesses = 0;  // instructions; spills are among them
  uint64_t vector = 0;            // VALU and transcendental
  uint64_t lanes = 0;             // active in those
  double matrix_flops = 0;
  double vector_flops = 0;
  MemoryUse memory;

  uint64_t Of(Class c) const { return by_class[static_cast<size_t>(c)]; }
};

struct Wait {
  uint64_t offset;
  std::string text;
};

struct LoopProfile {
  Loop loop;
  Tally tally;
  uint64_t waves = 0;            // places in the workgroup that run it
  uint64_t least = 0, most = 0;  // iterations of the waves that do
  std::vector<Wait> waits;
  Clocks clocks;  // of the workgroup's waves, an iteration each
};

struct WaveProfile {
  std::array<double, kClasses> by_class{};  // per workgroup
  double total = 0;
};

struct Mnemonic {
  std::string name;
  Class cls;
  uint64_t count;
};

// An instruction whose accesses are worth a look.
struct Spot {
  uint64_t offset;
  std::string name;
  uint64_t count;
  MemoryUse memory;
};

// Memory that the launch was given.
struct Buffer {
  std::string name;
  uint64_t begin = 0, bytes = 0;
};

struct BufferProfile {
  std::string name;
  uint64_t bytes = 0;
  Bytes distinct;  // touched by what ran
};

struct Profile {
  std::string kernel;
  std::array<uint32_t, 3> grid{}, block{};
  uint64_t groups = 0;      // of the launch
  uint64_t groups_run = 0;  // of which these were executed
  uint64_t waves_per_group = 0;
  Registers registers;
  uint32_t vgpr_spills = 0, sgpr_spills = 0;
  uint32_t lds_bytes = 0;      // static and dynamic
  uint32_t scratch_bytes = 0;  // a work-item's
  Occupancy occupancy;

  // What ran; times scale() is the launch, if its workgroups are alike.
  Tally tally;
  std::vector<Mnemonic> mnemonics;  // most frequent first
  std::vector<WaveProfile> waves;   // by place in the workgroup
  Flow flow;
  std::vector<LoopProfile> loops;  // as in flow
  Bytes group_distinct;            // sum over workgroups
  Bytes launch_distinct;
  std::vector<BufferProfile> buffers;
  std::vector<Spot> lds_spots;   // conflicts, worst first
  std::vector<Spot> vmem_spots;  // more lines than needed, worst first
  Clocks clocks;                 // of a workgroup
  // Bytes that the launch moves at least between HBM and the chip: what ran
  // touched, or when only some workgroups ran that times scale() within each
  // buffer's size.
  double hbm_bytes = 0;
  LaunchModel model;
  LaunchTime time;  // 0 when no workgroup could be traced

  double scale() const {
    return groups_run == 0
               ? 0
               : static_cast<double>(groups) / static_cast<double>(groups_run);
  }
};

struct ProfileRequest {
  emulator::Program* program = nullptr;
  const emulator::KernelInfo* kernel = nullptr;
  emulator::LaunchConfig config;
  const void* kernarg = nullptr;
  size_t kernarg_bytes = 0;
  uint64_t most_groups = 0;  // run this many, spread evenly; 0: all
  // Instead: those that the first XCD holds at a time, so that what they share
  // is touched once, as its L2 would have it.
  bool one_xcd = false;
  std::vector<Buffer> buffers;
};

// How kernels are run to be profiled: the environment's options without the
// checks that cost time or want all workgroups' results; a wave that does not
// end is stopped sooner.
emulator::Options ProfileOptions();

// Runs the kernel. *profile is complete when the result's status is kOk.
emulator::RunResult RunProfiled(emulator::Device& device,
                                const ProfileRequest& request,
                                const emulator::Options& options,
                                Profile* profile);

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_PROFILE_H_
