// Our client's transport across fork(). A program of its own: no gRPC may have
// run in the process that forks.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/wire_fixture.h"

namespace ingot::testing {
namespace {

using ForkTest = WireTest;

// A server in a process of its own, because gRPC does not live through forks.
class ForkedServer {
 public:
  explicit ForkedServer(const std::string& address) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      alarm(60);
      ReferenceServer server(address);
      const char byte = 'r';
      if (write(ready[1], &byte, 1) == 1) pause();
      _exit(1);
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~ForkedServer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

// A child that exits with 0 when `body` says that all is well within ten
// seconds.
template <typename Body>
pid_t ForkChild(Body body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(10);
  _exit(body() ? 0 : 1);
}

int WaitFor(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

// A child must not share the parent's connections.
TEST_F(ForkTest, AForkedChildOpensItsOwnConnections) {
  const ForkedServer server(Socket());
  const auto channel = Open(Socket());
  ASSERT_TRUE(Call(channel.get(), "").ok());
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(ForkChild([&] {
      return Call(channel.get(), "").ok() &&
             channel->stats().connections.load() == 2;
    }));
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Call(channel.get(), "").ok());
  for (const pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  EXPECT_EQ(channel->stats().connections.load(), 1u);
}

// Forks while other threads hold locks and connections.
TEST_F(ForkTest, ForkingUnderLoadLeavesNoLockBehind) {
  const ForkedServer server(Socket());
  const auto channel = Open(Socket());
  std::atomic<bool> stop = false;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        if (!Call(channel.get(), "").ok()) failures.fetch_add(1);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(WaitFor(ForkChild([&] { return Call(channel.get(), "").ok(); })),
              0);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
}

}  // namespace
}  // namespace ingot::testing
