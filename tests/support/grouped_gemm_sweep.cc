#include "tests/support/grouped_gemm_sweep.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/dice.h"
#include "tests/support/sweep.h"

namespace ingot::testing {
namespace {

std::vector<int32_t> Sizes(Dice& dice, int64_t groups) {
  std::vector<int32_t> sizes(groups);
  const int64_t kind = dice.Below(5);
  const int64_t most = std::max<int64_t>(2, 400 / groups);
  for (int32_t& size : sizes) {
    const int64_t even = kind == 0 ? most / 2 : dice.Below(most);
    size = static_cast<int32_t>(kind == 1 && !dice.OneIn(4) ? 0 : even);
  }
  if (kind == 2) {  // one group with everything
    std::fill(sizes.begin(), sizes.end(), 0);
    sizes[dice.Below(groups)] = static_cast<int32_t>(dice.Extent());
  } else if (kind == 3) {  // one with 1.38 times the others' rows
    std::fill(sizes.begin(), sizes.end(), static_cast<int32_t>(most / 2));
    sizes[dice.Below(groups)] = static_cast<int32_t>(most / 2 * 1.38);
  }
  return sizes;
}

void Routing(Dice& dice, GroupedGemmProblem* p) {
  const int64_t groups =
      dice.OneIn(8) ? 60 + dice.Below(300) : 1 + dice.Below(9);
  p->offs = OffsOf(Sizes(dice, groups));
  p->total_m = p->offs.back();
  p->static_groups = !dice.OneIn(4);
  if (dice.OneIn(4)) p->total_m += dice.Below(40);
  if (!dice.OneIn(8)) return;
  for (int32_t& end : p->offs) {
    if (dice.OneIn(3)) {
      end = dice.Pick<int32_t>(
          {-1, INT32_MIN, INT32_MAX, 7, static_cast<int32_t>(p->total_m + 1)});
    }
  }
}

// Large problems take the emulator long.
void Shape(Dice& dice, GroupedGemmProblem* p) {
  constexpr int64_t kMost = 2'000'000;
  do {
    p->n = dice.Extent();
    p->k = dice.Extent();
  } while (p->columns() * p->k * std::max<int64_t>(p->total_m, p->groups()) >
               kMost &&
           (p->n > 8 || p->k > 8));
}

// Block-scaled formats.
void Scale(Dice& dice, GroupedGemmProblem* p) {
  const std::vector<std::string> formats = {"e4m3fn", "e5m2", "e2m3", "e3m2",
                                            "e2m1"};
  p->dtype = dice.Pick(formats);
  if (dice.OneIn(2)) p->dtype_b = dice.Pick(formats);
  p->b_layout = "gnk";
  p->k = (p->k + 31) / 32 * 32;
  if (p->act == "swiglu") p->pairing = "interleaved";
}

}  // namespace

GroupedGemmProblem RandomGroupedGemmProblem(std::mt19937& random) {
  Dice dice(random);
  GroupedGemmProblem p;
  p.b_layout = dice.Pick<std::string>({"gkn", "gnk"});
  p.dtype = dice.Pick<std::string>({"bf16", "f16", "mx"});
  p.dtype_d = dice.Pick<std::string>({"bf16", "f16", "f32"});
  dice.Activation(&p.act, &p.pairing);
  if (dice.OneIn(2)) p.bias = dice.Pick<std::string>({p.dtype_d, "f32"});
  Routing(dice, &p);
  Shape(dice, &p);
  if (p.dtype == "mx") Scale(dice, &p);
  p.strides = static_cast<StrideMode>(dice.Below(3));
  if (p.strides != StrideMode::kDense) {
    p.pad = dice.Pick<int64_t>({0, 8, 16, 4, 1, 3});
    p.gap = dice.Pick<int64_t>({0, 0, 1, 8});
  }
  if (dice.OneIn(4)) p.specials = 4;
  p.cu_count = dice.Pick<int64_t>({1, 2, 7, 8, 32, 256});
  if (dice.OneIn(2)) PinATile(dice, &p);
  return p;
}

void SweepGroupedGemm(uint32_t seed, int count) {
  Sweep(seed, count, RandomGroupedGemmProblem, CheckGroupedGemm,
        [](const GroupedGemmProblem& p) -> int64_t {
          return p.cu_count == 3 ? 5 : 3;
        });
}

}  // namespace ingot::testing
