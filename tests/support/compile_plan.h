// Compiles what a plan needs, for tests of code.
#ifndef TESTS_SUPPORT_COMPILE_PLAN_H_
#define TESTS_SUPPORT_COMPILE_PLAN_H_

#include <set>
#include <string>

#include "compiler/compile.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/program_text.h"

namespace ingot::testing {

// Every kernel of the spec's plan whose key is not in `compiled` yet. Compile
// itself checks contract, spills and scratch against what the plan says; here
// they must be none.
inline void CompileAll(const Spec& spec, std::set<std::string>* compiled) {
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const PlanKernel& kernel : plan->kernels) {
    if (!compiled->insert(kernel.key).second) continue;
    const absl::StatusOr<CompiledKernel> object = Compile(kernel.spec);
    ASSERT_TRUE(object.ok()) << object.status();
    const CodeObjectDescription& found = object->description;
    EXPECT_EQ(found.scratch_bytes + found.vgpr_spills + found.sgpr_spills, 0u);
    EXPECT_EQ(found.lds_bytes, kernel.spec.lds_bytes);
    const absl::StatusOr<std::string> text = Disassemble(object->object);
    ASSERT_TRUE(text.ok()) << text.status();
    // A descriptor in vector registers would be read in a loop over lanes, and
    // so would the number of a tile.
    EXPECT_EQ(CountInstructions(ParseProgram(*text), "s_cbranch_exec"), 0)
        << kernel.spec.symbol;
  }
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_COMPILE_PLAN_H_
