// What the daemon records of live traffic, and what it does not.
#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RecordTest : public DaemonTest {
 protected:
  v1::ListRecordedResponse Recorded() {
    const auto answer = client().Call(&v1::Admin::Stub::ListRecorded,
                                      v1::ListRecordedRequest());
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.response;
  }
  // Of rmsnorm with this n; all zero when there is none.
  v1::SpecTraffic TrafficOf(int64_t n) {
    const v1::ListRecordedResponse recorded = Recorded();
    for (const v1::RecordedSpec& spec : recorded.specs()) {
      for (const v1::Dim& dim : spec.spec().dims()) {
        if (dim.name() == "n" && dim.value() == n) return spec.traffic();
      }
    }
    return {};
  }
  void Reset() {
    const auto answer = client().Call(&v1::Admin::Stub::ResetRecorded,
                                      v1::ResetRecordedRequest());
    EXPECT_TRUE(answer.ok()) << answer.message();
  }
};

v1::GetKernelRequest Rows(int64_t rows, int64_t n) {
  v1::GetKernelRequest request = RequestOf(RmsNorm(n));
  request.mutable_spec()->mutable_dims(0)->set_value(rows);
  return request;
}

TEST_F(RecordTest, AnswersFromEveryRungAreCounted) {
  StartDaemon();
  ASSERT_TRUE(client().Get(Rows(3, 64)).ok());  // compiled
  ASSERT_TRUE(client().Get(Rows(3, 64)).ok());  // in memory
  ASSERT_TRUE(client().Get(Rows(3, 64)).ok());  // a kept reply
  ASSERT_TRUE(client().Get(Rows(3, 64)).ok());
  ASSERT_TRUE(client().Get(Rows(99, 64)).ok());  // the same kernel
  v1::SpecTraffic traffic = TrafficOf(64);
  EXPECT_EQ(traffic.requests(), 5);
  EXPECT_EQ(traffic.compiled(), 1);
  EXPECT_EQ(traffic.hits(), 4);
  EXPECT_EQ(traffic.last_result(), "hit");
  ASSERT_THAT(traffic.tokens(), SizeIs(1));
  EXPECT_EQ(traffic.tokens(0).dim(), "rows");
  EXPECT_EQ(traffic.tokens(0).min(), 3);
  EXPECT_EQ(traffic.tokens(0).max(), 99);
  EXPECT_EQ(client().CounterOf("ingot_recorded_specs"), 1);

  // In a batch, and from the store after a restart.
  KillAndRestart();
  EXPECT_THAT(Recorded().specs(), IsEmpty()) << "counted by another process";
  v1::GetKernelsRequest batch;
  *batch.add_requests() = Rows(3, 64);
  *batch.add_requests() = Rows(4, 64);
  grpc::ClientContext context;
  const auto stream = client().kernels().GetKernels(&context, batch);
  v1::GetKernelsResponse part;
  while (stream->Read(&part)) {
  }
  ASSERT_TRUE(stream->Finish().ok());
  traffic = TrafficOf(64);
  EXPECT_EQ(traffic.hits(), 2);
  EXPECT_EQ(traffic.requests(), 2);
}

TEST_F(RecordTest, WarmUpAndPlansAloneAreNoTraffic) {
  StartDaemon();
  v1::GetKernelRequest request = RequestOf(RmsNorm(64));
  request.set_priority(v1::PRIORITY_WARMUP);
  ASSERT_TRUE(client().Get(request).ok());
  ASSERT_TRUE(client().Get(request).ok());
  request = RequestOf(RmsNorm(64));
  request.set_fetch(v1::FETCH_PLAN_ONLY);
  ASSERT_TRUE(client().Get(request).ok());
  EXPECT_THAT(Recorded().specs(), IsEmpty());
}

TEST_F(RecordTest, RefusalsAreCountedForASpecThatHasAPlan) {
  StartFaultyDaemon();
  daemon().OrderFault("n=65", "refuse", 1);
  EXPECT_EQ(client().Get(RmsNorm(65)).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(client().Get(RmsNorm(65)).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(client().Get(RmsNorm(-1)).code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(TrafficOf(65).refused(), 2);
  EXPECT_EQ(TrafficOf(65).last_result(), "refused");
  EXPECT_THAT(Recorded().specs(), SizeIs(1));

  ASSERT_TRUE(client().Get(RmsNorm(66)).ok());
  v1::DisableRequest disable;
  disable.add_ops("rmsnorm");
  disable.set_reason("sums are wrong");
  ASSERT_TRUE(client().Call(&v1::Admin::Stub::Disable, disable).ok());
  EXPECT_EQ(client().Get(RmsNorm(66)).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(TrafficOf(66).refused(), 1);
}

TEST_F(RecordTest, ACallerWhoDoesNotWaitIsCounted) {
  StartFaultyDaemon();
  daemon().OrderFault("n=65", "hang", 1);
  EXPECT_EQ(client()
                .Get(RequestOf(RmsNorm(65)), std::chrono::milliseconds(200))
                .code(),
            StatusCode::DEADLINE_EXCEEDED);
  // The daemon may see it a moment later.
  for (int i = 0; i < 2000 && TrafficOf(65).abandoned() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(TrafficOf(65).abandoned(), 1);
  EXPECT_EQ(TrafficOf(65).requests(), 1);
}

TEST_F(RecordTest, ResetStartsAnewAlsoForKeptReplies) {
  StartDaemon();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client().Get(Rows(3, 64)).ok());
  const int64_t since = Recorded().since_unix_ms();
  EXPECT_GT(since, 0);
  Reset();
  EXPECT_THAT(Recorded().specs(), IsEmpty());
  EXPECT_GE(Recorded().since_unix_ms(), since);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(client().Get(Rows(3, 64)).ok());
  EXPECT_EQ(TrafficOf(64).requests(), 2);
  ASSERT_THAT(TrafficOf(64).tokens(), SizeIs(1));
}

TEST_F(RecordTest, AFullRecordSaysSo) {
  testing::DaemonOptions options;
  options.flags = {"--record-specs=1"};
  StartDaemon(options);
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  ASSERT_TRUE(client().Get(RmsNorm(96)).ok());
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  EXPECT_THAT(Recorded().specs(), SizeIs(1));
  EXPECT_EQ(Recorded().unrecorded(), 1);
  EXPECT_EQ(TrafficOf(64).requests(), 2);
}

TEST_F(RecordTest, RolesAreAsked) {
  testing::DaemonOptions options;
  options.flags = {"--tcp=127.0.0.1:0", "--tcp-roles=get"};
  StartDaemon(options);
  Client reader(TcpAddress());
  EXPECT_EQ(
      reader.Call(&v1::Admin::Stub::ListRecorded, v1::ListRecordedRequest())
          .code(),
      StatusCode::PERMISSION_DENIED);
  options.flags = {"--tcp=127.0.0.1:0", "--tcp-roles=get,compile,tune"};
  StartDaemon(options);
  Client compiler(TcpAddress());
  EXPECT_TRUE(
      compiler.Call(&v1::Admin::Stub::ListRecorded, v1::ListRecordedRequest())
          .ok());
  EXPECT_EQ(
      compiler.Call(&v1::Admin::Stub::ResetRecorded, v1::ResetRecordedRequest())
          .code(),
      StatusCode::PERMISSION_DENIED);
}

}  // namespace
}  // namespace ingot::server
