// Plans of ops over rows ([rows, n]), as tests of the planner look at them.
#ifndef TESTS_SUPPORT_ROW_PLANS_H_
#define TESTS_SUPPORT_ROW_PLANS_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/expr.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"

namespace ingot::testing {

// The plan of a spec that must have one.
inline Plan MustPlan(const Spec& spec) {
  absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

inline std::vector<std::string> VariantNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const Variant& variant : plan.variants) names.push_back(variant.name);
  return names;
}

// The grid of the first variant's launch, unit strides, 256 compute units.
inline std::array<int64_t, 3> GridFor(const Plan& plan, int64_t rows) {
  const std::vector<int64_t> dims = {rows, plan.dims[1].min};
  const std::vector<int64_t> strides(plan.operands.size() * 8, 1);
  std::array<int64_t, 3> grid = {};
  const auto& step = std::get<LaunchStep>(plan.variants[0].recipe.steps[0]);
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = Evaluate(step.grid[axis], {dims, strides, 256}).value_or(-1);
  }
  return grid;
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_ROW_PLANS_H_
