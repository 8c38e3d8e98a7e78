// The worker's life: limits, warm-up, sandbox, Hello, then one job after
// another until the daemon closes the socket.
#ifndef INGOT_SERVER_WORKER_SERVE_H_
#define INGOT_SERVER_WORKER_SERVE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "proto/status.h"
#include "server/worker/sandbox.h"
#include "server/worker/worker.pb.h"

namespace ingot::server {

// The descriptor on which a worker finds its daemon.
inline constexpr int kWorkerSocket = 3;
// The program's own descriptor, from which it was exec'd.
inline constexpr int kWorkerProgramFd = 4;
// Exit status of a worker that ran into its memory limit.
inline constexpr int kWorkerOutOfMemory = 73;

struct WorkerLimits {
  int64_t memory_bytes = 0;  // of address space; 0: none
  int64_t cpu_seconds = 0;   // a job; 0: none
  SandboxMode sandbox = SandboxMode::kBestEffort;
};

// What a test build puts between the daemon and the compiler: may change a
// request's reply, or never return.
using WorkerHook =
    std::function<void(const worker::Request& request, worker::Reply& reply)>;
struct WorkerHooks {
  std::string writable;  // a folder that the sandbox leaves writable
  std::function<void(worker::Hello& hello)> hello;
  WorkerHook before;  // before the job; `reply` is empty
  WorkerHook after;
};

// Serves the daemon on `fd`. OK when the daemon closed the connection.
absl::Status ServeWorker(int fd, const WorkerLimits& limits,
                         const WorkerHooks& hooks = {});

// `main` of both worker programs: reads `--memory-bytes=N --cpu-seconds=N
// --parent=PID --sandbox=MODE`, ties its life to the daemon's, serves. Or
// `--replay=FILE`: compiles what the repro bundle's file `key_encoding` asks
// for, says what happened, ends.
int WorkerMain(int argc, char** argv, const WorkerHooks& hooks = {});

}  // namespace ingot::server

#endif  // INGOT_SERVER_WORKER_SERVE_H_
