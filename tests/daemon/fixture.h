// For tests: a real daemon and generated stubs to talk to it.
#ifndef INGOT_TESTS_DAEMON_FIXTURE_H_
#define INGOT_TESTS_DAEMON_FIXTURE_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ingot/v1/admin.grpc.pb.h"
#include "ingot/v1/kernels.grpc.pb.h"
#include "tests/support/daemon.h"

namespace ingot::server {

inline v1::Spec RmsNorm(int64_t n, const std::string& dtype = "bf16") {
  v1::Spec spec;
  spec.set_op("rmsnorm");
  spec.set_target("gfx950");
  spec.add_dims()->set_name("rows");
  v1::Dim* dim = spec.add_dims();
  dim->set_name("n");
  dim->set_value(n);
  for (const char* name : {"x", "y"}) {
    v1::Operand* operand = spec.add_operands();
    operand->set_name(name);
    operand->set_dtype(dtype);
  }
  return spec;
}

inline v1::GetKernelRequest RequestOf(const v1::Spec& spec) {
  v1::GetKernelRequest request;
  request.set_api_version(1);
  *request.mutable_spec() = spec;
  return request;
}

// A channel of its own, so that tests do not share connections by accident.
inline std::shared_ptr<grpc::Channel> ConnectTo(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials =
        grpc::InsecureChannelCredentials()) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

// A reply or the reason why there is none.
template <typename Response>
struct Answer {
  grpc::Status status;
  Response response;

  bool ok() const { return status.ok(); }
  int code() const { return status.error_code(); }
  std::string message() const { return status.error_message(); }
};

// One client. Thread-safe.
class Client {
 public:
  explicit Client(const std::string& address) : Client(ConnectTo(address)) {}
  explicit Client(std::shared_ptr<grpc::Channel> channel)
      : channel_(std::move(channel)),
        kernels_(v1::Kernels::NewStub(channel_)),
        admin_(v1::Admin::NewStub(channel_)) {}

  Answer<v1::GetKernelResponse> Get(
      const v1::GetKernelRequest& request,
      std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    Answer<v1::GetKernelResponse> answer;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    answer.status = kernels_->GetKernel(&context, request, &answer.response);
    return answer;
  }
  Answer<v1::GetKernelResponse> Get(const v1::Spec& spec) {
    return Get(RequestOf(spec));
  }

  // `method` is &v1::Admin::Stub::List.
  template <typename Request, typename Response>
  Answer<Response> Call(grpc::Status (v1::Admin::Stub::*method)(
                            grpc::ClientContext*, const Request&, Response*),
                        const Request& request) {
    Answer<Response> answer;
    grpc::ClientContext context;
    answer.status = ((*admin_).*method)(&context, request, &answer.response);
    return answer;
  }

  v1::StatsResponse Stats() {
    v1::StatsResponse stats;
    grpc::ClientContext context;
    const grpc::Status status = admin_->Stats(&context, {}, &stats);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return stats;
  }
  // 0 for a counter that is not there.
  double CounterOf(const std::string& name) {
    const v1::StatsResponse stats = Stats();
    for (const v1::Counter& counter : stats.counters()) {
      if (counter.name() == name) return counter.value();
    }
    return 0;
  }

  v1::Kernels::Stub& kernels() { return *kernels_; }
  v1::Admin::Stub& admin() { return *admin_; }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Kernels::Stub> kernels_;
  const std::unique_ptr<v1::Admin::Stub> admin_;
};

// A test with a daemon of its own.
class DaemonTest : public ::testing::Test {
 protected:
  void StartDaemon(const testing::DaemonOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<testing::Daemon>> daemon =
        testing::Daemon::Start(options);
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    client_ = std::make_unique<Client>(daemon_->address());
  }
  void StartFaultyDaemon(std::vector<std::string> flags = {}) {
    testing::DaemonOptions options;
    options.faulty_workers = true;
    options.flags = std::move(flags);
    StartDaemon(options);
  }
  // Returns when so many compiles run and so many wait; fails after 20 s.
  void WaitUntil(uint32_t busy, uint64_t queued) {
    for (int i = 0; i < 2000; ++i) {
      const v1::StatsResponse stats = client().Stats();
      if (stats.workers_busy() == busy && stats.queued() == queued) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "not " << busy << " busy and " << queued << " queued";
  }
  // A number that the daemon logs when it serves; 0 after 30 s without.
  int PortFromLog(const std::string& field) {
    const std::string name = "\"" + field + "\":";
    // The line is written a moment after the first connection is taken.
    for (int i = 0; i < 3000; ++i) {
      const std::string log = daemon().Log();
      const size_t at = log.find(name);
      if (at != std::string::npos) {
        return std::atoi(log.c_str() + at + name.size());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no " << field << " in the log";
    return 0;
  }
  // Where a daemon with `--tcp=127.0.0.1:0` listens.
  std::string TcpAddress() {
    return "127.0.0.1:" + std::to_string(PortFromLog("tcp_port"));
  }
  // Shows the log of a test that failed.
  void TearDown() override {
    if (HasFailure() && daemon_ != nullptr) {
      std::fprintf(stderr, "%s", daemon_->Log().c_str());
    }
  }

  // Killed, and back at the same address; the old connection is not used again.
  void KillAndRestart() {
    daemon_->Kill();
    const absl::Status restarted = daemon_->Restart();
    ASSERT_TRUE(restarted.ok()) << restarted;
    client_ = std::make_unique<Client>(daemon_->address());
  }
  Client& client() { return *client_; }
  testing::Daemon& daemon() { return *daemon_; }

 private:
  std::unique_ptr<testing::Daemon> daemon_;
  std::unique_ptr<Client> client_;
};

}  // namespace ingot::server

#endif  // INGOT_TESTS_DAEMON_FIXTURE_H_
