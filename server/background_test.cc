#include "server/background.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

TEST(BackgroundTest, AChildGivesWayAndThisProcessDoesNot) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  RunInBackground(child);
  const int own = getpriority(PRIO_PROCESS, 0);
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(child)),
            std::min(own + 10, 19));
  EXPECT_EQ(sched_getscheduler(child), SCHED_BATCH);
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace ingot::server
