#include "compiler/ops/recipe_steps.h"

#include <utility>

namespace ingot {

void AddLaunch(KernelSpec kernel, Plan* plan, Recipe* recipe) {
  LaunchStep launch;
  launch.kernel = static_cast<int>(plan->kernels.size());
  launch.grid = kernel.grid;
  plan->kernels.push_back({std::move(kernel)});
  recipe->steps.push_back(launch);
}

}  // namespace ingot
