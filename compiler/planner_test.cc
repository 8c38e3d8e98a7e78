// What holds of every op's plans.
#include <algorithm>
#include <chrono>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <thread>

#include "compiler/fingerprint.h"
#include "compiler/ops/op.h"
#include "compiler/plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::vector<Spec> AllSamples() {
  std::vector<Spec> samples;
  for (const OpDef* op : AllOps()) {
    for (const Spec& spec : op->samples()) samples.push_back(spec);
  }
  return samples;
}

std::vector<std::string> AllKeys() {
  std::vector<std::string> keys;
  for (const Spec& spec : AllSamples()) {
    const absl::StatusOr<Plan> plan = MakePlan(spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) continue;
    for (const PlanKernel& kernel : plan->kernels) keys.push_back(kernel.key);
  }
  return keys;
}

TEST(Planner, ListsTheOpsItKnows) {
  Spec spec{"gemv"};
  spec.target = "gfx950";
  const absl::Status status = MakePlan(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("'gemv'"), HasSubstr("gemm"),
                             HasSubstr("rmsnorm")));
  EXPECT_EQ(FindOp("gemv"), nullptr);
  EXPECT_STREQ(FindOp("gemm")->name, "gemm");
}

TEST(Planner, RefusesNamesThatTheOpDoesNotKnow) {
  for (const OpDef* op : AllOps()) {
    const Spec good = op->samples().front();
    Spec spec = good;
    spec.dims.push_back({"not_a_dim", 1});
    EXPECT_EQ(MakePlan(spec).status().code(),
              absl::StatusCode::kInvalidArgument);
    spec = good;
    spec.operands.push_back({"not_an_operand", "f32"});
    EXPECT_EQ(MakePlan(spec).status().code(),
              absl::StatusCode::kInvalidArgument);
    spec = good;
    spec.attrs.push_back({"not_an_attribute", true});
    EXPECT_EQ(MakePlan(spec).status().code(), absl::StatusCode::kUnimplemented);
    spec = good;
    spec.tuning.push_back({"not_a_tuning", 1});
    const absl::Status status = MakePlan(spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("'not_a_tuning'"));
  }
}

TEST(Planner, SamplesPlan) {
  for (const Spec& spec : AllSamples()) {
    const absl::StatusOr<Plan> plan = MakePlan(spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<Spec> canonical = Canonicalize(spec);
    ASSERT_TRUE(canonical.ok());
    EXPECT_EQ(plan->spec_digest, SpecDigest(*canonical));
    EXPECT_EQ(plan->fingerprint, *OpFingerprint(spec.op));
    EXPECT_FALSE(plan->variants.empty());
    std::set<std::string> keys;
    for (const PlanKernel& kernel : plan->kernels) {
      EXPECT_TRUE(keys.insert(kernel.key).second) << "a key twice";
      EXPECT_EQ(kernel.key, KernelKey(kernel.encoding));
      EXPECT_EQ(kernel.spec.op, spec.op);
      EXPECT_EQ(kernel.spec.fingerprint, plan->fingerprint);
      EXPECT_FALSE(kernel.spec.scratch_allowed);
      const absl::StatusOr<KernelSpec> decoded =
          DecodeKernelSpec(kernel.encoding);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
    }
  }
}

// Every index and expression of a plan is good for every dim it covers.
TEST(Planner, RecipesEvaluate) {
  for (const Spec& spec : AllSamples()) {
    const absl::StatusOr<Plan> plan = MakePlan(spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<int64_t> dims;
    for (const PlanDim& dim : plan->dims) dims.push_back(dim.max);
    const std::vector<int64_t> strides(plan->operands.size() * 8, 1 << 20);
    const LaunchValues values{dims, strides, 256};
    for (const Variant& variant : plan->variants) {
      ASSERT_TRUE(Evaluate(variant.recipe.workspace_bytes, values).ok());
      for (const RecipeStep& step : variant.recipe.steps) {
        const LaunchStep* launch = std::get_if<LaunchStep>(&step);
        if (launch == nullptr) continue;
        ASSERT_LT(launch->kernel, static_cast<int>(plan->kernels.size()));
        const KernelSpec& kernel = plan->kernels[launch->kernel].spec;
        for (int axis = 0; axis < 3; ++axis) {
          const absl::StatusOr<int64_t> size =
              Evaluate(launch->grid[axis], values);
          ASSERT_TRUE(size.ok()) << size.status();
          EXPECT_GE(*size, 1);
          EXPECT_EQ(launch->grid[axis], kernel.grid[axis]);
        }
        for (const KernelArg& arg : kernel.args) {
          if (arg.kind == KernelArg::kInteger) {
            EXPECT_TRUE(Evaluate(arg.offset, values).ok()) << arg.name;
          }
        }
      }
    }
  }
}

TEST(Planner, BadSamplesAreRefused) {
  for (const OpDef* op : AllOps()) {
    int i = 0;
    for (const Spec& spec : op->bad_samples()) {
      const absl::Status status = MakePlan(spec).status();
      EXPECT_THAT(status.code(), AnyOf(absl::StatusCode::kInvalidArgument,
                                       absl::StatusCode::kUnimplemented))
          << op->name << " bad sample " << i << ": " << status;
      EXPECT_THAT(std::string(status.message()),
                  testing::AllOf(HasSubstr("found"), HasSubstr("allowed")));
      ++i;
    }
    EXPECT_GT(i, 0);
  }
}

TEST(Planner, ReplanningTheResolvedSpecGivesTheSameKernels) {
  for (const Spec& spec : AllSamples()) {
    const absl::StatusOr<Plan> plan = MakePlan(spec);
    ASSERT_TRUE(plan.ok());
    const absl::StatusOr<Plan> again = MakePlan(plan->resolved);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(plan->kernels.size(), again->kernels.size());
    for (size_t i = 0; i < plan->kernels.size(); ++i) {
      EXPECT_EQ(plan->kernels[i].key, again->kernels[i].key);
    }
  }
}

TEST(Planner, TheTargetIsInTheKey) {
  for (Spec spec : AllSamples()) {
    const absl::StatusOr<Plan> bare = MakePlan(spec);
    spec.target = "gfx950:sramecc+:xnack-";
    const absl::StatusOr<Plan> full = MakePlan(spec);
    ASSERT_TRUE(bare.ok() && full.ok());
    EXPECT_NE(bare->kernels[0].key, full->kernels[0].key);
  }
}

TEST(Planner, KeysDoNotDependOnWhereOrWhoOrWhen) {
  const std::vector<std::string> before = AllKeys();
  const std::filesystem::path directory = std::filesystem::current_path();
  std::filesystem::current_path("/");
  for (const char* name : {"HOME", "TZ", "LANG", "LC_ALL", "PATH", "USER",
                           "HOSTNAME", "TMPDIR", "OMP_NUM_THREADS"}) {
    ASSERT_EQ(setenv(name, "/elsewhere", 1), 0);
  }
  tzset();
  setlocale(LC_ALL, "C.UTF-8");
  EXPECT_EQ(AllKeys(), before);
  std::filesystem::current_path(directory);
}

TEST(Planner, PlansFromManyThreadsAreTheSame) {
  const std::vector<std::string> expected = AllKeys();
  std::vector<std::vector<std::string>> found(8);
  std::vector<std::thread> threads;
  for (std::vector<std::string>& keys : found) {
    threads.emplace_back([&keys] { keys = AllKeys(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::string>& keys : found) EXPECT_EQ(keys, expected);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlowdown = 20;
#else
constexpr double kSlowdown = 1;
#endif

// Planning stands in the way of an answer. The best of twenty rounds: others
// may be using the machine.
TEST(Planner, TakesMicroseconds) {
  const std::vector<Spec> samples = AllSamples();
  double best = HUGE_VAL;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (const Spec& spec : samples) ASSERT_TRUE(MakePlan(spec).ok());
    const std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / static_cast<double>(samples.size()));
  }
  RecordProperty("micros_a_plan", static_cast<int>(best));
  EXPECT_LT(best, 200 * kSlowdown);
}

}  // namespace
}  // namespace ingot
