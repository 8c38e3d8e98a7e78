// Ops and kernels that an operator disables while the daemon runs.
#include <thread>

#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Stub = v1::Admin::Stub;

class DisableTest : public DaemonTest {
 protected:
  void DisableOp(const std::string& op) {
    v1::DisableRequest request;
    request.add_ops(op);
    request.set_reason("sums are wrong");
    const auto answer = client().Call(&Stub::Disable, request);
    ASSERT_TRUE(answer.ok()) << answer.message();
    EXPECT_EQ(answer.response.not_durable(), "");
  }
  void EnableAll() {
    v1::EnableRequest request;
    request.set_all(true);
    EXPECT_TRUE(client().Call(&Stub::Enable, request).ok());
  }
};

TEST_F(DisableTest, AnOpGoesAtOnceAlsoFromMemory) {
  StartDaemon();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  ASSERT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_MEMORY);
  DisableOp("rmsnorm");
  const auto refused = client().Get(RmsNorm(64));
  EXPECT_EQ(refused.code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.message(), HasSubstr("op rmsnorm: disabled by "));
  EXPECT_THAT(refused.message(), HasSubstr(": sums are wrong"));
  // Neither is it compiled, nor planned, nor part of a batch.
  EXPECT_EQ(client().Get(RmsNorm(65)).code(), StatusCode::FAILED_PRECONDITION);
  v1::GetKernelRequest plan = RequestOf(RmsNorm(64));
  plan.set_fetch(v1::FETCH_PLAN_ONLY);
  EXPECT_EQ(client().Get(plan).code(), StatusCode::FAILED_PRECONDITION);
  v1::GetKernelsRequest batch;
  *batch.add_requests() = RequestOf(RmsNorm(64));
  grpc::ClientContext context;
  const auto stream = client().kernels().GetKernels(&context, batch);
  v1::GetKernelsResponse part;
  ASSERT_TRUE(stream->Read(&part));
  EXPECT_EQ(part.results(0).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 1);
  EXPECT_EQ(
      client().CounterOf(
          R"(ingot_requests_total{op="rmsnorm",target="gfx950",result="disabled"})"),
      4);
  EXPECT_EQ(client().CounterOf("ingot_disabled"), 1);

  EnableAll();
  EXPECT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_MEMORY);
  EXPECT_EQ(client().CounterOf("ingot_disabled"), 0);
}

TEST_F(DisableTest, HoldsOverAKill) {
  StartDaemon();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  DisableOp("rmsnorm");
  KillAndRestart();
  EXPECT_EQ(client().Get(RmsNorm(64)).code(), StatusCode::FAILED_PRECONDITION);
  const auto list =
      client().Call(&Stub::ListDisabled, v1::ListDisabledRequest());
  ASSERT_THAT(list.response.disabled(), SizeIs(1));
  EXPECT_EQ(list.response.disabled(0).op(), "rmsnorm");
  EXPECT_EQ(list.response.disabled(0).reason(), "sums are wrong");
  EXPECT_GT(list.response.disabled(0).since_unix_ms(), 1700000000000);
  EnableAll();
  KillAndRestart();
  EXPECT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_STORE);
}

TEST_F(DisableTest, AKernelGoesAndItsNeighboursStay) {
  StartDaemon();
  const auto made = client().Get(RmsNorm(64));
  ASSERT_TRUE(made.ok());
  v1::DisableRequest request;
  request.add_keys(made.response.kernels(0).record().key());
  request.set_reason("n = 64 is wrong");
  ASSERT_TRUE(client().Call(&Stub::Disable, request).ok());
  EXPECT_THAT(client().Get(RmsNorm(64)).message(),
              HasSubstr("n = 64 is wrong"));
  EXPECT_TRUE(client().Get(RmsNorm(65)).ok());
  v1::EnableRequest enable;
  enable.add_keys(std::string(32, 'x'));
  EXPECT_THAT(client().Call(&Stub::Enable, enable).response.enabled(),
              SizeIs(0));
  enable.set_keys(0, request.keys(0));
  EXPECT_THAT(client().Call(&Stub::Enable, enable).response.enabled(),
              SizeIs(1));
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
}

// Objects above 1 MiB are read by digest, which names no kernel.
TEST_F(DisableTest, LargeObjectsAreNotReadEither) {
  StartFaultyDaemon();
  daemon().OrderFault("n=64", "pad");
  daemon().OrderFault("n=65", "pad");
  const auto made = client().Get(RmsNorm(64));
  const auto other = client().Get(RmsNorm(65));
  ASSERT_TRUE(made.ok()) << made.message();
  ASSERT_TRUE(other.ok()) << other.message();
  ASSERT_TRUE(made.response.kernels(0).bytes_follow());
  const auto read = [this](const Answer<v1::GetKernelResponse>& answer) {
    const v1::Record& record = answer.response.kernels(0).record();
    v1::ReadObjectRequest request;
    request.set_digest(record.digest());
    grpc::ClientContext context;
    const auto stream = client().kernels().ReadObject(&context, request);
    v1::ObjectChunk chunk;
    size_t bytes = 0;
    while (stream->Read(&chunk)) bytes += chunk.data().size();
    const grpc::Status status = stream->Finish();
    EXPECT_EQ(bytes, status.ok() ? record.size() : 0);
    return status;
  };
  EXPECT_TRUE(read(made).ok());
  v1::DisableRequest request;
  request.add_keys(made.response.kernels(0).record().key());
  request.set_reason("n = 64 is wrong");
  ASSERT_TRUE(client().Call(&Stub::Disable, request).ok());
  EXPECT_EQ(read(made).error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(read(made).error_message(), HasSubstr("n = 64 is wrong"));
  EXPECT_TRUE(read(other).ok());
  DisableOp("rmsnorm");
  EXPECT_THAT(read(other).error_message(), HasSubstr("op rmsnorm: disabled"));
  v1::ReadObjectRequest unknown;
  unknown.set_digest(std::string(32, 'x'));
  grpc::ClientContext context;
  v1::ObjectChunk chunk;
  const auto stream = client().kernels().ReadObject(&context, unknown);
  EXPECT_FALSE(stream->Read(&chunk));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::NOT_FOUND);
  EnableAll();
  EXPECT_TRUE(read(made).ok());
  EXPECT_TRUE(read(other).ok());
}

// A bundle is used where no daemon says what is disabled.
TEST_F(DisableTest, NothingOfItIsExported) {
  StartDaemon();
  const auto made = client().Get(RmsNorm(64));
  ASSERT_TRUE(made.ok() && client().Get(RmsNorm(65)).ok());
  const auto exported = [this](const v1::ExportRequest& request) {
    v1::ExportResponse all;
    v1::ExportResponse response;
    grpc::ClientContext context;
    const auto stream = client().admin().Export(&context, request);
    while (stream->Read(&response)) all.MergeFrom(response);
    EXPECT_TRUE(stream->Finish().ok());
    return all;
  };
  EXPECT_THAT(exported({}).records(), SizeIs(2));
  EXPECT_EQ(exported({}).summary().disabled(), 0);
  v1::DisableRequest request;
  request.add_keys(made.response.kernels(0).record().key());
  request.set_reason("n = 64 is wrong");
  ASSERT_TRUE(client().Call(&Stub::Disable, request).ok());
  v1::ExportResponse all = exported({});
  ASSERT_THAT(all.records(), SizeIs(1));
  EXPECT_THAT(all.records(0), Not(HasSubstr(request.keys(0))));
  EXPECT_THAT(all.plans(), SizeIs(1));
  EXPECT_EQ(all.summary().disabled(), 1);
  EXPECT_EQ(all.summary().incomplete_plans(), 1);

  v1::ExportRequest by_spec;
  *by_spec.add_specs() = RmsNorm(64);
  all = exported(by_spec);
  EXPECT_THAT(all.records(), SizeIs(0));
  EXPECT_THAT(all.parts(), SizeIs(0));
  EXPECT_THAT(all.summary().missing_specs(), SizeIs(1));
  EXPECT_EQ(all.summary().disabled(), 1);
  v1::ExportRequest by_key;
  by_key.add_keys(request.keys(0));
  EXPECT_THAT(exported(by_key).summary().missing_keys(), SizeIs(1));
  DisableOp("rmsnorm");
  EXPECT_THAT(exported({}).records(), SizeIs(0));
  EXPECT_EQ(exported({}).summary().disabled(), 2);
}

// A compile that was under way is not handed out either.
TEST_F(DisableTest, WhatIsBeingCompiledIsHeldBack) {
  StartFaultyDaemon({"--workers=1"});
  daemon().OrderFault("n=64", "sleep1500", 1);
  Answer<v1::GetKernelResponse> waiting;
  std::thread caller([&] { waiting = client().Get(RmsNorm(64)); });
  WaitUntil(1, 0);
  DisableOp("rmsnorm");
  caller.join();
  EXPECT_EQ(waiting.code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(waiting.message(), HasSubstr("disabled by"));
}

TEST_F(DisableTest, RefusesWhatItCannotMean) {
  testing::DaemonOptions options;
  options.flags = {"--tcp=127.0.0.1:0"};
  StartDaemon(options);
  const auto code = [&](const v1::DisableRequest& request) {
    return client().Call(&Stub::Disable, request).code();
  };
  v1::DisableRequest request;
  request.set_reason("x");
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  request.add_ops("no_such_op");
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  request.set_ops(0, "rmsnorm");
  request.add_keys("short");
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  request.clear_keys();
  request.clear_reason();
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(client().Call(&Stub::Enable, v1::EnableRequest()).code(),
            StatusCode::INVALID_ARGUMENT);
  request.set_reason("x");
  Client remote(TcpAddress());
  EXPECT_EQ(remote.Call(&Stub::Disable, request).code(),
            StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(client().CounterOf("ingot_disabled"), 0);
}

}  // namespace
}  // namespace ingot::server
