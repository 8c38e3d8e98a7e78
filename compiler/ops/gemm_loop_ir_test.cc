// The hot loops of the GEMM family, as emitted: of every tile that an op has,
// exactly what stands in tests/data/gemm_loops.txt, so that no change of ours
// or of LLVM's makes one longer unnoticed; and in those of gemm, nothing but
// what they are for.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/candidates.h"
#include "compiler/compile.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "compiler/plan.h"
#include "gtest/gtest.h"
#include "tests/support/program_text.h"

namespace ingot {
namespace {

using testing::CountInstructions;
using testing::Instruction;

// A product of which every tile is looked at; named as in the table.
struct Problem {
  const char* name;
  const char* op = "gemm";
  const char* a = "bf16";
  const char* b = "bf16";
  // Of operands: gemm's layout, grouped_gemm's b_layout, scaled_gemm's
  // scale_layout (then weights are shuffled, too).
  const char* layout = "nt";
  int64_t k = 4096;
  const char* pairing = "";

  // gemm of 16 bits through LDS-DMA.
  bool IsPlain() const {
    return op == std::string("gemm") && a == std::string("bf16") && k % 8 == 0;
  }
};

std::ostream& operator<<(std::ostream& out, const Problem& p) {
  return out << p.name;
}

constexpr Problem kProblems[] = {
    {.name = "bf16_nn", .layout = "nn"},
    {.name = "bf16_nt", .layout = "nt"},
    {.name = "bf16_tn", .layout = "tn"},
    {.name = "bf16_tt", .layout = "tt"},
    {.name = "bf16_nt_halves", .pairing = "halves"},
    {.name = "bf16_nt_odd", .k = 4097},
    {.name = "fp8_nn", .a = "e4m3fn", .b = "e5m2", .layout = "nn"},
    {.name = "fp8_nt", .a = "e4m3fn", .b = "e5m2", .layout = "nt"},
    {.name = "fp8_tn", .a = "e4m3fn", .b = "e5m2", .layout = "tn"},
    {.name = "fp8_tt", .a = "e4m3fn", .b = "e5m2", .layout = "tt"},
    {.name = "fp8_nt_odd", .a = "e4m3fn", .b = "e5m2", .k = 4097},
    {"mxfp8", "scaled_gemm", "e4m3fn", "e4m3fn", "linear"},
    {"mxfp8_bytes", "scaled_gemm", "e4m3fn", "e4m3fn", "linear", 4160},
    {"mxfp8_shuffled", "scaled_gemm", "e4m3fn", "e4m3fn", "shuffled_16x4"},
    {"mxfp4", "scaled_gemm", "e2m1", "e2m1", "linear"},
    {"mxfp4_bytes", "scaled_gemm", "e2m1", "e2m1", "linear", 4160},
    {"mxfp4_shuffled", "scaled_gemm", "e2m1", "e2m1", "shuffled_16x4"},
    {"mxfp8_mxfp4", "scaled_gemm", "e4m3fn", "e2m1", "linear"},
    {"mxfp6", "scaled_gemm", "e2m3", "e3m2", "linear"},
    {"grouped_gkn", "grouped_gemm", "bf16", "bf16", "gkn"},
    {"grouped_gnk", "grouped_gemm", "bf16", "bf16", "gnk"},
    {"grouped_gnk_halves", "grouped_gemm", "bf16", "bf16", "gnk", 4096,
     "halves"},
    {"grouped_mxfp8", "grouped_gemm", "e4m3fn", "e4m3fn", "gnk"},
    {"grouped_mxfp4", "grouped_gemm", "e2m1", "e2m1", "gnk"},
};

Spec ToSpec(const Problem& p) {
  const std::string op = p.op;
  const bool mx = op == "scaled_gemm" ||
                  (op == "grouped_gemm" && p.a != std::string("bf16"));
  Spec spec{op};
  spec.target = "gfx950";
  spec.dims = {{"m"}, {"n", 4096}, {"k", p.k}};
  spec.dims[0].multiple_of = 16;
  spec.operands = {{"a", p.a}, {"b", p.b}, {"d", "bf16"}};
  spec.attrs = {{"layout", std::string(p.layout)}};
  if (op == "grouped_gemm") {
    spec.dims[0] = {"total_m"};
    spec.dims.push_back({"g", 8});
    spec.operands.push_back({"offs", "i32"});
    spec.attrs = {{"b_layout", std::string(p.layout)}};
  } else if (op == "scaled_gemm") {
    const bool shuffled = p.layout == std::string("shuffled_16x4");
    spec.attrs = {{"scale_layout", std::string(p.layout)},
                  {"weight_layout", shuffled ? "shuffled" : "linear"}};
  } else if (p.a != std::string("bf16")) {
    spec.attrs.push_back({"scaling", "none"});
  }
  if (mx) {
    spec.operands.push_back({"scale_a", "e8m0"});
    spec.operands.push_back({"scale_b", "e8m0"});
  }
  if (*p.pairing != 0) {
    spec.attrs.push_back({"act", "swiglu"});
    spec.attrs.push_back({"pairing", std::string(p.pairing)});
  }
  return spec;
}

GemmTile TileOf(const std::vector<Tuning>& tuning) {
  std::map<std::string, int> pins;
  for (const Tuning& pin : tuning) pins[pin.name] = static_cast<int>(pin.value);
  return {pins["tile_m"],  pins["tile_n"], pins["tile_k"],  pins["waves_m"],
          pins["waves_n"], pins["stages"], pins["waves_k"], pins["split_k"]};
}

// What a round is made of, in the table's order.
constexpr const char* kColumns[] = {"all",  "mfma", "valu",    "lds",
                                    "vmem", "salu", "wait",    "barrier",
                                    "prio", "nop",  "accmove", "spill"};
using Composition = std::vector<int>;

Composition CompositionOf(const std::vector<Instruction>& loop,
                          const CodeObjectDescription& object) {
  const auto count = [&](const char* prefix) {
    return CountInstructions(loop, prefix);
  };
  const int mfma = count("v_mfma");
  const int vmem = count("buffer_") + count("global_");
  const int others[] = {count("s_waitcnt"), count("s_barrier"),
                        count("s_setprio"), count("s_nop")};
  int salu = count("s_");
  for (const int other : others) salu -= other;
  Composition found = {static_cast<int>(loop.size()),
                       mfma,
                       count("v_") - mfma,
                       count("ds_"),
                       vmem,
                       salu};
  found.insert(found.end(), std::begin(others), std::end(others));
  found.push_back(count("v_accvgpr"));
  found.push_back(static_cast<int>(object.vgpr_spills + object.sgpr_spills +
                                   object.scratch_bytes));
  return found;
}

// "name: number number .."
std::string Row(const std::string& name, const Composition& composition) {
  return absl::StrCat(name, ": ", absl::StrJoin(composition, " "));
}

// The rows of a problem.
std::map<std::string, Composition> TableOf(const std::string& problem) {
  std::map<std::string, Composition> table;
  std::ifstream file("tests/data/gemm_loops.txt");
  EXPECT_TRUE(file.good());
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    std::string name, tile;
    if (!(row >> name >> tile) || name != problem) continue;
    Composition& numbers = table[absl::StrCat(name, " ", tile)];
    EXPECT_TRUE(numbers.empty()) << "twice: " << line;
    for (int number; row >> number;) numbers.push_back(number);
    EXPECT_EQ(numbers.size(), std::size(kColumns)) << line;
  }
  return table;
}

// The loop of the spec's first kernel.
void CompileLoop(const Spec& spec, std::vector<Instruction>* loop,
                 CodeObjectDescription* object) {
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<CompiledKernel> compiled =
      Compile(plan->kernels[0].spec);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const absl::StatusOr<std::string> text = Disassemble(compiled->object);
  ASSERT_TRUE(text.ok()) << text.status();
  *object = compiled->description;
  *loop = testing::MatmulLoopOf(testing::ParseProgram(*text));
  const KernelSpec& kernel = plan->kernels[0].spec;
  if (kernel.GetString("schedule").value_or("") != "dma") return;
  EXPECT_EQ(CountInstructions(*loop, "v_"), CountInstructions(*loop, "v_mfma"));
}

// What a schedule puts into a step beside products, reads and loads.
struct Step {
  int barriers = 0;
  int waits = 0;
  int priorities = 0;
};

Step StepOf(const GemmTile& tile) {
  if (tile.waves_k > 1) return {0, 2, 0};
  // Three waits for loads, four for reads.
  if (tile.ping_pong()) return {8, 7, 8};
  // A step of one set is multiplied in two halves.
  return {2, std::max(tile.k / 32, 2) + 1, 0};
}

// By a wave, in a step.
int Reads(const GemmTile& tile, const std::string& layout) {
  const int a = tile.m / tile.waves_m / 16 * (tile.k / 32);
  const int b = tile.n / tile.waves_n / 16 * (tile.k / 32);
  // Half a fragment a read where k is not contiguous.
  return a * (layout[0] == 'n' ? 1 : 2) + b * (layout[1] == 't' ? 1 : 2);
}

int Loads(const GemmTile& tile) {
  const int waves = tile.waves_k > 1 ? 1 : tile.waves();
  return (tile.m + tile.n) * tile.k * 2 / (1024 * waves);
}

int Products(const GemmTile& tile) {
  return tile.m * tile.n * tile.k /
         (16 * 16 * 32 * tile.waves_m * tile.waves_n);
}

// What is in a loop of gemm by LDS-DMA of 16 bits, and why; of scalars the
// table says how many.
void CheckPurpose(const GemmTile& tile, const std::string& layout,
                  const std::vector<Instruction>& loop) {
  const Step step = StepOf(tile);
  const int steps = tile.stages;
  const auto count = [&](const char* prefix) {
    return CountInstructions(loop, prefix);
  };
  EXPECT_EQ(count("v_mfma_f32_16x16x32_bf16"), steps * Products(tile));
  EXPECT_EQ(count("v_"), steps * Products(tile));
  EXPECT_EQ(count("ds_read"), steps * Reads(tile, layout));
  EXPECT_EQ(count("buffer_load_dwordx4"), steps * Loads(tile));
  EXPECT_EQ(count("s_barrier"), steps * step.barriers);
  // LLVM found nothing to wait for that the schedule does not wait for.
  EXPECT_EQ(count("s_waitcnt"), steps * step.waits);
  EXPECT_EQ(count("s_setprio"), steps * step.priorities);
  // Nothing else reads or writes.
  EXPECT_EQ(count("ds_"), count("ds_read"));
  EXPECT_EQ(count("buffer_"), count("buffer_load_dwordx4"));
  EXPECT_EQ(count("v_") + count("ds_") + count("buffer_") + count("s_"),
            static_cast<int>(loop.size()));
}

class GemmLoopTest : public ::testing::TestWithParam<Problem> {
 protected:
  void SetUp() override { ASSERT_EQ(WarmUpCompiler(), absl::OkStatus()); }
};

TEST_P(GemmLoopTest, IsWhatTheTableSays) {
  const Problem& problem = GetParam();
  const Spec spec = ToSpec(problem);
  std::map<std::string, Composition> table = TableOf(problem.name);
  const absl::StatusOr<std::vector<Candidate>> candidates = Candidates(spec);
  ASSERT_TRUE(candidates.ok()) << candidates.status();
  for (const Candidate& candidate : *candidates) {
    const GemmTile tile = TileOf(candidate.tuning);
    // Parts of k have the loop of all of it.
    if (!candidate.refusal.empty() || tile.split_k != 1) continue;
    const std::string name =
        absl::StrCat(problem.name, " ", GemmTileName(tile));
    SCOPED_TRACE(name);
    Spec tuned = spec;
    tuned.tuning = candidate.tuning;
    std::vector<Instruction> loop;
    CodeObjectDescription object;
    CompileLoop(tuned, &loop, &object);
    if (HasFatalFailure()) return;
    if (problem.IsPlain()) CheckPurpose(tile, problem.layout, loop);
    const Composition found = CompositionOf(loop, object);
    // What another row may be copied from.
    EXPECT_EQ(Row(name, found), Row(name, table[name]));
    table.erase(name);
  }
  for (const auto& [name, row] : table)
    ADD_FAILURE() << "no such tile: " << name;
}

// What hand-written assembly of the same loop needs, in all.
TEST(GemmLoopTable, LoopsAreAsShortAsAssembly) {
  const std::map<std::string, size_t> figures = {
      {"bf16_nt 256x256x64", 399}, {"bf16_nt 256x256x64_w8", 269},
      {"bf16_nt 192x256x64", 319}, {"bf16_nt 256x128x64", 239},
      {"bf16_nt 128x256x64", 239}, {"bf16_nt 128x128x64", 143}};
  const std::map<std::string, Composition> table = TableOf("bf16_nt");
  for (const auto& [name, instructions] : figures) {
    ASSERT_EQ(table.count(name), 1u) << name;
    EXPECT_GT(table.at(name)[0], 100) << name;
    EXPECT_LE(table.at(name)[0], instructions) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, GemmLoopTest, ::testing::ValuesIn(kProblems),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ingot
