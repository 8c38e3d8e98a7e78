// Many processes of one host that want the same kernel at the same moment, as
// the ranks of a job do; also when one of them is killed, or may not write a
// file.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <vector>

#include "gmock/gmock.h"
#include "tests/e2e/client_fixture.h"

namespace ingot::testing {
namespace {

// Shared by a test and its children.
struct Board {
  explicit Board(unsigned parties) {
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&barrier, &attributes, parties);
    pthread_barrierattr_destroy(&attributes);
  }
  pthread_barrier_t barrier;
  std::atomic<int> good{0};
};

class ManyProcessesTest : public ClientFixture {
 protected:
  ManyProcessesTest() { setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1); }
  ~ManyProcessesTest() override {
    for (const pid_t child : children_) kill(child, SIGKILL);
    WaitForAll();
    if (board_ != nullptr) munmap(board_, sizeof(Board));
  }

  void Share(unsigned parties) {
    void* page = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    board_ = new (page) Board(parties);
  }
  // `work` runs in a process of its own, which ends with 0 when it was true.
  template <typename Work>
  pid_t Start(Work work) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(240);
      _exit(work() ? 0 : 1);
    }
    children_.push_back(child);
    return child;
  }
  // How many ended with 0.
  int WaitForAll() {
    int good = 0;
    for (const pid_t child : children_) {
      int status = -1;
      waitpid(child, &status, 0);
      good += status == 0 ? 1 : 0;
    }
    children_.clear();
    return good;
  }

  static bool Prepares(Client* client, int64_t n) {
    client::OwnedSpec spec = RmsNormSpec(1, n);
    Prepared prepared;
    return client->Prepare(spec.spec(), nullptr, &prepared) == INGOT_OK;
  }

  Board& board() { return *board_; }

 private:
  Board* board_ = nullptr;
  std::vector<pid_t> children_;
};

TEST_F(ManyProcessesTest, AHerdGetsOneCompileEveryRound) {
  constexpr int kProcesses = 64;
  constexpr int kRounds = 200;
  Share(kProcesses);
  for (int i = 0; i < kProcesses; ++i) {
    Start([&] {
      Client client = NewClient();
      bool good = true;
      for (int round = 0; round < kRounds; ++round) {
        pthread_barrier_wait(&board().barrier);
        good = Prepares(&client, 64 + round) && good;
      }
      return good;
    });
  }
  EXPECT_EQ(WaitForAll(), kProcesses);
  Client client = NewClient();
  EXPECT_EQ(Counter(&client, "ingot_compiles_total"), kRounds);
  EXPECT_EQ(Counter(&client, "entries"), kRounds);
}

TEST_F(ManyProcessesTest, OneThatIsKilledCostsTheOthersNothing) {
  constexpr int kProcesses = 8;
  DaemonOptions options;
  options.faulty_workers = true;
  auto daemon = Daemon::Start(options);
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  daemon_ = *std::move(daemon);
  address_ = daemon_->address();
  daemon_->OrderFault("n=64", "sleep1500", 1);
  Share(kProcesses);
  pid_t victim = 0;
  for (int i = 0; i < kProcesses; ++i) {
    victim = Start([&] {
      Client client = NewClient();
      pthread_barrier_wait(&board().barrier);
      return Prepares(&client, 64);
    });
  }
  // Once their compile is under way.
  while (daemon_->FaultsMet() == 0) usleep(1000);
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  EXPECT_EQ(WaitForAll(), kProcesses - 1);
  Client client = NewClient();
  EXPECT_EQ(Counter(&client, "entries"), 1);
  EXPECT_EQ(Counter(&client, "ingot_compiles_total"), 1);
  EXPECT_TRUE(Prepares(&client, 64));
}

TEST_F(ManyProcessesTest, NothingIsWrittenToAFile) {
  Start([&] {
    const rlimit none = {0, 0};
    if (setrlimit(RLIMIT_FSIZE, &none) != 0) return false;
    Client client = NewClient();
    return Prepares(&client, 64) && Prepares(&client, 4096);
  });
  EXPECT_EQ(WaitForAll(), 1);
}

}  // namespace
}  // namespace ingot::testing
