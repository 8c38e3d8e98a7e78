#include "tests/support/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::testing {
namespace {

// In the new process, which shares its parent's memory and must not change it.
[[noreturn]] void Become(char* const* argv, int log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it died before the line above
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

}  // namespace

absl::StatusOr<pid_t> StartChild(const std::vector<std::string>& argv,
                                 const std::string& log) {
  if (gettid() != getpid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(argv[0], " must be started from the first thread"));
  }
  std::vector<char*> words;
  for (const std::string& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  const int fd =
      open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, log);
  const pid_t self = getpid();
  // Not posix_spawn, which cannot ask for the parent's end; not fork, which
  // copies a bench's page tables and runs the handlers of its libraries.
  const pid_t pid = vfork();
  if (pid == 0) Become(words.data(), fd, self);
  const int error = errno;
  close(fd);
  if (pid < 0) return absl::ErrnoToStatus(error, argv[0]);
  return pid;
}

}  // namespace ingot::testing
