#include "tests/support/daemon.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "tests/support/child.h"

namespace ingot::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// By a signal of the test's, or drained after one.
bool EndedAsAsked(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
  return WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM;
}

bool Answers(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool answered = connect(fd, reinterpret_cast<const sockaddr*>(&address),
                                sizeof(address)) == 0;
  close(fd);
  return answered;
}

}  // namespace

std::string DaemonProgram() { return INGOT_TEST_DAEMON; }
std::string WorkerProgram() { return INGOT_TEST_WORKER; }
std::string FaultyWorkerProgram() { return INGOT_TEST_FAULTY_WORKER; }

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(
    const DaemonOptions& options) {
  std::unique_ptr<Daemon> daemon(new Daemon(options));
  INGOT_RETURN_IF_ERROR(daemon->MakeFolders());
  INGOT_RETURN_IF_ERROR(daemon->Launch());
  return daemon;
}

Daemon::~Daemon() {
  Kill();
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

absl::Status Daemon::MakeFolders() {
  const char* parent = std::getenv("TMPDIR");
  std::string pattern =
      absl::StrCat(parent == nullptr ? "/tmp" : parent, "/ingot-test-XXXXXX");
  // A socket's path may have 107 bytes.
  if (pattern.size() > 80) pattern = "/tmp/ingot-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return absl::InternalError(
        absl::StrCat(pattern, ": ", std::strerror(errno)));
  }
  folder_ = pattern;
  socket_ = folder_ + "/ingotd.sock";
  log_file_ = folder_ + "/log";
  state_dir_ =
      options_.state_dir.empty() ? folder_ + "/state" : options_.state_dir;
  std::error_code error;
  fs::create_directories(state_dir_ + "/work", error);
  return absl::OkStatus();
}

absl::Status Daemon::Launch() {
  std::vector<std::string> arguments = {
      options_.program.empty() ? DaemonProgram() : options_.program,
      "--socket=" + socket_, "--state-dir=" + state_dir_,
      "--store-free-floor-mib=0",
      "--worker-program=" +
          (options_.faulty_workers ? FaultyWorkerProgram() : WorkerProgram())};
  arguments.insert(arguments.end(), options_.flags.begin(),
                   options_.flags.end());
  INGOT_ASSIGN_OR_RETURN(pid_, StartChild(arguments, log_file_));
  const auto deadline = steady_clock::now() + options_.start_timeout;
  while (steady_clock::now() < deadline) {
    if (Answers(socket_)) return absl::OkStatus();
    if (Reap(milliseconds(0))) {
      return absl::InternalError(absl::StrCat("ingotd ended: ", Log()));
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  Kill();
  return absl::DeadlineExceededError(
      absl::StrCat("ingotd does not serve: ", Log()));
}

absl::Status Daemon::Restart() { return Launch(); }

bool Daemon::Reap(milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (;;) {
    if (pid_ < 0) return true;
    if (waitpid(pid_, &wait_status_, WNOHANG) == pid_) {
      pid_ = -1;
      return true;
    }
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
}

void Daemon::Kill() {
  if (pid_ < 0) return;
  if (Reap(milliseconds(0)) && !EndedAsAsked(wait_status_)) {
    std::fprintf(stderr, "ingotd ended by itself, status %d:\n%s", wait_status_,
                 Log().c_str());
    std::abort();
  }
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, &wait_status_, 0);
  pid_ = -1;
}

absl::StatusOr<int> Daemon::Terminate(milliseconds timeout) {
  if (pid_ < 0) return absl::FailedPreconditionError("no daemon runs");
  kill(pid_, SIGTERM);
  if (!Reap(timeout)) {
    Kill();
    return absl::DeadlineExceededError(
        absl::StrCat("ingotd did not end: ", Log()));
  }
  if (WIFEXITED(wait_status_)) return WEXITSTATUS(wait_status_);
  return absl::InternalError(absl::StrCat("ingotd was ended by signal ",
                                          WTERMSIG(wait_status_), ": ", Log()));
}

std::string Daemon::Log() const { return ReadFile(log_file_); }

std::vector<pid_t> Daemon::Workers() const {
  std::vector<pid_t> workers;
  if (pid_ < 0) return workers;
  // Every thread has its own list of children.
  std::error_code error;
  for (const fs::directory_entry& task :
       fs::directory_iterator(absl::StrCat("/proc/", pid_, "/task"), error)) {
    std::ifstream children(task.path() / "children");
    pid_t child = 0;
    while (children >> child) workers.push_back(child);
  }
  return workers;
}

uint64_t Daemon::ResidentBytes() const {
  std::ifstream statm(absl::StrCat("/proc/", pid_, "/statm"));
  uint64_t total = 0;
  uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void Daemon::OrderFault(const std::string& match, const std::string& fault,
                        int times) {
  const fs::path path = fs::path(state_dir_) / "work" / "faults";
  std::ofstream(path.string() + ".new")
      << ReadFile(path) << orders_++ << ' ' << match << ' ' << fault << ' '
      << times << '\n';
  fs::rename(path.string() + ".new", path);
}

int Daemon::FaultsMet() const {
  // Each use leaves a file (server/worker/faults.cc).
  const fs::path work = fs::path(state_dir_) / "work";
  const std::string stem = "fault-" + std::to_string(orders_ - 1) + "-";
  int uses = 0;
  while (fs::exists(work / (stem + std::to_string(uses)))) ++uses;
  return uses;
}

void Daemon::ClearFaults() {
  std::error_code error;
  fs::remove(fs::path(state_dir_) / "work" / "faults", error);
}

}  // namespace ingot::testing
