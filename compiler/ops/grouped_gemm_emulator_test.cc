// grouped_gemm, executed.
#include <cstdlib>
#include <fstream>
#include <random>

#include "compiler/ops/gemm_plan_tiles.h"
#include "compiler/ops/gemm_plan_tuning.h"
#include "gtest/gtest.h"
#include "tests/support/grouped_gemm_problem.h"
#include "tests/support/grouped_gemm_sweep.h"

namespace ingot {
namespace {

using testing::CheckGroupedGemm;
using testing::GroupedGemmProblem;
using testing::LaunchReport;
using testing::OffsOf;
using testing::SweepGroupedGemm;
using testing::TestDevice;

GroupedGemmProblem Problem(const char* b_layout,
                           const std::vector<int32_t>& sizes, int64_t n,
                           int64_t k) {
  GroupedGemmProblem p;
  p.b_layout = b_layout;
  p.offs = OffsOf(sizes);
  p.total_m = p.offs.back();
  p.n = n;
  p.k = k;
  return p;
}

class GroupedGemmLayoutTest : public ::testing::TestWithParam<const char*> {
 protected:
  void Check(const GroupedGemmProblem& p, LaunchReport* report = nullptr) {
    CheckGroupedGemm(device_, p, ++seed_, report);
  }

  TestDevice device_;
  uint32_t seed_ = 0;
};

TEST_P(GroupedGemmLayoutTest, EmptyAndSkewedGroups) {
  const std::vector<int32_t> sizes[] = {
      {1},          {0, 5},          {5, 0},         {0, 0, 33, 0, 0},
      {40, 0, 0},   {1, 1, 1, 1, 1}, {17, 0, 3, 31}, {0, 0, 0, 100},
      {22, 16, 10}, {16, 32, 48},    {64, 0, 1, 65}};
  for (const std::vector<int32_t>& of_groups : sizes) {
    Check(Problem(GetParam(), of_groups, 72, 40));
    if (HasFatalFailure()) return;
  }
}

TEST_P(GroupedGemmLayoutTest, NoRows) {
  LaunchReport report;
  Check(Problem(GetParam(), {0, 0, 0}, 64, 64), &report);
  EXPECT_TRUE(report.symbols.empty()) << "launched for nothing";
  // Rows, but no group has any: workgroups start and find nothing to do.
  GroupedGemmProblem p = Problem(GetParam(), {0, 0}, 64, 64);
  p.total_m = 30;
  Check(p, &report);
  EXPECT_EQ(report.symbols.size(), 1u);
}

TEST_P(GroupedGemmLayoutTest, RowsBehindTheLastEnd) {
  GroupedGemmProblem p = Problem(GetParam(), {10, 20}, 65, 33);
  p.total_m = 50;
  Check(p);
}

TEST_P(GroupedGemmLayoutTest, OffsThatAreNoEnds) {
  const std::vector<int32_t> all[] = {{-5, 20, 10, 30},
                                      {1000, 3, 20},
                                      {INT32_MIN, INT32_MAX},
                                      {-1, -2, -3},
                                      {40, 39, 38, 40}};
  for (const std::vector<int32_t>& offs : all) {
    GroupedGemmProblem p = Problem(GetParam(), {40}, 64, 64);
    p.offs = offs;
    Check(p);
    p.n = 65;
    p.k = 31;
    Check(p);
  }
}

// More tiles than workgroups, so that each goes round its loop: one compute
// unit, two and many.
TEST_P(GroupedGemmLayoutTest, AnyNumberOfWorkgroups) {
  for (int64_t cu_count : {1, 2, 3, 8, 9, 64}) {
    for (int64_t n : {200, 201}) {
      GroupedGemmProblem p = Problem(GetParam(), {33, 0, 70, 1, 16}, n, 136);
      p.cu_count = cu_count;
      Check(p);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(GroupedGemmLayoutTest, EveryTile) {
  for (const GemmSchedule schedule :
       {GemmSchedule::kDma, GemmSchedule::kStaged}) {
    for (const GemmTile& tile : GemmTiles(schedule)) {
      const bool staged = schedule == GemmSchedule::kStaged;
      GroupedGemmProblem p =
          Problem(GetParam(), {tile.m + 8, 0, 1, tile.m}, tile.n + 8 + staged,
                  3 * tile.k + 8 + staged);
      p.cu_count = 2;
      p.tuning = {{"tile_m", tile.m}, {"tile_n", tile.n}, {"tile_k", tile.k}};
      LaunchReport report;
      Check(p, &report);
      if (HasFatalFailure()) return;
      EXPECT_EQ(report.variant.find("staged") == 0, staged) << report.variant;
      EXPECT_NE(report.variant.find(GemmTileName(tile)), std::string::npos)
          << report.variant;
    }
  }
}

// The first group's last rows and the next one's first share no tile, and B of
// a group has NaN behind it.
TEST_P(GroupedGemmLayoutTest, StridesAndGaps) {
  for (const StrideMode strides : {StrideMode::kStatic, StrideMode::kDynamic}) {
    for (int64_t pad : {3, 8}) {
      GroupedGemmProblem p = Problem(GetParam(), {7, 30, 0, 21}, 72, 72);
      p.strides = strides;
      p.pad = pad;
      p.gap = 5;
      Check(p);
    }
  }
}

TEST_P(GroupedGemmLayoutTest, ManyGroups) {
  std::mt19937 random(9);
  for (size_t groups : {65, 256, 300, 1024}) {
    std::vector<int32_t> sizes(groups);
    for (int32_t& size : sizes) {
      if (random() % 4 == 0) size = static_cast<int32_t>(random() % 5);
    }
    GroupedGemmProblem p = Problem(GetParam(), sizes, 16, 24);
    p.cu_count = 16;
    p.static_groups = groups % 2 == 0;
    Check(p);
    if (HasFatalFailure()) return;
  }
}

TEST_P(GroupedGemmLayoutTest, Activations) {
  size_t i = 0;
  for (const char* act :
       {"relu", "gelu_tanh", "gelu_erf", "silu", "swiglu", "swiglu"}) {
    for (const int64_t n : {24, 72, 81}) {
      GroupedGemmProblem p = Problem(GetParam(), {19, 0, 40}, n, 64);
      p.act = act;
      ++i;
      if (p.act == "swiglu") p.pairing = i > 15 ? "interleaved" : "halves";
      if (i % 2 == 0) p.bias = "f32";
      p.cu_count = 1;
      Check(p);
      if (HasFatalFailure()) return;
    }
  }
}

// A NaN or infinity reaches its row, or its column in its group, alone.
TEST_P(GroupedGemmLayoutTest, SpecialValues) {
  for (int i = 0; i < 6; ++i) {
    GroupedGemmProblem p =
        Problem(GetParam(), {20, 1, 0, 30}, i % 2 == 0 ? 72 : 71, 48 + i);
    p.specials = 4;
    p.bias = "f32";
    Check(p);
    if (HasFatalFailure()) return;
  }
}

TEST_P(GroupedGemmLayoutTest, DtypesAndBias) {
  size_t i = 0;
  for (const char* dtype : {"bf16", "f16"}) {
    for (const char* dtype_d : {"bf16", "f16", "f32"}) {
      for (const std::string& bias :
           {std::string(), std::string(dtype_d), std::string("f32")}) {
        GroupedGemmProblem p =
            Problem(GetParam(), {9, 20, 3}, i % 2 == 0 ? 80 : 81, 100);
        p.dtype = dtype;
        p.dtype_d = dtype_d;
        p.bias = bias;
        Check(p);
        if (HasFatalFailure()) return;
        ++i;
      }
    }
  }
}

// The number behind a name in a line of JSON.
int64_t Number(const std::string& line, const std::string& name) {
  const size_t at = line.find(absl::StrCat("\"", name, "\": "));
  return at == std::string::npos
             ? 0
             : std::atoll(line.c_str() + at + name.size() + 4);
}

// What a launch of `rows` runs, as tuning that pins it.
std::vector<Tuning> TileFor(const Spec& spec, int64_t rows) {
  const absl::StatusOr<Plan> plan = MakePlan(spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  std::vector<Tuning> tuning;
  for (const Variant& variant : plan->variants) {
    const Guard& range = variant.guards.back();
    if (rows < range.min || rows > range.max) continue;
    const int kernel = std::get<LaunchStep>(variant.recipe.steps[0]).kernel;
    for (const char* name : kGemmTuning) {
      const absl::StatusOr<int64_t> value =
          plan->kernels[kernel].spec.GetInt(name);
      if (value.ok()) tuning.push_back({name, *value});
    }
    break;
  }
  return tuning;
}

// The shapes that people measure, with the tiles that those get, an eighth of
// the rows, a 32nd of the columns and of k.
TEST(GroupedGemmShapes, Reduced) {
  TestDevice device;
  std::ifstream file("tests/data/manifests/grouped_gemm.jsonl");
  std::string line;
  int shapes = 0;
  while (std::getline(file, line)) {
    const int64_t groups = Number(line, "g");
    const int32_t each = static_cast<int32_t>(Number(line, "total_m") / groups);
    for (const char* b_layout : {"gkn", "gnk"}) {
      GroupedGemmProblem real =
          Problem(b_layout, std::vector<int32_t>(groups, each),
                  Number(line, "n"), Number(line, "k"));
      std::vector<int32_t> sizes(groups, each / 8);
      sizes[shapes % groups] = sizes[0] * 138 / 100;
      GroupedGemmProblem p = Problem(b_layout, sizes, real.n / 32, real.k / 32);
      p.tuning = TileFor(real.ToSpec(), real.total_m);
      p.cu_count = 4;
      CheckGroupedGemm(device, p, static_cast<uint32_t>(shapes));
      if (::testing::Test::HasFatalFailure()) return;
    }
    ++shapes;
  }
  EXPECT_EQ(shapes, 9);
}

TEST(GroupedGemmSweep, RandomProblems) { SweepGroupedGemm(1, 100); }

INSTANTIATE_TEST_SUITE_P(Layouts, GroupedGemmLayoutTest,
                         ::testing::Values("gkn", "gnk"));

}  // namespace
}  // namespace ingot
