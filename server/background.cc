#include "server/background.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace ingot::server {
namespace {

constexpr int kNiceness = 10;
constexpr int kMostNice = 19;
// Linux from 6.12 on lets a task that wakes take over from one with longer
// turns at once; before, the lower weight had that effect, and this has none.
constexpr uint64_t kTurnNs = 20'000'000;

// The kernel's struct sched_attr in its first size, SCHED_ATTR_SIZE_VER0: its
// header and <sched.h> do not go together.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;
  uint64_t deadline = 0;
  uint64_t period = 0;
};
static_assert(sizeof(Attributes) == 48);

}  // namespace

void RunInBackground(pid_t pid) {
  Attributes attributes;
  // It wakes and takes nobody's turn.
  attributes.policy = SCHED_BATCH;
  attributes.nice =
      std::min(getpriority(PRIO_PROCESS, 0) + kNiceness, kMostNice);
  attributes.runtime = kTurnNs;
  if (syscall(SYS_sched_setattr, pid, &attributes, 0) == 0) return;
  setpriority(PRIO_PROCESS, static_cast<id_t>(pid), attributes.nice);
}

}  // namespace ingot::server
