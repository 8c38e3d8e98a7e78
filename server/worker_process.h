// One ingot-worker: started, spoken to, and buried.
#ifndef INGOT_SERVER_WORKER_PROCESS_H_
#define INGOT_SERVER_WORKER_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "proto/status.h"
#include "server/job_queue.h"
#include "server/program_file.h"
#include "server/worker/worker.pb.h"

namespace ingot::server {

struct WorkerSettings {
  int64_t memory_bytes = 0;  // address space; 0: unlimited
  int64_t cpu_seconds = 0;   // a job; 0: unlimited
  std::chrono::milliseconds start_timeout{30000};
  std::string directory;                // the worker's working directory
  std::string sandbox = "best_effort";  // server/worker/sandbox.h
};

// Not thread-safe. The process dies with the object, and with the thread that
// started it (PR_SET_PDEATHSIG counts threads), so a pool thread keeps its own.
class WorkerProcess {
 public:
  // Starts the program and waits for its Hello, that is until it is warm.
  // UNAVAILABLE when it does not come up; FAILED_PRECONDITION when it is of
  // another build than `expected`. `give_up` is asked now and then while
  // waiting; CANCELLED once it says so.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Start(
      const ProgramFile& program, const WorkerSettings& settings,
      const worker::Hello& expected, const std::function<bool()>& give_up);
  ~WorkerProcess();  // SIGKILL and wait
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // One job. After a WorkerDeath the process is gone.
  std::variant<worker::Reply, WorkerDeath> Run(
      const worker::Request& request, std::chrono::milliseconds timeout);

  // From any thread: a Run that is under way, or the next, ends at once with a
  // death from outside.
  void Interrupt();

  // False when it died between jobs.
  bool Alive();

  pid_t pid() const { return pid_; }
  int jobs() const { return jobs_; }
  const worker::Hello& hello() const { return hello_; }
  uint64_t rss_bytes() const { return rss_bytes_; }  // as of its last reply

 private:
  WorkerProcess(pid_t pid, int socket, int log)
      : pid_(pid), socket_(socket), log_(log) {}

  absl::Status ReadHello(const worker::Hello& expected,
                         std::chrono::milliseconds timeout,
                         const std::function<bool()>& give_up);
  void Kill();
  // Waits for the end of the process and says why it ended.
  WorkerDeath Bury(const absl::Status& error);
  std::string LogTail() const;

  pid_t pid_;  // -1 once waited for
  int wait_status_ = 0;
  int socket_;
  int log_;  // memory file that is its standard output and error
  std::atomic<bool> interrupted_{false};
  worker::Hello hello_;
  int jobs_ = 0;
  uint64_t rss_bytes_ = 0;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_WORKER_PROCESS_H_
