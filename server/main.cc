// ingotd: the daemon that compiles GPU kernels and keeps them.
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/synchronization/mutex.h"
#include "google/protobuf/stubs/common.h"
#include "server/config.h"
#include "server/daemon.h"
#include "server/log.h"

namespace {

using ingot::server::Config;
using ingot::server::Daemon;
using ingot::server::Log;
using ingot::server::Systemd;

// Signals are waited for in one place. Blocked before any thread starts, so
// that every thread has them blocked.
sigset_t BlockSignals() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "ingotd: %s\n", std::string(status.message()).c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const sigset_t ending = BlockSignals();
  // Sockets and files are for owner and group alone.
  umask(0007);
  // Debian's abseil looks for deadlocks at every lock: what tests are for.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // A message that does not parse is answered; what protobuf prints beside that
  // would be lines that no log has, as many as a caller likes.
  google::protobuf::SetLogHandler(nullptr);

  const Systemd systemd = Systemd::Take();
  std::string output;
  const absl::StatusOr<std::optional<Config>> config =
      ingot::server::LoadConfig(argc, argv, &output);
  if (!config.ok()) return Fail(config.status());
  if (!*config) {
    std::fputs(output.c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<std::unique_ptr<Log>> log =
      Log::Open((*config)->log_level, (*config)->log_file);
  if (!log.ok()) return Fail(log.status());

  absl::StatusOr<std::unique_ptr<Daemon>> daemon =
      Daemon::Start(**config, systemd, **log);
  if (!daemon.ok()) {
    (*log)->Write(Log::Level::kError, "not started",
                  {{"why", daemon.status().message()}});
    return Fail(daemon.status());
  }

  int received = 0;
  sigwait(&ending, &received);
  (*daemon)->Drain();
  return 0;
}
