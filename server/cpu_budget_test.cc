#include "server/cpu_budget.h"

#include <filesystem>
#include <fstream>

#include "cache/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

namespace fs = std::filesystem;

TEST(CpuBudget, ReadsQuotas) {
  EXPECT_EQ(CpusOfCpuMax("max 100000\n"), 0);
  EXPECT_EQ(CpusOfCpuMax("200000 100000\n"), 2);
  EXPECT_EQ(CpusOfCpuMax("150000 100000\n"), 2);
  EXPECT_EQ(CpusOfCpuMax("10000 100000\n"), 1);
  EXPECT_EQ(CpusOfCpuMax(""), 0);
  EXPECT_EQ(CpusOfCpuMax("nonsense here now"), 0);
  EXPECT_EQ(CpusOfCpuMax("100000 0"), 0);
  EXPECT_EQ(CpusOfQuota("-1\n", "100000\n"), 0);
  EXPECT_EQ(CpusOfQuota("400000\n", "100000\n"), 4);
}

TEST(CpuBudget, ReadsMemoryLimits) {
  EXPECT_EQ(BytesOfLimit("max\n"), 0);
  EXPECT_EQ(BytesOfLimit("9223372036854771712\n"), 0);
  EXPECT_EQ(BytesOfLimit("1073741824\n"), 1073741824);
}

TEST(CpuBudget, FindsTheGroup) {
  constexpr char kBoth[] =
      "4:cpu,cpuacct:/pod/a\n3:memory:/pod/b\n0::/unified\n";
  EXPECT_EQ(CgroupPath(kBoth, ""), "/unified");
  EXPECT_EQ(CgroupPath(kBoth, "cpu"), "/pod/a");
  EXPECT_EQ(CgroupPath(kBoth, "memory"), "/pod/b");
  EXPECT_EQ(CgroupPath(kBoth, "pids"), "");
}

class BudgetTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  cache::TempDir dir_;
  const std::string root_ = dir_.path();
};

TEST_F(BudgetTest, NoCgroupMeansTheMachine) {
  const Budget budget = ReadBudget(root_, 12, 1000);
  EXPECT_EQ(budget.cpus, 12);
  EXPECT_EQ(budget.memory_bytes, 1000);
}

TEST_F(BudgetTest, TheTightestGroupCounts) {
  Write("/proc/self/cgroup", "0::/pod/container\n");
  Write("/sys/fs/cgroup/pod/container/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
  Write("/sys/fs/cgroup/pod/container/memory.max", "500\n");
  const Budget budget = ReadBudget(root_, 192, 1000);
  EXPECT_EQ(budget.cpus, 3);
  EXPECT_EQ(budget.memory_bytes, 500);
}

TEST_F(BudgetTest, TheFirstVersionToo) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/\n6:memory:/\n");
  Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000");
  Write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "700");
  const Budget budget = ReadBudget(root_, 192, 1000);
  EXPECT_EQ(budget.cpus, 1);
  EXPECT_EQ(budget.memory_bytes, 700);
}

TEST(WorkerCount, FollowsCpusAndMemory) {
  const Budget budget{8, 0};
  EXPECT_EQ(WorkerCount(0, budget, 0, 0), 8);
  EXPECT_EQ(WorkerCount(3, budget, 0, 0), 3);
  EXPECT_EQ(WorkerCount(0, budget, 1000, 300), 3);
  EXPECT_EQ(WorkerCount(0, budget, 100, 300), 1);
}

}  // namespace
}  // namespace ingot::server
