#include "server/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "server/background.h"
#include "server/worker/framing.h"
#include "server/worker/serve.h"

namespace ingot::server {
namespace {

constexpr size_t kLogTailBytes = 64 << 10;

// posix_spawn and not fork: the daemon has threads that hold gRPC's locks, and
// between vfork and exec none of its code runs.
absl::StatusOr<pid_t> Spawn(const ProgramFile& program,
                            const WorkerSettings& settings, int socket,
                            int log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, kWorkerSocket);
  posix_spawn_file_actions_adddup2(&actions, program.fd(), kWorkerProgramFd);
  posix_spawn_file_actions_addclosefrom_np(&actions, kWorkerProgramFd + 1);
  if (!settings.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, settings.directory.c_str());
  }

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A group of its own: Ctrl-C in the daemon's terminal drains the daemon and
  // must not kill the compile it waits for.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETPGROUP);

  std::string arguments[] = {
      "ingot-worker", absl::StrCat("--memory-bytes=", settings.memory_bytes),
      absl::StrCat("--cpu-seconds=", settings.cpu_seconds),
      absl::StrCat("--parent=", getpid()),
      absl::StrCat("--sandbox=", settings.sandbox)};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // No environment: nothing of this host may reach a compile.
  char* envp[] = {nullptr};
  const std::string path = absl::StrCat("/proc/self/fd/", kWorkerProgramFd);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, path.c_str(), &actions, &attributes, argv.data(), envp);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat("cannot start ", program.path(),
                                               ": ", std::strerror(error)));
  }
  RunInBackground(pid);
  return pid;
}

std::map<std::string, std::string> Table(const worker::Hello& hello) {
  std::map<std::string, std::string> table;
  for (const worker::OpFingerprint& op : hello.ops()) {
    table[op.op()] = op.fingerprint();
  }
  return table;
}

bool IsOutsideSignal(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT ||
         signal == SIGHUP || signal == SIGQUIT;
}

WorkerDeath Explain(int status, const std::string& log) {
  using Cause = WorkerDeath::Cause;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const std::string what = absl::StrCat("the worker was ended by signal ",
                                          signal, " (", strsignal(signal), ")");
    if (signal == SIGXCPU) {
      return {Cause::kLimit, "the worker used up its CPU time", log};
    }
    if (signal == SIGXFSZ) {
      return {Cause::kLimit, "the worker wrote too large a file", log};
    }
    if (IsOutsideSignal(signal)) return {Cause::kOutside, what, log};
    if (log.find("out of memory") != std::string::npos) {
      return {Cause::kLimit, "the worker ran out of memory", log};
    }
    return {Cause::kCrash, what, log};
  }
  if (WEXITSTATUS(status) == kWorkerOutOfMemory) {
    return {Cause::kLimit, "the worker ran out of memory", log};
  }
  return {Cause::kCrash,
          absl::StrCat("the worker exited with ", WEXITSTATUS(status)), log};
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(
    const ProgramFile& program, const WorkerSettings& settings,
    const worker::Hello& expected, const std::function<bool()>& give_up) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::UnavailableError(
        absl::StrCat("socketpair: ", std::strerror(errno)));
  }
  const int ours = MoveUp(sockets[0]);
  const int theirs = MoveUp(sockets[1]);
  const int log = MoveUp(memfd_create("ingot-worker-log", MFD_CLOEXEC));
  std::unique_ptr<WorkerProcess> process(new WorkerProcess(-1, ours, log));
  if (ours < 0 || theirs < 0 || log < 0) {
    if (theirs >= 0) close(theirs);
    return absl::UnavailableError("no descriptors left to start a worker");
  }
  fcntl(log, F_SETFL, O_APPEND);
  const absl::StatusOr<pid_t> pid = Spawn(program, settings, theirs, log);
  close(theirs);
  INGOT_RETURN_IF_ERROR(pid.status());
  process->pid_ = *pid;
  INGOT_RETURN_IF_ERROR(
      process->ReadHello(expected, settings.start_timeout, give_up));
  return process;
}

absl::Status WorkerProcess::ReadHello(const worker::Hello& expected,
                                      std::chrono::milliseconds timeout,
                                      const std::function<bool()>& give_up) {
  const MonotonicTime deadline = SteadyNow() + timeout;
  while (!give_up() && SteadyNow() < deadline &&
         !WaitReadable(socket_, SteadyNow() + std::chrono::milliseconds(200))
              .ok()) {
  }
  if (give_up()) {
    Kill();
    return absl::CancelledError("the daemon is stopping");
  }
  const absl::StatusOr<std::string> frame = ReadFrame(socket_, deadline);
  if (!frame.ok()) {
    const WorkerDeath death = Bury(frame.status());
    return absl::UnavailableError(
        absl::StrCat("a worker did not come up: ", death.what,
                     death.log.empty() ? "" : "; it said: ", death.log));
  }
  if (!hello_.ParseFromString(*frame) ||
      hello_.protocol() != expected.protocol() ||
      hello_.compiler() != expected.compiler() ||
      Table(hello_) != Table(expected)) {
    Kill();
    return absl::FailedPreconditionError(absl::StrCat(
        "the worker program is of another build (", hello_.compiler(),
        ") than the daemon (", expected.compiler(),
        "): install both from one build and restart the daemon"));
  }
  return absl::OkStatus();
}

WorkerProcess::~WorkerProcess() {
  Kill();
  if (socket_ >= 0) close(socket_);
  if (log_ >= 0) close(log_);
}

void WorkerProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool WorkerProcess::Alive() {
  if (pid_ < 0) return false;
  if (waitpid(pid_, &wait_status_, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

void WorkerProcess::Interrupt() {
  interrupted_.store(true);
  // Wakes whoever reads; the process itself is left to its owner's thread.
  shutdown(socket_, SHUT_RDWR);
}

WorkerDeath WorkerProcess::Bury(const absl::Status& error) {
  using Cause = WorkerDeath::Cause;
  if (interrupted_.load()) {
    Kill();
    return {Cause::kOutside, "the daemon is stopping", LogTail()};
  }
  if (absl::IsDeadlineExceeded(error)) {
    Kill();
    return {Cause::kLimit, "the worker used up its wall time", LogTail()};
  }
  if (absl::IsDataLoss(error)) {
    Kill();
    return {
        Cause::kCrash,
        absl::StrCat("the worker answered with nonsense: ", error.message()),
        LogTail()};
  }
  // The socket closes a moment before the process is gone, or long before when
  // only the socket was closed: give it that moment.
  const MonotonicTime deadline = SteadyNow() + std::chrono::seconds(2);
  while (Alive() && SteadyNow() < deadline) usleep(500);
  if (pid_ >= 0) {
    Kill();
    return {Cause::kCrash, "the worker closed its socket and went on",
            LogTail()};
  }
  return Explain(wait_status_, LogTail());
}

std::string WorkerProcess::LogTail() const {
  const off_t size = lseek(log_, 0, SEEK_END);
  if (size <= 0) return "";
  const size_t wanted = std::min(static_cast<size_t>(size), kLogTailBytes);
  std::string tail(wanted, '\0');
  const ssize_t got =
      pread(log_, tail.data(), wanted, size - static_cast<off_t>(wanted));
  tail.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return tail;
}

std::variant<worker::Reply, WorkerDeath> WorkerProcess::Run(
    const worker::Request& request, std::chrono::milliseconds timeout) {
  ++jobs_;
  (void)!ftruncate(log_, 0);  // what this job says, and no more
  const MonotonicTime deadline = SteadyNow() + timeout;
  const absl::Status sent =
      WriteFrame(socket_, request.SerializeAsString(), deadline);
  if (!sent.ok()) return Bury(sent);
  const absl::StatusOr<std::string> frame = ReadFrame(socket_, deadline);
  if (!frame.ok()) return Bury(frame.status());
  worker::Reply reply;
  if (!reply.ParseFromString(*frame) || reply.code() < 0 ||
      reply.code() > static_cast<int>(absl::StatusCode::kUnauthenticated)) {
    return Bury(absl::DataLossError("a reply that does not parse"));
  }
  rss_bytes_ = reply.rss_bytes();
  return reply;
}

}  // namespace ingot::server
