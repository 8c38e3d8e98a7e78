#include "bench/service/daemon.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "bench/service/echo.grpc.pb.h"
#include "bench/service/load.h"

namespace ingot::bench {
namespace {

constexpr std::chrono::minutes kStartBudget(2);
constexpr std::chrono::milliseconds kPoll(1);

// grpc.health.v1.Health/Check; its messages are two bytes, and no package
// brings their stubs: the reply of a serving server is field 1, value 1.
bool IsServing(grpc::Channel& channel) {
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(
      std::shared_ptr<grpc::Channel>(&channel, [](grpc::Channel*) {}));
  grpc::ClientContext context;
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer reply;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(
      &context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request,
      &reply, [&](grpc::Status status) { ended.set_value(std::move(status)); });
  if (!ended.get_future().get().ok()) return false;
  grpc::Slice slice;
  return reply.DumpToSingleSlice(&slice).ok() && slice.size() == 2 &&
         slice.begin()[0] == 0x08 && slice.begin()[1] == 1;
}

// Makes the folder and removes what a killed daemon left of its socket.
const std::string& PrepareFolder(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder + "/ingotd.sock");
  return folder;
}

std::vector<std::string> CommandLine(const std::string& folder,
                                     const std::string& socket,
                                     const std::vector<std::string>& flags) {
  std::vector<std::string> argv = {ProgramFolder() + "/ingotd", "--socket",
                                   socket, "--state-dir", folder};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return argv;
}

// Polls `ready` until it holds; Dies with `what` when `process` ends or the
// budget is spent.
template <typename Ready>
void AwaitReady(Process& process, const std::string& what, Ready ready) {
  const auto deadline = std::chrono::steady_clock::now() + kStartBudget;
  while (!ready()) {
    if (!process.running() || std::chrono::steady_clock::now() > deadline) {
      Die(what + " did not start");
    }
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

std::string StoreFolder(const std::string& folder) { return folder + "/store"; }

Daemon::Daemon(const std::string& folder, const std::vector<std::string>& flags)
    : socket_(PrepareFolder(folder) + "/ingotd.sock"),
      started_(std::chrono::steady_clock::now()),
      process_(CommandLine(folder, socket_, flags), folder + "/log") {
  const std::string what = "ingotd, see " + folder + "/log,";
  // A channel that found no socket would back off for a second.
  AwaitReady(process_, what, [&] { return std::filesystem::exists(socket_); });
  const std::shared_ptr<grpc::Channel> channel = OwnChannel(socket_);
  AwaitReady(process_, what, [&] { return IsServing(*channel); });
  seconds_to_serving_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_)
          .count();
}

Process StartEcho(const std::string& socket) {
  Process process({ProgramFolder() + "/bench_echo_server", socket},
                  "/dev/null");
  AwaitReady(process, "bench_echo_server", [&] {
    if (!std::filesystem::exists(socket)) return false;
    const std::unique_ptr<Echo::Stub> stub = Echo::NewStub(OwnChannel(socket));
    grpc::ClientContext context;
    EchoMessage reply;
    return stub->Call(&context, EchoMessage(), &reply).ok();
  });
  return process;
}

}  // namespace ingot::bench
