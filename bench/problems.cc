#include "bench/problems.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "bench/process.h"

namespace ingot::bench {

Spec RmsnormSpec(int64_t n) {
  Spec spec;
  spec.op = "rmsnorm";
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"x", "bf16"}, {"weight", "bf16"}, {"y", "bf16"}};
  return spec;
}

Spec GemmSpec(int64_t tile) {
  Spec spec;
  spec.op = "gemm";
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", 4096}, {"k", 4096}};
  spec.operands = {{"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}};
  spec.attrs = {{"layout", std::string("nt")}};
  spec.tuning = {{"tile_m", tile},
                 {"tile_n", tile},
                 {"waves_m", 2},
                 {"waves_n", 2},
                 {"split_k", 1}};
  return spec;
}

Spec ScaledGemmSpec(const std::string& format, int64_t tile) {
  Spec spec = GemmSpec(tile);
  spec.op = "scaled_gemm";
  spec.operands = {{"a", format},
                   {"b", format},
                   {"scale_a", "e8m0"},
                   {"scale_b", "e8m0"},
                   {"d", "bf16"}};
  spec.attrs.clear();
  return spec;
}

Spec GroupedGemmSpec(int64_t tile) {
  Spec spec = GemmSpec(tile);
  spec.op = "grouped_gemm";
  spec.dims = {{"g", 8}, {"total_m"}, {"n", 4096}, {"k", 4096}};
  spec.operands = {
      {"a", "bf16"}, {"b", "bf16"}, {"d", "bf16"}, {"offs", "i32"}};
  spec.attrs = {{"b_layout", std::string("gkn")}};
  return spec;
}

std::vector<Problem> Problems() {
  return {{"rmsnorm bf16 n=4096", RmsnormSpec(4096), 30},
          {"rmsnorm bf16 n=8192", RmsnormSpec(8192), 30},
          {"gemm bf16 nt 128x128", GemmSpec(128), 100},
          {"gemm bf16 nt 256x256", GemmSpec(256), 300},
          {"scaled_gemm e4m3fn 128x128", ScaledGemmSpec("e4m3fn", 128), 350},
          {"scaled_gemm e2m1 256x256", ScaledGemmSpec("e2m1", 256), 350},
          {"grouped_gemm bf16 128x128", GroupedGemmSpec(128), 350}};
}

PlanKernel FirstKernel(const Spec& spec) {
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  if (!plan.ok()) Die(std::string(plan.status().message()));
  for (const RecipeStep& step : plan->variants.front().recipe.steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      return plan->kernels[launch->kernel];
    }
  }
  Die(absl::StrCat(spec.op, ": the first variant launches nothing"));
}

}  // namespace ingot::bench
