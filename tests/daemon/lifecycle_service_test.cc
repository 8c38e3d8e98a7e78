// How a daemon comes up, answers for its health, and goes.
#include <grpcpp/generic/generic_stub.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "server/wire_fields.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

class LifecycleTest : public DaemonTest {
 protected:
  // grpc.health.v1.Health/Check: HealthCheckRequest { string service = 1 },
  // HealthCheckResponse { int32 status = 1 }, 1 = SERVING, 2 = NOT_SERVING.
  // A service says so a moment after the socket takes connections: gRPC has no
  // way to tell it before the server starts.
  bool Serves(const std::string& service) {
    for (int i = 0; i < 3000 && Health(service) != 1; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    return Health(service) == 1;
  }

  int Health(const std::string& service) {
    grpc::GenericStub stub(client().channel());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(60));
    std::string request;
    AppendField(&request, 1, absl::string_view(service));
    const grpc::Slice slice(request);
    const grpc::ByteBuffer buffer(&slice, 1);
    grpc::CompletionQueue queue;
    auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check",
                                      buffer, &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    if (!status.ok()) return -status.error_code();
    grpc::Slice bytes;
    response.DumpToSingleSlice(&bytes);
    WireReader reader(absl::string_view(
        reinterpret_cast<const char*>(bytes.begin()), bytes.size()));
    return reader.Next() ? static_cast<int>(reader.number()) : 0;
  }
};

TEST_F(LifecycleTest, HealthOfEachService) {
  StartDaemon();
  EXPECT_TRUE(Serves(""));
  EXPECT_TRUE(Serves("ingot.v1.Kernels"));
  EXPECT_TRUE(Serves("ingot.v1.Admin"));
  EXPECT_EQ(Health("ingot.v1.Nothing"), -grpc::StatusCode::NOT_FOUND);
}

TEST_F(LifecycleTest, ReflectionListsTheServices) {
  StartDaemon();
  grpc::GenericStub stub(client().channel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + seconds(60));
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  auto call = stub.PrepareCall(
      &context,
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(this);
  queue.Next(&tag, &ok);
  std::string request;
  AppendField(&request, 7, absl::string_view("*"));  // list_services
  const grpc::Slice slice(request);
  call->Write(grpc::ByteBuffer(&slice, 1), this);
  queue.Next(&tag, &ok);
  ASSERT_TRUE(ok);
  grpc::ByteBuffer response;
  call->Read(&response, this);
  queue.Next(&tag, &ok);
  ASSERT_TRUE(ok);
  grpc::Slice bytes;
  response.DumpToSingleSlice(&bytes);
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_THAT(text, HasSubstr("ingot.v1.Kernels"));
  EXPECT_THAT(text, HasSubstr("ingot.v1.Admin"));
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, this);
  queue.Next(&tag, &ok);
}

TEST_F(LifecycleTest, TheSocketIsForOwnerAndGroup) {
  StartDaemon();
  struct stat socket = {};
  ASSERT_EQ(stat(daemon().socket().c_str(), &socket), 0);
  EXPECT_EQ(socket.st_mode & 0777, 0660u);
}

TEST_F(LifecycleTest, TheLogIsJsonWhateverIsSent) {
  StartDaemon();
  v1::Spec spec = RmsNorm(64);
  spec.set_op("\xff");
  EXPECT_EQ(client().Get(spec).code(), grpc::StatusCode::INVALID_ARGUMENT);
  // HTTP/2 by its first bytes; then ":status: x", which no request has.
  const std::string bytes(
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
      "\0\0\0\4\0\0\0\0\0"
      "\0\0\3\1\5\0\0\0\1\x08\1x",
      24 + 9 + 12);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  daemon().socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  ASSERT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  shutdown(fd, SHUT_WR);
  char answer[256];
  while (recv(fd, answer, sizeof(answer), 0) > 0) {
  }
  close(fd);
  std::istringstream log(daemon().Log());
  for (std::string line; std::getline(log, line);) {
    EXPECT_EQ(line.substr(0, 1), "{") << line;
  }
}

TEST_F(LifecycleTest, AStaleSocketIsReplaced) {
  StartDaemon();
  daemon().Kill();
  ASSERT_TRUE(std::filesystem::exists(daemon().socket()));
  ASSERT_TRUE(daemon().Restart().ok());
  EXPECT_TRUE(Client(daemon().address()).Get(RmsNorm(64)).ok());
}

TEST_F(LifecycleTest, TwoDaemonsOnOneDirectory) {
  StartDaemon();
  testing::DaemonOptions options;
  options.state_dir = daemon().state_dir();
  const auto second = testing::Daemon::Start(options);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(std::to_string(daemon().pid())));
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
}

TEST_F(LifecycleTest, TwoDaemonsOnOneSocket) {
  StartDaemon();
  testing::DaemonOptions options;
  options.flags = {"--socket=" + daemon().socket()};
  const auto second = testing::Daemon::Start(options);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("another daemon"));
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
}

TEST_F(LifecycleTest, RefusesTcpBeyondLoopback) {
  testing::DaemonOptions options;
  options.flags = {"--tcp=0.0.0.0:0"};
  const auto refused = testing::Daemon::Start(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--insecure"));
}

TEST_F(LifecycleTest, ServesOnLoopbackTcp) {
  testing::DaemonOptions options;
  options.flags = {"--tcp=127.0.0.1:0"};
  StartDaemon(options);
  Client tcp(TcpAddress());
  EXPECT_TRUE(tcp.Get(RmsNorm(64)).ok());
}

TEST_F(LifecycleTest, DrainLetsARunningCompileEnd) {
  StartFaultyDaemon();
  daemon().OrderFault("n=777", "sleep1000");
  grpc::Status status(grpc::StatusCode::UNKNOWN, "");
  std::thread caller([&] { status = client().Get(RmsNorm(777)).status; });
  WaitUntil(1, 0);
  const auto start = steady_clock::now();
  EXPECT_EQ(daemon().Terminate().value_or(-1), 0);
  EXPECT_LT(steady_clock::now() - start, seconds(10));
  caller.join();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(LifecycleTest, DrainDoesNotWaitForAHungCompile) {
  StartFaultyDaemon({"--drain-timeout-seconds=1"});
  daemon().OrderFault("n=777", "hang");
  grpc::Status status;
  std::thread caller([&] { status = client().Get(RmsNorm(777)).status; });
  WaitUntil(1, 0);
  const auto start = steady_clock::now();
  EXPECT_EQ(daemon().Terminate().value_or(-1), 0);
  EXPECT_LT(steady_clock::now() - start, seconds(10));
  caller.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE)
      << status.error_message();
}

TEST_F(LifecycleTest, NotServingWhileDraining) {
  StartFaultyDaemon({"--drain-timeout-seconds=9"});
  ASSERT_TRUE(Serves("ingot.v1.Kernels"));
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  daemon().OrderFault("n=777", "hang");
  std::thread caller([&] { client().Get(RmsNorm(777)); });
  WaitUntil(1, 0);
  kill(daemon().pid(), SIGTERM);
  for (int i = 0; i < 3000 && Health("ingot.v1.Kernels") != 2; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(Health("ingot.v1.Kernels"), 2);
  // What is there is still served; what is not is handed back.
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
  EXPECT_EQ(client().Get(RmsNorm(65)).code(), grpc::StatusCode::UNAVAILABLE);
  daemon().Kill();
  caller.join();
}

TEST_F(LifecycleTest, AnUpgradeOnDiskIsRestartPending) {
  // A worker program of our own, to be replaced while the daemon runs.
  namespace fs = std::filesystem;
  std::string folder =
      (fs::temp_directory_path() / "ingot-upgrade-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string program = folder + "/ingot-worker";
  fs::copy_file(testing::WorkerProgram(), program);
  testing::DaemonOptions options;
  options.flags = {"--worker-program=" + program};
  StartDaemon(options);
  const auto pending = [&] {
    v1::GetCapabilitiesResponse capabilities;
    grpc::ClientContext context;
    EXPECT_TRUE(
        client().kernels().GetCapabilities(&context, {}, &capabilities).ok());
    return capabilities.restart_pending();
  };
  EXPECT_FALSE(pending());
  fs::remove(program);
  std::ofstream(program) << "#!/bin/false\n";
  EXPECT_TRUE(pending());
  // The program that was opened goes on to be what runs.
  for (const pid_t worker : daemon().Workers()) kill(worker, SIGKILL);
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
  fs::remove_all(folder);
}

TEST_F(LifecycleTest, WorkersGiveWayToTheDaemon) {
  StartDaemon();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const int own = getpriority(PRIO_PROCESS, static_cast<id_t>(daemon().pid()));
  for (const pid_t worker : daemon().Workers()) {
    EXPECT_GT(getpriority(PRIO_PROCESS, static_cast<id_t>(worker)), own);
  }
}

TEST_F(LifecycleTest, WorkersDieWithTheDaemon) {
  StartDaemon();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const std::vector<pid_t> workers = daemon().Workers();
  ASSERT_FALSE(workers.empty());
  daemon().Kill();
  const auto deadline = steady_clock::now() + seconds(60);
  for (const pid_t worker : workers) {
    while (kill(worker, 0) == 0 && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_NE(kill(worker, 0), 0) << "worker " << worker << " lives";
  }
}

}  // namespace
}  // namespace ingot::server
