// What sweeps over random problems of one op do alike.
#ifndef TESTS_SUPPORT_SWEEP_H_
#define TESTS_SUPPORT_SWEEP_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/dice.h"
#include "tests/support/launch.h"

namespace ingot::testing {

// Pins the tile of some kernel of the plan, so that tiles meet all sizes.
inline void TakeATile(Dice& dice, const Plan& plan,
                      std::vector<Tuning>* tuning) {
  std::vector<const KernelSpec*> kernels;
  for (const PlanKernel& kernel : plan.kernels) {
    // One that adds parts has no tile that could be pinned.
    const absl::StatusOr<std::string> part = kernel.spec.GetString("part");
    if (!part.ok() || *part != "sum") kernels.push_back(&kernel.spec);
  }
  const KernelSpec& kernel = *dice.Pick(kernels);
  for (const char* name : kGemmTuning) {
    const absl::StatusOr<int64_t> value = kernel.GetInt(name);
    if (value.ok()) tuning->push_back({name, *value});
  }
}

// The same for a problem whose operands are all strided alike.
template <typename Problem>
void PinATile(Dice& dice, Problem* p) {
  const absl::StatusOr<Plan> plan = MakePlan(p->ToSpec());
  ASSERT_TRUE(plan.ok()) << p->ToString() << ": " << plan.status();
  TakeATile(dice, *plan, &p->tuning);
  // Strides that are known at launch may need a kernel without such a tile.
  if (p->strides == StrideMode::kDynamic) p->tuning.clear();
}

// Checks `count` problems that make(random) draws by check(device, problem,
// seed of the values, variant, result). Every fourth runs again on a device of
// other_cus(problem) compute units, by one thread, waves in the other order:
// the same bits must come of it.
template <typename Make, typename Check, typename OtherCus>
void Sweep(uint32_t seed, int count, Make make, Check check,
           OtherCus other_cus) {
  std::mt19937 random(seed);
  TestDevice device;
  emulator::Options options = emulator::Options::FromEnvironment();
  options.threads = 1;
  options.reverse_waves = !options.reverse_waves;
  TestDevice other(options);
  for (int i = 0; i < count; ++i) {
    auto p = make(random);
    const uint32_t values = static_cast<uint32_t>(random());
    std::string result;
    check(device, p, values, nullptr, &result);
    if (::testing::Test::HasFatalFailure()) return;
    if (i % 4 != 0) continue;
    p.cu_count = other_cus(p);
    std::string again;
    check(other, p, values, nullptr, &again);
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_TRUE(result == again) << "bits differ: " << p.ToString();
  }
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_SWEEP_H_
