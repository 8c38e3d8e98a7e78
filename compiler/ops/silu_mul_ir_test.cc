// silu_mul's kernels are what moves memory at full speed: 16 bytes an access,
// every load under way before the first is waited for, no spills.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/compile.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/program_text.h"

namespace ingot {
namespace {

using testing::CountInstructions;
using testing::Instruction;

struct Case {
  const char* act;
  const char* pairing;  // empty: gate and up are apart
};

class SiluMulIrTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override { ASSERT_EQ(WarmUpCompiler(), absl::OkStatus()); }
};

Spec SpecOf(const Case& c, const char* dtype, int64_t n) {
  Spec spec{"silu_mul"};
  spec.target = "gfx950";
  spec.dims = {{"rows"}, {"n", n}};
  spec.operands = {{"y", dtype}};
  spec.attrs = {{"act", c.act}};
  if (c.pairing[0] == '\0') {
    spec.operands.push_back({"gate", dtype});
    spec.operands.push_back({"up", dtype});
  } else {
    spec.operands.push_back({"x", dtype});
    spec.attrs.push_back({"pairing", c.pairing});
  }
  return spec;
}

std::vector<Instruction> ProgramOf(const Spec& spec) {
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  const absl::StatusOr<CompiledKernel> compiled =
      Compile(plan->kernels[0].spec);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return {};
  const CodeObjectDescription& found = compiled->description;
  EXPECT_EQ(found.scratch_bytes + found.vgpr_spills + found.sgpr_spills, 0u);
  // Seven waves a SIMD, most forms eight.
  EXPECT_LE(found.vgprs, 72u);
  const absl::StatusOr<std::string> text = Disassemble(compiled->object);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? testing::ParseProgram(*text) : std::vector<Instruction>();
}

TEST_P(SiluMulIrTest, LoadsAreWideAndEarly) {
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    SCOPED_TRACE(dtype);
    const std::vector<Instruction> program =
        ProgramOf(SpecOf(GetParam(), dtype, 14336));
    EXPECT_EQ(CountInstructions(program, "buffer_load_dwordx4"), 4);
    EXPECT_EQ(CountInstructions(program, "buffer_store_dwordx4"), 2);
    EXPECT_EQ(CountInstructions(program, "buffer_"), 6);
    EXPECT_EQ(CountInstructions(program, "global_"), 0);
    const auto waits =
        std::find_if(program.begin(), program.end(), [](const Instruction& i) {
          return i.name == "s_waitcnt" &&
                 absl::StrContains(i.operands, "vmcnt");
        });
    EXPECT_EQ(CountInstructions({program.begin(), waits}, "buffer_load"), 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, SiluMulIrTest,
                         ::testing::Values(Case{"silu", ""},
                                           Case{"silu", "halves"},
                                           Case{"silu", "interleaved"},
                                           Case{"gelu_tanh", ""},
                                           Case{"gelu_erf", "interleaved"}));

}  // namespace
}  // namespace ingot
