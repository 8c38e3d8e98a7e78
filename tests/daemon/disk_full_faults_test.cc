// A daemon whose disk is full: callers get their kernels, writes are dropped
// and counted, and writing resumes by itself when there is space again.
#include <chrono>
#include <functional>
#include <thread>

#include "tests/daemon/fixture.h"
#include "tests/support/small_disk.h"

namespace ingot::server {
namespace {

class FullDiskTest : public DaemonTest {
 protected:
  static bool Within30Seconds(const std::function<bool()>& holds) {
    for (int i = 0; i < 3000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool read_only() { return client().CounterOf("ingot_store_read_only") != 0; }
};

TEST_F(FullDiskTest, CallersNoticeNothingAndItHealsWithoutARestart) {
  const testing::SmallDisk disk(64);
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << disk.why();
  testing::DaemonOptions options;
  options.state_dir = disk.path();
  StartDaemon(options);
  int64_t n = 64;
  ASSERT_TRUE(client().Get(RmsNorm(n)).ok());
  for (int round = 0; round < 2; ++round) {
    const uint64_t before = client().Stats().entries();
    disk.Fill();
    // Each is new; what the store has set aside for its log takes some.
    while (!read_only() && n < 2000) {
      ASSERT_TRUE(client().Get(RmsNorm(++n)).ok());
      disk.Fill();
    }
    ASSERT_TRUE(read_only());
    const uint64_t stored = client().Stats().entries();
    EXPECT_GE(stored, before);
    const int64_t dropped_n = ++n;
    const Answer<v1::GetKernelResponse> dropped =
        client().Get(RmsNorm(dropped_n));
    EXPECT_TRUE(dropped.ok()) << dropped.message();
    EXPECT_EQ(client().Stats().entries(), stored);
    EXPECT_GT(client().CounterOf("ingot_store_dropped_writes_total"), 0);
    // What was stored before is read, and what was dropped is in memory.
    EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
    const double compiles = client().CounterOf("ingot_compiles_total");
    EXPECT_TRUE(client().Get(RmsNorm(dropped_n)).ok());
    EXPECT_EQ(client().CounterOf("ingot_compiles_total"), compiles);

    disk.Free();
    EXPECT_TRUE(Within30Seconds([&] { return !read_only(); }));
    EXPECT_TRUE(client().Get(RmsNorm(++n)).ok());
    EXPECT_EQ(client().Stats().entries(), stored + 1);
  }
  // And what was written in between is there after a restart.
  const uint64_t entries = client().Stats().entries();
  daemon().Kill();
  ASSERT_TRUE(daemon().Restart().ok());
  Client again(daemon().address());
  EXPECT_EQ(again.Stats().entries(), entries);
  EXPECT_EQ(again.Get(RmsNorm(n)).response.kernels(0).source(),
            v1::SOURCE_STORE);
}

}  // namespace
}  // namespace ingot::server
