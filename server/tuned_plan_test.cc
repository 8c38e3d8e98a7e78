#include "server/tuned_plan.h"

#include <set>

#include "compiler/ops/op.h"
#include "gmock/gmock.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Spec RmsNorm() {
  Spec spec;
  spec.op = "rmsnorm";
  spec.target = "gfx950";
  spec.dims = {{.name = "n", .value = 4096}, {.name = "rows"}};
  spec.operands = {{.name = "x", .dtype = "bf16"},
                   {.name = "y", .dtype = "bf16"}};
  return spec;
}

TuningTable::Record Threads(int64_t threads, int64_t min = 0, int64_t max = 0) {
  auto record = std::make_shared<v1::TuningRecord>();
  record->set_epoch(static_cast<uint64_t>(threads));
  record->set_fingerprint(MakePlan(RmsNorm())->fingerprint);
  v1::Tuning* tuning = record->add_tuning();
  tuning->set_name("threads");
  tuning->set_value(threads);
  if (min == 0) return record;
  record->mutable_range()->set_dim("rows");
  record->mutable_range()->set_min(min);
  record->mutable_range()->set_max(max);
  return record;
}

Plan PlanWith(int64_t threads) {
  Spec spec = RmsNorm();
  spec.tuning = {{"threads", threads}};
  return *MakePlan(spec);
}

std::set<std::string> KeysOf(const Plan& plan) {
  std::set<std::string> keys;
  for (const PlanKernel& kernel : plan.kernels) keys.insert(kernel.key);
  return keys;
}

// The key that a launch with `rows` and the alignment `bytes` gets; empty when
// no variant takes it.
std::string KeyFor(const Plan& plan, int64_t rows, int64_t bytes) {
  for (const Variant& variant : plan.variants) {
    bool taken = true;
    for (const Guard& guard : variant.guards) {
      int64_t value = bytes;
      if (guard.subject == Guard::kDim) {
        value = plan.dims[static_cast<size_t>(guard.index)].name == "rows"
                    ? rows
                    : 4096;
      } else if (guard.subject == Guard::kOperandStride) {
        value = bytes / 2;
      }
      taken = taken && value >= guard.min &&
              (guard.max == 0 || value <= guard.max) &&
              (guard.multiple_of <= 1 || value % guard.multiple_of == 0);
    }
    if (!taken) continue;
    for (const RecipeStep& step : variant.recipe.steps) {
      if (const LaunchStep* launch = std::get_if<LaunchStep>(&step)) {
        return plan.kernels[static_cast<size_t>(launch->kernel)].key;
      }
    }
  }
  return "";
}

TEST(TunedPlanTest, WithoutRecordsItIsThePlan) {
  const auto tuned = MakeTunedPlan(RmsNorm(), {});
  ASSERT_TRUE(tuned.ok()) << tuned.status();
  EXPECT_EQ(KeysOf(tuned->plan), KeysOf(*MakePlan(RmsNorm())));
  EXPECT_THAT(tuned->tuned_kernels, IsEmpty());
}

TEST(TunedPlanTest, TheRecordDecides) {
  const Plan base = *MakePlan(RmsNorm());
  for (const int64_t threads : {256, 512, 1024}) {
    const Plan alone = PlanWith(threads);
    const auto tuned = MakeTunedPlan(RmsNorm(), {Threads(threads)});
    ASSERT_TRUE(tuned.ok()) << tuned.status();
    EXPECT_THAT(tuned->unusable, IsEmpty());
    EXPECT_EQ(tuned->plan.spec_digest, base.spec_digest);
    ASSERT_NE(tuned->plan.resolved.FindTuning("threads"), nullptr);
    EXPECT_EQ(tuned->plan.resolved.FindTuning("threads")->value, threads);
    for (const int64_t rows : {1, 100, 5000}) {
      for (const int64_t bytes : {2, 16, 64}) {
        EXPECT_EQ(KeyFor(tuned->plan, rows, bytes), KeyFor(alone, rows, bytes))
            << threads << " threads, " << rows << " rows, " << bytes;
      }
    }
    // All that could be launched is the record's: nothing else is compiled.
    EXPECT_EQ(KeysOf(tuned->plan), KeysOf(alone));
  }
}

TEST(TunedPlanTest, ARangeIsForItsRowsAlone) {
  const Plan base = *MakePlan(RmsNorm());
  const Plan narrow = PlanWith(256);
  const Plan wide = PlanWith(1024);
  ASSERT_NE(KeyFor(narrow, 1, 16), KeyFor(base, 1, 16));
  const auto tuned =
      MakeTunedPlan(RmsNorm(), {Threads(256, 10, 20), Threads(1024, 15, 40)});
  ASSERT_TRUE(tuned.ok()) << tuned.status();
  for (int64_t rows = 1; rows < 50; ++rows) {
    const Plan& expected = rows >= 10 && rows <= 20   ? narrow
                           : rows >= 15 && rows <= 40 ? wide
                                                      : base;
    for (const int64_t bytes : {2, 16}) {
      EXPECT_EQ(KeyFor(tuned->plan, rows, bytes), KeyFor(expected, rows, bytes))
          << rows << " rows, " << bytes;
    }
  }
  // Those of the plan without records are nobody's.
  for (const auto& [kernel, record] : tuned->tuned_kernels) {
    EXPECT_EQ(KeysOf(base).count(tuned->plan.kernels[kernel].key), 0u);
    EXPECT_TRUE(record == 256 || record == 1024);
  }
  EXPECT_THAT(tuned->tuned_kernels,
              SizeIs(KeysOf(tuned->plan).size() - KeysOf(base).size()));
  EXPECT_EQ(tuned->plan.resolved.tuning.size(), base.resolved.tuning.size());
}

// A plan that a caller tuned is what it was, and what one record cannot launch
// the plan without can: gemm's tiles have different fall-backs.
TEST(TunedPlanTest, EveryLaunchOfThePlanIsStillTaken) {
  for (const OpDef* op : AllOps()) {
    if (op->tuning.empty()) continue;
    for (const Spec& sample : op->samples()) {
      Spec spec = *Canonicalize(sample);
      if (!spec.tuning.empty()) continue;
      const absl::StatusOr<Plan> base = MakePlan(spec);
      ASSERT_TRUE(base.ok()) << base.status();
      if (base->resolved.tuning.empty()) continue;
      auto record = std::make_shared<v1::TuningRecord>();
      record->set_fingerprint(base->fingerprint);
      for (const Tuning& tuning : base->resolved.tuning) {
        v1::Tuning* added = record->add_tuning();
        added->set_name(tuning.name);
        added->set_value(tuning.value);
      }
      const auto tuned = MakeTunedPlan(spec, {record});
      ASSERT_TRUE(tuned.ok()) << tuned.status();
      EXPECT_EQ(KeysOf(tuned->plan), KeysOf(*base)) << op->name;
      EXPECT_THAT(tuned->tuned_kernels, IsEmpty());
    }
  }
}

TEST(TunedPlanTest, UnusableRecordsAreSaid) {
  auto wrong = std::make_shared<v1::TuningRecord>(*Threads(100));
  auto foreign = std::make_shared<v1::TuningRecord>(*Threads(256));
  foreign->set_fingerprint(std::string(32, 'x'));
  const auto tuned = MakeTunedPlan(RmsNorm(), {wrong, foreign});
  ASSERT_TRUE(tuned.ok()) << tuned.status();
  EXPECT_EQ(KeysOf(tuned->plan), KeysOf(*MakePlan(RmsNorm())));
  ASSERT_THAT(tuned->unusable, SizeIs(1));
  EXPECT_EQ(tuned->unusable[0].first, 100u);
  EXPECT_THAT(tuned->unusable[0].second, HasSubstr("threads"));
}

TEST(TunedPlanTest, ChecksBeforeKeeping) {
  const auto refused = [](const TuningTable::Record& record) {
    return std::string(CheckTuning(RmsNorm(), *record).message());
  };
  EXPECT_EQ(refused(Threads(256)), "");
  EXPECT_EQ(refused(Threads(256, 1, 5)), "");
  EXPECT_THAT(refused(Threads(100)), HasSubstr("threads"));
  EXPECT_THAT(refused(Threads(256, 5, 4)), HasSubstr("range: found 5 to 4"));
  EXPECT_THAT(refused(std::make_shared<v1::TuningRecord>()),
              HasSubstr("tuning: found none"));
  auto record = std::make_shared<v1::TuningRecord>(*Threads(256, 1, 5));
  record->mutable_range()->set_dim("n");  // baked: it has one value
  EXPECT_THAT(refused(record), HasSubstr("range.dim: found \"n\""));
}

}  // namespace
}  // namespace ingot::server
