// What a test or bench started ends with it, also when that is killed.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/child.h"
#include "tests/support/daemon.h"

namespace ingot::testing {
namespace {

// Runs `start` in a process that is then killed, and waits for whatever that
// left behind: as its subreaper this process inherits it. How each ended, the
// killed one left out; `start` answers whether all is running.
std::vector<int> LeftBehind(const std::function<bool()>& start) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int running[2];
  if (pipe(running) != 0) return {};
  alarm(60);  // ends this test should something live on
  const pid_t test = fork();
  if (test == 0) {
    alarm(60);
    if (!start() || write(running[1], "y", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(running[1]);
  char byte = 0;
  EXPECT_EQ(read(running[0], &byte, 1), 1) << "did not start";
  close(running[0]);
  kill(test, SIGKILL);
  std::vector<int> ends;
  int status = 0;
  for (pid_t ended; (ended = wait(&status)) > 0;) {
    if (ended != test) ends.push_back(status);
  }
  EXPECT_EQ(errno, ECHILD);
  alarm(0);
  return ends;
}

bool Killed(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST(Child, EndsWithWhoStartedIt) {
  const std::vector<int> ends = LeftBehind(
      [] { return StartChild({"/bin/sleep", "20"}, "/dev/null").ok(); });
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(Killed(ends[0])) << ends[0];
}

TEST(Child, DaemonEndsWithItsWorkers) {
  // The killed process removes nothing.
  std::string folder = "/tmp/ingot-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::vector<int> ends = LeftBehind([&] {
    setenv("TMPDIR", folder.c_str(), 1);
    static auto daemon = Daemon::Start({.flags = {"--workers=2"}});
    while (daemon.ok() && (*daemon)->Workers().size() < 2) usleep(1000);
    return daemon.ok();
  });
  // A worker ends by itself when it sees first that its daemon is gone.
  EXPECT_EQ(ends.size(), 3u);
  EXPECT_TRUE(std::any_of(ends.begin(), ends.end(), Killed));
  std::filesystem::remove_all(folder);
}

TEST(Child, IsStartedFromTheFirstThread) {
  std::thread([] {
    EXPECT_EQ(StartChild({"/bin/true"}, "/dev/null").status().code(),
              absl::StatusCode::kFailedPrecondition);
  }).join();
}

TEST(Child, SaysWhyThereIsNone) {
  EXPECT_EQ(StartChild({"/bin/true"}, "/no/such/folder/log").status().code(),
            absl::StatusCode::kNotFound);
  const auto child = StartChild({"/no/such/program"}, "/dev/null");
  ASSERT_TRUE(child.ok()) << child.status();
  int status = 0;
  ASSERT_EQ(waitpid(*child, &status, 0), *child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 127) << status;
}

}  // namespace
}  // namespace ingot::testing
