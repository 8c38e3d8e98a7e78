#include "server/worker/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

namespace ingot::server {
namespace {

// Sanitizers start threads and read files of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanConfine = false;
#else
constexpr bool kCanConfine = true;
#endif

absl::Status Failed(absl::string_view what, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat(what, ": ", std::strerror(error)));
}

absl::Status NoNewPrivileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) return absl::OkStatus();
  return Failed("PR_SET_NO_NEW_PRIVS", errno);
}

// --- files -------------------------------------------------------------------

// Every right of the first Landlock version; a right that is handled and not
// allowed somewhere is refused.
constexpr uint64_t kReading =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kChanging =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr uint64_t kHandled = kReading | kChanging | LANDLOCK_ACCESS_FS_EXECUTE;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

absl::Status Allow(int rules, const char* folder, uint64_t rights) {
  const Descriptor place(open(folder, O_PATH | O_CLOEXEC));
  if (place.get() < 0) return Failed(folder, errno);
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = rights;
  rule.parent_fd = place.get();
  if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule,
              0) != 0) {
    return Failed("landlock_add_rule", errno);
  }
  return absl::OkStatus();
}

absl::Status ConfineFiles(const std::string& writable) {
  landlock_ruleset_attr attributes = {};
  attributes.handled_access_fs = kHandled;
  const Descriptor rules(static_cast<int>(syscall(
      SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0)));
  if (rules.get() < 0) return Failed("landlock_create_ruleset", errno);
  // LLD names its input /proc/self/fd/N; a memory file itself needs no rule.
  INGOT_RETURN_IF_ERROR(Allow(rules.get(), "/proc", kReading));
  if (!writable.empty()) {
    INGOT_RETURN_IF_ERROR(
        Allow(rules.get(), writable.c_str(), kReading | kChanging));
  }
  if (syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) {
    return Failed("landlock_restrict_self", errno);
  }
  return absl::OkStatus();
}

// --- system calls ------------------------------------------------------------

// What compiling, allocating, linking through memory files and pipes, and
// ending take. Files are Landlock's business, so names may be opened here.
constexpr int kAllowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(lseek),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(fcntl),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(memfd_create),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(msync),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(setrlimit),
    SCMP_SYS(prlimit64),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(umask),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

// Pages that can be executed come from the program file alone.
int AllowWithoutExecution(scmp_filter_ctx filter, int call) {
  return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                          SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

// abort() and raise() signal the process itself.
int AllowOnSelf(scmp_filter_ctx filter, int call) {
  return seccomp_rule_add(
      filter, SCMP_ACT_ALLOW, call, 1,
      SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid())));
}

absl::Status ConfineSystemCalls() {
  // Refused, not killed: a call that a C library makes on the side may fail.
  const Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), &seccomp_release);
  if (filter == nullptr) return Failed("seccomp_init", ENOMEM);
  int error = 0;
  for (const int call : kAllowed) {
    if (error == 0) {
      error = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
    }
  }
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    if (error == 0) error = AllowWithoutExecution(filter.get(), call);
  }
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(tkill)}) {
    if (error == 0) error = AllowOnSelf(filter.get(), call);
  }
  if (error == 0) error = seccomp_load(filter.get());
  return error == 0 ? absl::OkStatus() : Failed("seccomp", -error);
}

}  // namespace

absl::StatusOr<SandboxMode> ParseSandboxMode(absl::string_view text) {
  if (text == "off") return SandboxMode::kOff;
  if (text == "best_effort") return SandboxMode::kBestEffort;
  if (text == "required") return SandboxMode::kRequired;
  return absl::InvalidArgumentError(absl::StrCat(
      "worker_sandbox: found ", text, ", allowed off, best_effort, required"));
}

absl::StatusOr<Sandbox> EnterSandbox(SandboxMode mode,
                                     const std::string& writable) {
  Sandbox sandbox;
  if (mode == SandboxMode::kOff) return sandbox;
  const auto enter = [&](const char* layer, const absl::Status& entered) {
    if (entered.ok()) {
      sandbox.layers.emplace_back(layer);
    } else {
      absl::StrAppend(&sandbox.missing, sandbox.missing.empty() ? "" : "; ",
                      layer, ": ", entered.message());
    }
  };
  if (kCanConfine) {
    // Both others need the first.
    enter("no_new_privileges", NoNewPrivileges());
    enter("files", ConfineFiles(writable));
    enter("system_calls", ConfineSystemCalls());
  } else {
    sandbox.missing = "a build with sanitizers cannot be confined";
  }
  if (mode == SandboxMode::kRequired && !sandbox.missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("worker_sandbox: required, but ", sandbox.missing));
  }
  return sandbox;
}

}  // namespace ingot::server
