#include "bench/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/support/child.h"

namespace ingot::bench {

void Die(const std::string& reason) {
  std::fprintf(stderr, "bench: %s\n", reason.c_str());
  std::exit(1);
}

Process::Process(const std::vector<std::string>& argv, const std::string& log) {
  const absl::StatusOr<pid_t> started = testing::StartChild(argv, log);
  if (!started.ok()) Die(std::string(started.status().message()));
  pid_ = *started;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Stop();
    pid_ = std::exchange(other.pid_, -1);
  }
  return *this;
}

Process::~Process() { Stop(); }

bool Process::running() {
  if (pid_ < 0) return false;
  if (waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

void Process::Stop() {
  if (!running()) return;
  kill(pid_, SIGTERM);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(15);
  while (running()) {
    if (std::chrono::steady_clock::now() > deadline) kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator(
           absl::StrCat("/proc/", pid, "/task"), ignored)) {
    std::ifstream file(task.path() / "children");
    for (pid_t child; file >> child;) children.push_back(child);
  }
  return children;
}

Memory MemoryOf(pid_t pid) {
  Memory memory;
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() < 2 || !absl::SimpleAtoi(words[1], &kib)) continue;
    if (words[0] == "VmRSS:") memory.resident = kib * 1024;
    if (words[0] == "RssAnon:") memory.anonymous = kib * 1024;
  }
  return memory;
}

TemporaryDirectory::TemporaryDirectory() {
  const char* parent = std::getenv("TMPDIR");
  path_ =
      absl::StrCat(parent != nullptr ? parent : "/tmp", "/ingot-bench-XXXXXX");
  if (mkdtemp(path_.data()) == nullptr) Die("cannot make " + path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ProgramFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

}  // namespace ingot::bench
