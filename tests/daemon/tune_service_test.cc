// Tuning records: what autotuners store, and what callers then get.
#include <atomic>
#include <set>
#include <thread>

#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Stub = v1::Admin::Stub;

v1::TuneRequest Threads(int64_t n, int64_t threads) {
  v1::TuneRequest request;
  *request.mutable_spec() = RmsNorm(n);
  v1::Tuning* tuning = request.add_tuning();
  tuning->set_name("threads");
  tuning->set_value(threads);
  request.set_microseconds(3.5);
  request.set_device("MI355X");
  return request;
}

int64_t ThreadsOf(const v1::GetKernelResponse& response) {
  const v1::Variant& variant = response.plan().variants(0);
  return variant.recipe().steps(0).launch().workgroup(0);
}

class TuneTest : public DaemonTest {
 protected:
  uint64_t Tune(const v1::TuneRequest& request) {
    const auto answer = client().Call(&Stub::Tune, request);
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.response.record().epoch();
  }
  // Compiles nothing.
  Answer<v1::GetKernelResponse> Plan(int64_t n, uint64_t pin = 0) {
    v1::GetKernelRequest request = RequestOf(RmsNorm(n));
    request.set_fetch(v1::FETCH_PLAN_ONLY);
    request.set_pin_epoch(pin);
    return client().Get(request);
  }
};

TEST_F(TuneTest, ANewRecordIsUsedAtOnceAndOverAKill) {
  StartDaemon();
  const auto before = client().Get(RmsNorm(4096));
  ASSERT_TRUE(before.ok()) << before.message();
  ASSERT_TRUE(client().Get(RmsNorm(4096)).ok());  // the whole reply is kept
  EXPECT_EQ(before.response.plan().epoch(), 1u);
  EXPECT_NE(ThreadsOf(before.response), 1024);

  const uint64_t epoch = Tune(Threads(4096, 1024));
  EXPECT_EQ(epoch, 2u);
  const auto after = client().Get(RmsNorm(4096));
  ASSERT_TRUE(after.ok()) << after.message();
  EXPECT_EQ(after.response.plan().epoch(), epoch);
  EXPECT_EQ(ThreadsOf(after.response), 1024);
  EXPECT_EQ(after.response.plan().resolved_spec().tuning(0).value(), 1024);
  EXPECT_EQ(after.response.plan().spec_digest(),
            before.response.plan().spec_digest());
  // Another spec's answer is what it was.
  EXPECT_EQ(Plan(4097).response.plan().epoch(), 1u);

  KillAndRestart();
  const auto restarted = client().Get(RmsNorm(4096));
  ASSERT_TRUE(restarted.ok()) << restarted.message();
  EXPECT_EQ(restarted.response.plan().SerializeAsString(),
            after.response.plan().SerializeAsString());
  EXPECT_EQ(restarted.response.kernels(0).source(), v1::SOURCE_STORE);
}

TEST_F(TuneTest, APinnedEpochGivesItsAnswerAgain) {
  StartDaemon();
  const std::string first = Plan(4096).response.plan().SerializeAsString();
  Tune(Threads(4096, 512));
  const std::string second = Plan(4096).response.plan().SerializeAsString();
  Tune(Threads(4096, 1024));
  const auto newest = Plan(4096);
  EXPECT_EQ(newest.response.plan().epoch(), 3u);
  for (const bool restarted : {false, true}) {
    if (restarted) {
      KillAndRestart();
    }
    EXPECT_EQ(Plan(4096, 1).response.plan().SerializeAsString(), first);
    EXPECT_EQ(Plan(4096, 2).response.plan().SerializeAsString(), second);
    EXPECT_EQ(Plan(4096, 3).response.plan().SerializeAsString(),
              newest.response.plan().SerializeAsString());
    const auto later = Plan(4096, 4);
    EXPECT_EQ(later.code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(later.message(), HasSubstr("pin_epoch: found 4"));
  }
}

TEST_F(TuneTest, RecordsAreListedAndDeleted) {
  StartDaemon();
  Tune(Threads(4096, 512));
  const uint64_t kept = Tune(Threads(4096, 1024));
  v1::ListTuningRequest list;
  auto listed = client().Call(&Stub::ListTuning, list).response;
  EXPECT_EQ(listed.epoch(), 3u);
  EXPECT_EQ(listed.oldest_epoch(), 1u);
  ASSERT_THAT(listed.records(), SizeIs(1));
  EXPECT_EQ(listed.records(0).epoch(), kept);
  EXPECT_EQ(listed.records(0).tuning(0).value(), 1024);
  EXPECT_EQ(listed.records(0).microseconds(), 3.5);
  EXPECT_EQ(listed.records(0).device(), "MI355X");
  EXPECT_FALSE(listed.records(0).who().empty());
  list.set_ended(true);
  EXPECT_THAT(client().Call(&Stub::ListTuning, list).response.records(),
              SizeIs(2));
  list.set_op("gemm");
  EXPECT_THAT(client().Call(&Stub::ListTuning, list).response.records(),
              SizeIs(0));
  EXPECT_EQ(client().CounterOf("ingot_tuning_records"), 1);

  v1::DeleteTuningRequest remove;
  EXPECT_EQ(client().Call(&Stub::DeleteTuning, remove).code(),
            StatusCode::INVALID_ARGUMENT);
  remove.add_records(kept);
  remove.add_records(77);
  const auto removed = client().Call(&Stub::DeleteTuning, remove);
  EXPECT_EQ(removed.response.deleted(), 1u);
  EXPECT_EQ(removed.response.epoch(), 4u);
  EXPECT_NE(ThreadsOf(Plan(4096).response), 1024);
  EXPECT_EQ(client().CounterOf(R"(ingot_tuning_ended_total{why="deleted"})"),
            1);
}

TEST_F(TuneTest, RefusesWhatNoPlanCanUse) {
  testing::DaemonOptions options;
  options.flags = {"--tcp=127.0.0.1:0"};
  StartDaemon(options);
  const auto code = [&](const v1::TuneRequest& request) {
    return client().Call(&Stub::Tune, request).code();
  };
  EXPECT_EQ(code(Threads(4096, 100)), StatusCode::INVALID_ARGUMENT);
  v1::TuneRequest request = Threads(4096, 512);
  request.set_microseconds(0);
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  request = Threads(4096, 512);
  *request.mutable_spec()->add_tuning() = request.tuning(0);
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  request = Threads(4096, 512);
  request.mutable_spec()->set_op("no_such_op");
  EXPECT_EQ(code(request), StatusCode::UNIMPLEMENTED);
  request = Threads(4096, 512);
  request.mutable_range()->set_dim("n");
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  Client remote(TcpAddress());
  EXPECT_EQ(remote.Call(&Stub::Tune, Threads(4096, 512)).code(),
            StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(client().CounterOf("ingot_tuning_epoch"), 1);
}

// A record whose kernel cannot be compiled costs one caller one try.
TEST_F(TuneTest, ARecordThatDoesNotCompileIsDropped) {
  StartFaultyDaemon();
  Tune(Threads(4096, 1024));
  daemon().OrderFault("threads=1024", "refuse");
  const auto failed = client().Get(RmsNorm(4096));
  EXPECT_EQ(failed.code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(failed.message(), HasSubstr("tuning record 2 is dropped"));
  const auto again = client().Get(RmsNorm(4096));
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(again.response.plan().epoch(), 3u);
  EXPECT_NE(ThreadsOf(again.response), 1024);
  EXPECT_EQ(client().CounterOf(R"(ingot_tuning_ended_total{why="unusable"})"),
            1);
}

// Records come while ranks ask. Whatever epoch the first one got, the others
// get the same plan when they pin it.
TEST_F(TuneTest, RanksAgree) {
  StartDaemon();
  ASSERT_TRUE(Plan(4096).ok());
  std::atomic<bool> stop{false};
  std::thread tuner([&] {
    for (int i = 0; !stop && i < 200; ++i) {
      Tune(Threads(4096, i % 2 == 0 ? 512 : 1024));
    }
  });
  std::vector<std::thread> jobs;
  for (int job = 0; job < 3; ++job) {
    jobs.emplace_back([&] {
      Client own(daemon().address());
      v1::GetKernelRequest request = RequestOf(RmsNorm(4096));
      request.set_fetch(v1::FETCH_PLAN_ONLY);
      for (int round = 0; round < 60; ++round) {
        request.clear_pin_epoch();
        const auto first = own.Get(request);
        ASSERT_TRUE(first.ok()) << first.message();
        request.set_pin_epoch(first.response.plan().epoch());
        for (int rank = 1; rank < 4; ++rank) {
          const auto other = own.Get(request);
          ASSERT_TRUE(other.ok()) << other.message();
          ASSERT_EQ(other.response.plan().SerializeAsString(),
                    first.response.plan().SerializeAsString());
        }
      }
    });
  }
  for (std::thread& job : jobs) job.join();
  stop = true;
  tuner.join();
}

}  // namespace
}  // namespace ingot::server
