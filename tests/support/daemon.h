// A real ingotd with real workers in a folder of its own, for tests and benches
// of whatever talks to one. Knows no gRPC: readiness is the socket's.
#ifndef INGOT_TESTS_SUPPORT_DAEMON_H_
#define INGOT_TESTS_SUPPORT_DAEMON_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "proto/status.h"

namespace ingot::testing {

struct DaemonOptions {
  // Flags of ingotd, after those that place it.
  std::vector<std::string> flags;
  // Start workers that do what Daemon::OrderFault says.
  bool faulty_workers = false;
  // Where its state is; empty: a new folder that goes with the object.
  std::string state_dir;
  // What runs; empty: the ingotd of this build.
  std::string program;
  std::chrono::milliseconds start_timeout{60000};
};

// Not thread-safe. Ends what it started, and nothing else.
class Daemon {
 public:
  // Returns when the daemon serves. The error holds its log.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(
      const DaemonOptions& options = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  const std::string& socket() const { return socket_; }
  std::string address() const { return "unix:" + socket_; }
  const std::string& state_dir() const { return state_dir_; }
  pid_t pid() const { return pid_; }

  // SIGKILL, waited for. Aborts the program when the daemon had crashed, or a
  // sanitizer had ended it, and nobody saw.
  void Kill();
  // SIGTERM, waited for: the exit code. DEADLINE_EXCEEDED after `timeout`, and
  // the daemon is killed.
  absl::StatusOr<int> Terminate(
      std::chrono::milliseconds timeout = std::chrono::seconds(15));
  // Starts it again on the same state, after Kill or Terminate.
  absl::Status Restart();

  std::string Log() const;
  // Processes that are workers of this daemon now.
  std::vector<pid_t> Workers() const;
  // Resident bytes of the daemon itself.
  uint64_t ResidentBytes() const;

  // Faulty workers: the next `times` compiles whose symbol or parameters
  // ("n=64") contain `match` as a word meet `fault`; see
  // server/worker/faults.cc. Orders stay until used up or cleared.
  void OrderFault(const std::string& match, const std::string& fault,
                  int times = 1000000);
  void ClearFaults();
  // How often the order given last was met so far.
  int FaultsMet() const;

 private:
  explicit Daemon(const DaemonOptions& options) : options_(options) {}
  absl::Status MakeFolders();
  absl::Status Launch();
  bool Reap(std::chrono::milliseconds timeout);

  const DaemonOptions options_;
  std::string folder_;  // ours, removed at the end
  std::string state_dir_;
  std::string socket_;
  std::string log_file_;
  pid_t pid_ = -1;
  int wait_status_ = 0;
  int orders_ = 0;
};

// Programs of this build.
std::string DaemonProgram();
std::string WorkerProgram();
std::string FaultyWorkerProgram();

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_DAEMON_H_
