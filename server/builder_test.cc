// The builder with a pool that the test plays.
#include "server/builder.h"

#include <memory>
#include <vector>

#include "cache/memory_store.h"
#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/saxpy_kernel.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;
using Cause = WorkerDeath::Cause;

class BuilderTest : public ::testing::Test {
 protected:
  BuilderTest() {
    bundles_ = std::make_unique<Bundles>(folder_.path(), 8);
    MakeBuilder();
  }

  void MakeBuilder() {
    builder_ = std::make_unique<Builder>(
        store_, queue_, refusals_, *bundles_, *trust_, counters_, 2,
        [](const std::string&, absl::string_view, const absl::Status&, int64_t,
           const std::string&) {});
  }

  // Asks for the kernel; outcomes gather in `outcomes_`.
  Flights::Ticket Ask(const PlanKernel& kernel,
                      Priority priority = Priority::kInteractive) {
    return builder_->Build(kernel, priority, "",
                           [this](const BuildOutcome& outcome, bool) {
                             outcomes_.push_back(outcome.status());
                           });
  }

  // Ends the job at the front of the queue, as a worker would.
  void Work(JobOutcome outcome) {
    std::optional<Job> job = queue_.Pop(std::chrono::nanoseconds(0));
    ASSERT_TRUE(job.has_value());
    if (job->begin && !job->begin()) return;
    job->done(*job, std::move(outcome));
  }

  static worker::Reply GoodReply() {
    worker::Reply reply;
    reply.set_object(SaxpyObject());
    worker::StageTime* stage = reply.add_stages();
    stage->set_stage("codegen");
    stage->set_micros(1234);
    return reply;
  }
  static worker::Reply Refusal(absl::StatusCode code) {
    worker::Reply reply;
    reply.set_code(static_cast<int>(code));
    reply.set_message("too much LDS");
    return reply;
  }
  static WorkerDeath Death(Cause cause) { return {cause, "died", "log"}; }

  cache::TempDir folder_;
  MonotonicTime now_{};
  Counters counters_;
  cache::MemoryStore memory_{cache::MemoryOptions{}};
  KernelStore store_{memory_, memory_, counters_, [](const std::string&) {}};
  JobQueue queue_{8};
  std::unique_ptr<Trust> trust_ = *Trust::Open({}, counters_);
  NegativeCache refusals_{100, std::chrono::hours(1), std::chrono::seconds(5),
                          [this] { return now_; }};
  std::unique_ptr<Bundles> bundles_;
  std::unique_ptr<Builder> builder_;
  std::vector<absl::Status> outcomes_;
};

TEST_F(BuilderTest, OneCompileForAllAndThenNone) {
  for (int i = 0; i < 5; ++i) Ask(SaxpyKernel());
  EXPECT_EQ(queue_.size(), 1u);
  Work(GoodReply());
  EXPECT_EQ(outcomes_, std::vector<absl::Status>(5, absl::OkStatus()));
  Ask(SaxpyKernel());  // found, with no job
  EXPECT_EQ(outcomes_.size(), 6u);
  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_EQ(counters_.Get("ingot_compiles_total").value(), 1u);
  const Histogram::Reading codegen =
      counters_.GetHistogram(R"(ingot_compile_seconds{stage="codegen"})")
          .Read();
  EXPECT_EQ(codegen.counts[1], 1u);  // above 1 ms and not above 2
  EXPECT_DOUBLE_EQ(codegen.sum_seconds, 1234e-6);
  EXPECT_TRUE(
      store_.Find(SaxpyKernel().key, SaxpyKernel().encoding).has_value());
}

TEST_F(BuilderTest, AnotherKernelUnderTheSameKeyIsAMissAndAnAlarm) {
  Ask(SaxpyKernel());
  Work(GoodReply());
  EXPECT_FALSE(
      store_.Find(SaxpyKernel().key, SaxpyKernel(1).encoding).has_value());
  EXPECT_EQ(counters_.Get("ingot_key_mismatches_total").value(), 1u);
}

TEST_F(BuilderTest, PermanentRefusalsAreReplayed) {
  Ask(SaxpyKernel());
  Work(Refusal(absl::StatusCode::kFailedPrecondition));
  now_ += std::chrono::minutes(59);
  Ask(SaxpyKernel());
  ASSERT_EQ(outcomes_.size(), 2u);
  EXPECT_TRUE(absl::IsFailedPrecondition(outcomes_[1]));
  EXPECT_EQ(outcomes_[0], outcomes_[1]);
  EXPECT_EQ(queue_.size(), 0u);
  now_ += std::chrono::minutes(1);
  Ask(SaxpyKernel());
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(BuilderTest, WhateverElseACompilerSaysIsInternal) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kUnknown,
        absl::StatusCode::kInternal}) {
    const PlanKernel kernel = SaxpyKernel(static_cast<int64_t>(code));
    Ask(kernel);
    Work(Refusal(code));
    EXPECT_TRUE(absl::IsInternal(outcomes_.back()));
    EXPECT_THAT(std::string(outcomes_.back().message()),
                HasSubstr(Bundles::Id(kernel.key)));
  }
}

TEST_F(BuilderTest, ABadObjectIsInternalAndNotRemembered) {
  Ask(SaxpyKernel());
  Work(worker::Reply());  // OK, and empty
  EXPECT_TRUE(absl::IsInternal(outcomes_.back()));
  Ask(SaxpyKernel());
  Work(GoodReply());
  EXPECT_TRUE(outcomes_.back().ok());
}

TEST_F(BuilderTest, OneDeathIsRetriedTwoCrashesAreQuarantine) {
  Ask(SaxpyKernel());
  Work(Death(Cause::kCrash));
  EXPECT_TRUE(outcomes_.empty());
  Work(GoodReply());
  EXPECT_TRUE(outcomes_.back().ok());

  const PlanKernel bad = SaxpyKernel(1);
  Ask(bad);
  Work(Death(Cause::kCrash));
  Work(Death(Cause::kCrash));
  EXPECT_TRUE(absl::IsFailedPrecondition(outcomes_.back()));
  EXPECT_THAT(std::string(outcomes_.back().message()),
              HasSubstr(Bundles::Id(bad.key)));
  EXPECT_EQ(bundles_->LoadQuarantined().size(), 1u);

  // A daemon that starts again knows.
  refusals_.Clear();
  MakeBuilder();
  Ask(bad);
  EXPECT_TRUE(absl::IsFailedPrecondition(outcomes_.back()));
  builder_->Forgive(bad.key);
  Ask(bad);
  EXPECT_EQ(queue_.size(), 1u);
  EXPECT_TRUE(bundles_->LoadQuarantined().empty());
}

TEST_F(BuilderTest, LimitsAreRefusedForAWhile) {
  Ask(SaxpyKernel());
  Work(Death(Cause::kLimit));
  Work(Death(Cause::kLimit));
  EXPECT_TRUE(absl::IsFailedPrecondition(outcomes_.back()));
  EXPECT_TRUE(bundles_->LoadQuarantined().empty());
  now_ += std::chrono::seconds(5);
  Ask(SaxpyKernel());
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(BuilderTest, KillsFromOutsideNeverQuarantine) {
  for (int i = 0; i < 3; ++i) {
    Ask(SaxpyKernel());
    for (int death = 0; death < 3; ++death) Work(Death(Cause::kOutside));
    EXPECT_TRUE(absl::IsUnavailable(outcomes_.back()));
  }
  Ask(SaxpyKernel());
  Work(GoodReply());
  EXPECT_TRUE(outcomes_.back().ok());
}

TEST_F(BuilderTest, AFullQueueNamesADelay) {
  for (int i = 0; i < 8; ++i) Ask(SaxpyKernel(i));
  Ask(SaxpyKernel(8));
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_TRUE(absl::IsResourceExhausted(outcomes_[0]));
  EXPECT_TRUE(outcomes_[0]
                  .GetPayload("type.googleapis.com/google.rpc.RetryInfo")
                  .has_value());
}

TEST_F(BuilderTest, AWarmUpIsPromotedByWhoNeedsIt) {
  Ask(SaxpyKernel(1), Priority::kWarmup);
  Ask(SaxpyKernel(2), Priority::kWarmup);
  Ask(SaxpyKernel(2));
  const std::optional<Job> first = queue_.Pop(std::chrono::nanoseconds(0));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->request->compile().key_encoding(), SaxpyKernel(2).encoding);
}

TEST_F(BuilderTest, AnAbandonedWarmUpLeavesTheQueue) {
  const Flights::Ticket ticket = Ask(SaxpyKernel(), Priority::kWarmup);
  builder_->Abandon(ticket);
  EXPECT_EQ(queue_.size(), 0u);
  const Flights::Ticket wanted = Ask(SaxpyKernel());
  builder_->Abandon(wanted);
  EXPECT_EQ(queue_.size(), 1u);
  Work(GoodReply());
  EXPECT_TRUE(outcomes_.empty());
  EXPECT_TRUE(
      store_.Find(SaxpyKernel().key, SaxpyKernel().encoding).has_value());
}

TEST_F(BuilderTest, DrainingHandsBackAndTakesNothing) {
  Ask(SaxpyKernel(1));
  builder_->Drain();
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(outcomes_[0]));
  Ask(SaxpyKernel(2));
  EXPECT_TRUE(absl::IsUnavailable(outcomes_.back()));
  EXPECT_EQ(builder_->in_flight(), 0u);
}

}  // namespace
}  // namespace ingot::server
