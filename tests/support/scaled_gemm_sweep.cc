#include "tests/support/scaled_gemm_sweep.h"

#include <string>

#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/dice.h"
#include "tests/support/mx_format.h"

namespace ingot::testing {
namespace {

// Large problems take the emulator long.
void Shape(Dice& dice, ScaledGemmProblem* p) {
  constexpr int64_t kMost = 3'000'000;
  do {
    p->m = dice.Extent();
    p->n = dice.Extent();
    p->k = 32 * (dice.OneIn(3) ? 8 * (1 + dice.Below(4)) : 1 + dice.Below(30));
  } while (p->m * p->n * p->k > kMost);
}

void Layouts(Dice& dice, ScaledGemmProblem* p) {
  p->scales_shuffled = dice.OneIn(2);
  // Only rows of whole 16 bytes can be shuffled.
  p->weights_shuffled = dice.OneIn(2) && MxRowBytes(p->b, p->k) % 16 == 0 &&
                        (MxFormatOf(p->b).bits() != 6 || p->k % 64 == 0);
  p->strides = static_cast<StrideMode>(dice.Below(3));
  if (p->strides != StrideMode::kDense) {
    p->pad = dice.Pick<int64_t>({0, 16, 16, 4, 8, 1, 5});
  }
  if (dice.OneIn(4)) p->alignment = dice.Pick<uint32_t>({1, 2, 4, 8});
}

// Pins the tile of some kernel of the plan, so that tiles meet all sizes.
void PinATile(Dice& dice, ScaledGemmProblem* p) {
  const absl::StatusOr<Plan> plan = MakePlan(p->ToSpec());
  ASSERT_TRUE(plan.ok()) << p->ToString() << ": " << plan.status();
  const int64_t kernels = static_cast<int64_t>(plan->kernels.size());
  const KernelSpec& kernel = plan->kernels[dice.Below(kernels)].spec;
  for (const char* name : kGemmTuning) {
    const absl::StatusOr<int64_t> value = kernel.GetInt(name);
    if (value.ok()) p->tuning.push_back({name, *value});
  }
  // Strides that are known at launch may need a kernel without such a tile.
  if (p->strides == StrideMode::kDynamic) p->tuning.clear();
}

}  // namespace

ScaledGemmProblem RandomScaledGemmProblem(std::mt19937& random) {
  Dice dice(random);
  ScaledGemmProblem p;
  p.a = dice.Pick<std::string>({"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1"});
  p.b =
      dice.OneIn(2)
          ? p.a
          : dice.Pick<std::string>({"e4m3fn", "e5m2", "e2m3", "e3m2", "e2m1"});
  p.d = dice.Pick<std::string>({"bf16", "f16", "f32"});
  if (dice.OneIn(2)) p.bias = dice.Pick<std::string>({p.d, "f32"});
  Shape(dice, &p);
  Layouts(dice, &p);
  p.special = dice.OneIn(4);
  p.cu_count = dice.Pick<int64_t>({1, 7, 32, 256});
  if (dice.OneIn(2)) PinATile(dice, &p);
  return p;
}

void SweepScaledGemm(uint32_t seed, int count) {
  std::mt19937 random(seed);
  TestDevice device;
  emulator::Options options = emulator::Options::FromEnvironment();
  options.threads = 1;
  options.reverse_waves = !options.reverse_waves;
  TestDevice other(options);
  for (int i = 0; i < count; ++i) {
    ScaledGemmProblem p = RandomScaledGemmProblem(random);
    const uint32_t values = static_cast<uint32_t>(random());
    std::string result;
    CheckScaledGemm(device, p, values, nullptr, &result);
    if (::testing::Test::HasFatalFailure()) return;
    if (i % 4 != 0) continue;
    p.cu_count = p.cu_count == 7 ? 256 : 7;
    std::string again;
    CheckScaledGemm(other, p, values, nullptr, &again);
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_TRUE(result == again) << "bits differ: " << p.ToString();
  }
}

}  // namespace ingot::testing
