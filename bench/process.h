// A program that a bench starts and ends: its start-up time and memory are
// among the figures, so it is started from its file with nothing in between.
#ifndef INGOT_BENCH_PROCESS_H_
#define INGOT_BENCH_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ingot::bench {

// A running child. Movable, not copyable; the destructor ends it (SIGTERM, then
// SIGKILL after 15 s) and waits for it.
class Process {
 public:
  // Runs `argv` with its output appended to `log`, from the first thread only.
  // It ends with the bench, also when that is killed. Aborts the bench when it
  // cannot.
  Process(const std::vector<std::string>& argv, const std::string& log);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  bool running();
  // Ends it as the destructor does; a second call does nothing.
  void Stop();

 private:
  pid_t pid_ = -1;
};

// Its children, at this moment.
std::vector<pid_t> ChildrenOf(pid_t pid);

// Resident bytes: all of them, and those that belong to it alone.
struct Memory {
  int64_t resident = 0;
  int64_t anonymous = 0;
};
Memory MemoryOf(pid_t pid);

// A new directory under $TMPDIR (or /tmp), removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The folder of the running bench: the programs it starts lie beside it.
std::string ProgramFolder();

// Prints why and ends the bench with status 1: a bench has no one to hand an
// error to.
[[noreturn]] void Die(const std::string& reason);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_PROCESS_H_
