// No read of LDS in a hot loop of the GEMM family meets a bank twice: of every
// sample of its ops, each tile that the op could give it.
#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/candidates.h"
#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/emulator/profile/run_op.h"

namespace ingot::profile {
namespace {

// Parameters that only say what becomes of the sums.
constexpr const char* kOfEpilogue[] = {"act",     "bias",       "capacity",
                                       "dtype_d", "has_c",      "has_residual",
                                       "scaling", "width_bias", "width_d"};

// What of a kernel its loop may depend on.
std::string LoopOf(const KernelSpec& kernel) {
  std::string out;
  for (const Param& param : kernel.params) {
    const bool later =
        std::any_of(std::begin(kOfEpilogue), std::end(kOfEpilogue),
                    [&](const char* name) { return param.name == name; });
    if (later) continue;
    absl::StrAppend(&out, param.name, "=");
    std::visit([&](const auto& value) { absl::StrAppend(&out, value, " "); },
               param.value);
  }
  return out;
}

int64_t PinOf(const std::vector<Tuning>& tuning, absl::string_view name) {
  for (const Tuning& pin : tuning) {
    if (pin.name == name) return pin.value;
  }
  return 1;
}

// The spec with the tile of `tuning` and a k of the same divisors for which the
// loop goes round twice, unless the tile is one for a short k; rows lie as the
// launch says.
Spec Tuned(Spec spec, const std::vector<Tuning>& tuning) {
  spec.tuning = tuning;
  const Spec as_given = spec;
  const int64_t round = PinOf(tuning, "tile_k") * PinOf(tuning, "stages") *
                        PinOf(tuning, "waves_k");
  for (Dim& dim : spec.dims) {
    if (dim.name != "k" || !dim.value) continue;
    dim.value = (2 * round + 255) / 256 * 256 + *dim.value % 256;
  }
  for (Operand& operand : spec.operands) {
    if (operand.stride_mode != StrideMode::kStatic) continue;
    operand.stride_mode = StrideMode::kDynamic;
    operand.strides.clear();
  }
  return MakePlan(spec).ok() ? spec : as_given;
}

std::string Text(const std::vector<Tuning>& tuning) {
  return absl::StrJoin(tuning, " ", [](std::string* out, const Tuning& pin) {
    absl::StrAppend(out, pin.name, "=", pin.value);
  });
}

OpRequest RequestFor(const Spec& spec, const Plan& plan) {
  OpRequest request;
  request.spec = spec;
  request.most_groups = 1;
  request.fill = false;
  for (const PlanDim& dim : plan.dims) {
    request.dims[dim.name] = dim.min == dim.max ? dim.min : 256;
  }
  if (request.dims.count("b") != 0) request.dims["b"] = 2;
  if (spec.FindDim("g") != nullptr && !spec.FindDim("g")->value) {
    request.dims["g"] = 4;
  }
  return request;
}

void Check(const Spec& spec, std::set<std::string>* seen) {
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  // A launch takes the first variant that it fits.
  if (!seen->insert(LoopOf(plan->kernels[0].spec)).second) return;
  const absl::StatusOr<OpProfile> profile = ProfileOp(RequestFor(spec, *plan));
  ASSERT_TRUE(profile.ok()) << profile.status();
  const Profile& launch = profile->launches.front();
  const auto hot = std::max_element(
      launch.loops.begin(), launch.loops.end(),
      [](const LoopProfile& a, const LoopProfile& b) {
        return a.tally.Of(Class::kMfma) < b.tally.Of(Class::kMfma);
      });
  // A short k is one round, which nothing jumps back to.
  const Tally& tally = hot == launch.loops.end() ? launch.tally : hot->tally;
  EXPECT_GT(tally.Of(Class::kMfma), 0u);
  EXPECT_GT(tally.memory.lds.read, 0u);
  EXPECT_EQ(tally.memory.lds_degree, 1) << profile->variant;
}

class GemmBanks : public ::testing::TestWithParam<const char*> {};

TEST_P(GemmBanks, NoReadOfAHotLoopMeetsABankTwice) {
  std::set<std::string> seen;
  for (const Spec& sample : FindOp(GetParam())->samples()) {
    const absl::StatusOr<std::vector<Candidate>> all = Candidates(sample);
    ASSERT_TRUE(all.ok()) << all.status();
    for (const Candidate& candidate : *all) {
      // Parts of k have the loop of all of it.
      if (!candidate.refusal.empty() ||
          PinOf(candidate.tuning, "split_k") != 1) {
        continue;
      }
      SCOPED_TRACE(absl::StrCat(sample.operands[0].dtype, " ",
                                sample.operands[1].dtype, " ",
                                Text(candidate.tuning)));
      Check(Tuned(sample, candidate.tuning), &seen);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(seen.size(), 10u);
}

INSTANTIATE_TEST_SUITE_P(Ops, GemmBanks,
                         ::testing::Values("gemm", "scaled_gemm",
                                           "grouped_gemm"));

}  // namespace
}  // namespace ingot::profile
