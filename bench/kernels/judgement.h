// What a bench row shows of one kernel or plan.
#ifndef INGOT_BENCH_KERNELS_JUDGEMENT_H_
#define INGOT_BENCH_KERNELS_JUDGEMENT_H_

#include <string>
#include <vector>

#include "tests/emulator/profile/profile.h"

namespace ingot::bench {

struct Judgement {
  std::string name;  // of the plan's variant or the peer's config
  int launches = 0;
  double microseconds = 0;  // modelled, all launches
  double matrix_share = 0;  // of the launch that takes longest
  // Of that launch's kernel:
  uint64_t groups = 0;
  uint64_t waves = 0;  // of a workgroup
  int vgprs = 0, agprs = 0;
  uint32_t lds_bytes = 0;
  int groups_per_cu = 0;
  bool clean = true;      // no spills, no scratch
  double lds_degree = 1;  // of the hot loop, the worst access
  // Of the hot loop, a wave's iteration; classes as ingot-profile's.
  std::array<double, profile::kClasses> loop{};
  double loop_all = 0;
  // Requested by lanes and fetched by workgroups, over what HBM must move.
  double requested = 0;
  double fetched = 0;
  double hbm_bytes = 0;  // of all launches
  // Bytes between HBM and the chip over those of the operands, when caches
  // hold no operand above kHeldBytes for longer than workgroups that ran
  // together use it; with all of the workspace.
  double streamed = 0;
};

// ASSUMED: half of the L2 of an XCD, the other half being what streams by.
inline constexpr double kHeldBytes = 2 << 20;

Judgement Judge(const std::string& name,
                const std::vector<profile::Profile>& launches);

// "256 mfma 0 valu 36 salu 64 lds 32 vmem 6 wait 4 barrier 0 nop"
std::string LoopText(const Judgement& judgement);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_KERNELS_JUDGEMENT_H_
