#include "tests/support/scaled_gemm_sweep.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/dice.h"
#include "tests/support/mx_format.h"
#include "tests/support/sweep.h"

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
  Sweep(seed, count, RandomScaledGemmProblem, CheckScaledGemm,
        [](const ScaledGemmProblem& p) -> int64_t {
          return p.cu_count == 7 ? 256 : 7;
        });
}

}  // namespace ingot::testing
