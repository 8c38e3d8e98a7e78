// What gemm's kernels move, counted while the emulator runs them: reads of LDS
// in the hot loop meet no bank twice, and memory is asked for what there is.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "compiler/ops/gemm_plan_tuning.h"
#include "gtest/gtest.h"
#include "tests/emulator/profile/profile.h"
#include "tests/support/launch.h"

namespace ingot {
namespace {

using profile::Profile;
using testing::KernelLaunch;
using testing::LaunchInputs;
using testing::TestDevice;

struct Problem {
  std::string layout = "nt";
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  std::vector<Tuning> tuning;
};

// The profiles of the launches of a gemm of zeros.
std::vector<Profile> Profiles(const Problem& p) {
  Spec spec{"gemm"};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", p.n}, {"k", p.k}};
  spec.operands = {{"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}};
  spec.attrs = {{"layout", p.layout}};
  spec.tuning = p.tuning;
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  TestDevice device;
  std::vector<Profile> profiles;
  device.RunBy([&](emulator::Device& raw, const KernelLaunch& launch) {
    profile::ProfileRequest request;
    request.program = launch.program;
    request.kernel = launch.kernel;
    request.config = launch.config;
    request.kernarg = launch.kernarg.data();
    request.kernarg_bytes = launch.kernarg.size();
    return profile::RunProfiled(raw, request, profile::ProfileOptions(),
                                &profiles.emplace_back());
  });
  LaunchInputs inputs;
  inputs.dims = {p.m, p.n, p.k};
  for (const int64_t count : {p.m * p.k, p.n * p.k, p.m * p.n}) {
    uint16_t* operand = device.Allocate<uint16_t>(count);
    std::fill(operand, operand + count, uint16_t{0});
    inputs.operands.push_back(operand);
  }
  EXPECT_TRUE(device.Launch(*plan, inputs).ok());
  return profiles;
}

// The loop with the most MFMAs.
const profile::LoopProfile& HotLoop(const Profile& profile) {
  return *std::max_element(
      profile.loops.begin(), profile.loops.end(),
      [](const profile::LoopProfile& a, const profile::LoopProfile& b) {
        return a.tally.Of(profile::Class::kMfma) <
               b.tally.Of(profile::Class::kMfma);
      });
}

TEST(GemmTraffic, NoReadOfTheHotLoopMeetsABankTwice) {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (const GemmTile& tile : AllGemmTiles(GemmSchedule::kDma)) {
      if (tile.split_k != 1) continue;
      SCOPED_TRACE(absl::StrCat(layout, " ", GemmTileName(tile)));
      Problem p{layout, tile.m, tile.n, tile.k * tile.waves_k * tile.stages * 2,
                GemmPins(tile)};
      const std::vector<Profile> profiles = Profiles(p);
      ASSERT_EQ(profiles.size(), 1u);
      ASSERT_FALSE(profiles[0].loops.empty());
      const profile::MemoryUse& use = HotLoop(profiles[0]).tally.memory;
      EXPECT_GT(use.lds.read, 0u);
      EXPECT_EQ(use.lds_degree, 1);
    }
  }
}

// Of few rows: each weight is asked for once, and nothing beyond k, so that
// memory moves what it must.
TEST(GemmTraffic, WeightsOfFewRowsAreReadOnce) {
  constexpr int64_t kN = 256;
  size_t i = 0;
  for (const GemmTile& tile : AllGemmTiles(GemmSchedule::kDma)) {
    if (tile.waves_k == 1) continue;
    for (const int64_t m : {1, tile.m}) {
      const int64_t k = std::array{1024, 1352, 4096}[i++ % 3];
      SCOPED_TRACE(absl::StrCat(GemmTileName(tile), " ", m, " ", k));
      const std::vector<Profile> profiles =
          Profiles({"nt", m, kN, k, GemmPins(tile)});
      ASSERT_EQ(profiles.size(), tile.split_k == 1 ? 1u : 2u);
      const profile::MemoryUse& use = profiles[0].tally.memory;
      // Every tile asks for all rows.
      EXPECT_EQ(use.global.read, uint64_t(2 * k * (kN + m * (kN / tile.n))));
      const double written = static_cast<double>(use.global.written);
      EXPECT_LE(profiles[0].hbm_bytes, 1.05 * (2.0 * k * (kN + m) + written));
    }
  }
}

}  // namespace
}  // namespace ingot
