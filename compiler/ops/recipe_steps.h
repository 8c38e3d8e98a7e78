// How the plans of ops are put together.
#ifndef INGOT_COMPILER_OPS_RECIPE_STEPS_H_
#define INGOT_COMPILER_OPS_RECIPE_STEPS_H_

#include "compiler/plan.h"

namespace ingot {

// Adds the kernel to the plan, and a launch of it on its own grid to the
// recipe, which is one of a variant that the plan may not have yet.
void AddLaunch(KernelSpec kernel, Plan* plan, Recipe* recipe);

}  // namespace ingot

#endif  // INGOT_COMPILER_OPS_RECIPE_STEPS_H_
