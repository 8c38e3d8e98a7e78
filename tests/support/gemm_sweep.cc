#include "tests/support/gemm_sweep.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/dice.h"
#include "tests/support/sweep.h"

namespace ingot::testing {
namespace {

// Large problems take the emulator long.
void Shape(Dice& dice, GemmProblem* p) {
  constexpr int64_t kMost = 3'000'000;
  do {
    p->m = dice.Extent();
    p->n = dice.Extent();
    p->k = dice.Extent();
    p->batch = dice.OneIn(4) ? 1 + dice.Below(5) : 0;
  } while (p->m * p->columns() * p->k * p->matrices() > kMost);
}

// An operand of a name, whose elements have so many bytes.
OperandChoice Choose(Dice& dice, const std::string& name, uint32_t bytes) {
  OperandChoice choice;
  choice.strides = static_cast<StrideMode>(dice.Below(3));
  choice.pad = dice.Pick<int64_t>({0, 0, 8, 8, 4, 1, 3});
  choice.batch = static_cast<OperandChoice::Batch>(dice.Below(3));
  if (name == "d" && choice.batch == OperandChoice::kShared) {
    choice.batch = OperandChoice::kApart;
  }
  if (dice.OneIn(4)) {
    choice.alignment = dice.Pick<uint32_t>({bytes, 4, 8, 16, 32});
  }
  return choice;
}

void ChooseOperands(Dice& dice, GemmProblem* p) {
  const uint32_t bytes_d = p->dtype_d == "f32" ? 4 : 2;
  const uint32_t bytes_a = p->dtype_b.empty() ? 2 : 1;
  for (const auto& [name, bytes] :
       {std::pair{"a", bytes_a}, std::pair{"b", bytes_a},
        std::pair{"d", bytes_d}, std::pair{"c", bytes_d},
        std::pair{"residual", bytes_d}}) {
    if (!dice.OneIn(2)) p->choices[name] = Choose(dice, name, bytes);
  }
  if (p->bias.empty()) return;
  OperandChoice bias;
  if (p->batch != 0 && dice.OneIn(2)) {
    bias = Choose(dice, "bias", p->bias == "f32" ? 4 : 2);
  } else if (dice.OneIn(3)) {
    bias.alignment = 4;
  }
  p->choices["bias"] = bias;
}

// Pins the tile of some kernel of the plan, so that tiles meet all sizes.
void PinATile(Dice& dice, GemmProblem* p) {
  const absl::StatusOr<Plan> plan = MakePlan(p->ToSpec());
  ASSERT_TRUE(plan.ok()) << p->ToString() << ": " << plan.status();
  TakeATile(dice, *plan, &p->tuning);
  // Another kernel may be needed where the first fits for some strides only.
  const absl::StatusOr<Plan> pinned = MakePlan(p->ToSpec());
  if (!pinned.ok() || pinned->kernels.size() < plan->kernels.size()) {
    for (const auto& [name, choice] : p->choices) {
      if (choice.strides == StrideMode::kDynamic) p->tuning.clear();
    }
    if (p->layout[0] == 't') p->tuning.clear();
  }
}

void EightBits(Dice& dice, GemmProblem* p) {
  p->dtype = dice.Pick<std::string>({"e4m3fn", "e5m2"});
  p->dtype_b = dice.Pick<std::string>({"e4m3fn", "e5m2"});
  p->scaling = dice.Pick<std::string>({"none", "tensor", "row"});
  // Which needs b stored by columns.
  if (p->pairing == "halves") p->layout[1] = 't';
}

}  // namespace

GemmProblem RandomGemmProblem(std::mt19937& random) {
  Dice dice(random);
  GemmProblem p;
  p.layout = dice.Pick<std::string>({"nn", "nt", "tn", "tt"});
  p.dtype = dice.Pick<std::string>({"bf16", "f16"});
  p.dtype_d = dice.Pick<std::string>({"bf16", "f16", "f32"});
  dice.Activation(&p.act, &p.pairing);
  if (dice.OneIn(4)) EightBits(dice, &p);
  if (dice.OneIn(2)) p.bias = dice.Pick<std::string>({p.dtype_d, "f32"});
  p.has_c = dice.OneIn(3);
  p.has_residual = dice.OneIn(3);
  Shape(dice, &p);
  ChooseOperands(dice, &p);
  if (dice.OneIn(2)) {
    p.alpha = dice.Pick<double>({0.375, -2, 0});
    p.beta = dice.Pick<double>({-1.5, 1, 0});
  }
  if (dice.OneIn(4)) p.specials = 1 + static_cast<int>(dice.Below(4));
  p.open = dice.OneIn(6);
  if (!p.open && dice.OneIn(2)) PinATile(dice, &p);
  return p;
}

void SweepGemm(uint32_t seed, int count) {
  Sweep(seed, count, RandomGemmProblem, CheckGemm,
        [](const GemmProblem&) -> int64_t { return 7; });
}

}  // namespace ingot::testing
