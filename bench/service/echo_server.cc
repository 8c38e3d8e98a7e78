// An empty gRPC service on a Unix socket, of the same kind as ingotd's
// (callback API), in a process of its own as ingotd is. Usage:
// bench_echo_server SOCKET
#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <cstdio>
#include <memory>

#include "bench/service/echo.grpc.pb.h"

namespace ingot::bench {
namespace {

class EchoService : public Echo::CallbackService {
  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const EchoMessage*, EchoMessage*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

int Serve(const char* socket) {
  // Before any thread of gRPC, so that all inherit the mask.
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigaddset(&end, SIGINT);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);

  EchoService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(std::string("unix:") + socket,
                           grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "bench_echo_server: cannot listen on %s\n", socket);
    return 1;
  }
  int signal = 0;
  sigwait(&end, &signal);
  server->Shutdown();
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_echo_server SOCKET\n");
    return 2;
  }
  return ingot::bench::Serve(argv[1]);
}
