// An ingotd, or the empty echo, for as long as a figure is taken.
#ifndef INGOT_BENCH_SERVICE_DAEMON_H_
#define INGOT_BENCH_SERVICE_DAEMON_H_

#include <chrono>
#include <string>
#include <vector>

#include "bench/process.h"

namespace ingot::bench {

class Daemon {
 public:
  // Starts ingotd with its store, socket and log under `folder` (made when it
  // is not there, kept afterwards) and waits until its health service says
  // SERVING. Ends the bench when that does not come within two minutes.
  explicit Daemon(const std::string& folder,
                  const std::vector<std::string>& flags = {});

  const std::string& socket() const { return socket_; }
  pid_t pid() const { return process_.pid(); }
  // From the start of the program to SERVING.
  double seconds_to_serving() const { return seconds_to_serving_; }
  // SIGTERM, and waits until it has ended.
  void Stop() { process_.Stop(); }

 private:
  std::string socket_;
  std::chrono::steady_clock::time_point started_;
  Process process_;
  double seconds_to_serving_ = 0;
};

// Where a daemon that was started in `folder` keeps its store.
std::string StoreFolder(const std::string& folder);

// bench_echo_server on `socket`, answering.
Process StartEcho(const std::string& socket);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SERVICE_DAEMON_H_
