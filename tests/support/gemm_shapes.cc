#include "tests/support/gemm_shapes.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/ops/op.h"
#include "gtest/gtest.h"

namespace ingot::testing {
namespace {

// The number behind a name in a line of JSON; 0 when there is none.
int64_t Number(const std::string& line, const std::string& name) {
  const std::string key = absl::StrCat("\"", name, "\": ");
  const size_t at = line.find(key);
  return at == std::string::npos ? 0
                                 : std::atoll(line.c_str() + at + key.size());
}

// The kernel that does the work of a launch of `m` rows.
const KernelSpec* KernelFor(const Plan& plan, int64_t m) {
  for (const Variant& variant : plan.variants) {
    const bool fits = std::all_of(
        variant.guards.begin(), variant.guards.end(), [&](const Guard& guard) {
          return guard.subject != Guard::kDim || guard.index != 0 ||
                 (m >= guard.min && (guard.max == 0 || m <= guard.max));
        });
    for (const RecipeStep& step : variant.recipe.steps) {
      const LaunchStep* launch = std::get_if<LaunchStep>(&step);
      if (fits && launch != nullptr) return &plan.kernels[launch->kernel].spec;
    }
  }
  return nullptr;
}

void Reduce(const KernelSpec& kernel, GemmProblem* p) {
  for (const char* name : FindOp("gemm")->tuning) {
    const absl::StatusOr<int64_t> value = kernel.GetInt(name);
    if (!value.ok()) continue;
    p->tuning.push_back({name, *value});
    if (name == std::string("tile_m")) p->m = std::min(p->m, *value + 3);
    if (name == std::string("tile_n")) p->n = std::min(p->n, *value + 8);
  }
}

}  // namespace

std::vector<GemmProblem> ReducedGemmShapes(const std::string& manifest) {
  std::vector<GemmProblem> problems;
  std::set<std::string> seen;
  std::ifstream file(manifest);
  std::string line;
  while (std::getline(file, line)) {
    GemmProblem p;
    p.m = Number(line, "m");
    p.n = Number(line, "n");
    p.k = Number(line, "k");
    const absl::StatusOr<Plan> plan = MakePlan(p.ToSpec());
    EXPECT_TRUE(plan.ok()) << line << ": " << plan.status();
    if (!plan.ok()) continue;
    const KernelSpec* kernel = KernelFor(*plan, p.m);
    EXPECT_NE(kernel, nullptr) << line;
    if (kernel == nullptr) continue;
    Reduce(*kernel, &p);
    if (seen.insert(p.ToString()).second) problems.push_back(p);
  }
  EXPECT_FALSE(problems.empty()) << manifest;
  return problems;
}

}  // namespace ingot::testing
