// What a watcher is told about a kernel that runs.
#include <array>

#include "tests/emulator/kernel_fixture.h"
#include "tests/emulator/watcher.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator {
namespace {

struct Seen {
  int groups = 0, ended = 0;
  std::vector<std::array<uint32_t, 3>> ids;
  uint64_t before = 0, after = 0;
  std::vector<Access> stores;
};

class Notes : public Watcher {
 public:
  explicit Notes(Seen* seen) : seen_(*seen) {}
  void StartGroup(Group& g) override {
    ++seen_.groups;
    seen_.ids.push_back({g.id[0], g.id[1], g.id[2]});
  }
  void Before(Wave&, const Inst&) override { ++seen_.before; }
  void After(Wave&, const Inst& i, const AccessList& accesses) override {
    ++seen_.after;
    for (const Access& a : accesses) {
      if (a.lane >= 0 && KindOf(*i.op, a.space).writes)
        seen_.stores.push_back(a);
    }
  }
  void EndGroup(Group&) override { ++seen_.ended; }

 private:
  Seen& seen_;
};

class Watching : public KernelFixture {};

TEST_F(Watching, SeesEveryInstructionAndEveryDwordStored) {
  Load("memory.hsaco");
  auto* in = Allocate<uint32_t>(256);
  std::memset(in, 0, 1024);
  const auto* out = Allocate<uint32_t>(256);
  Seen seen;
  LaunchConfig config;
  config.block[0] = 64;
  config.watchers = {[&seen] { return std::make_unique<Notes>(&seen); }};
  const uint32_t bytes = 300;  // 75 dwords lie inside the buffer
  const RunResult r =
      Run("buffer_store_x4", Arguments().Add(in).Add(out).Add(bytes), config);
  ASSERT_EQ(r.status, RunStatus::kOk) << r.report;
  EXPECT_EQ(seen.groups, 1);
  EXPECT_EQ(seen.ended, 1);
  EXPECT_EQ(seen.before, r.statistics.total());
  EXPECT_EQ(seen.after, seen.before);
  ASSERT_EQ(seen.stores.size(), 75u);
  for (size_t n = 0; n < seen.stores.size(); ++n) {
    EXPECT_EQ(seen.stores[n].address, reinterpret_cast<uint64_t>(out + n));
    EXPECT_EQ(seen.stores[n].bytes, 4);
    EXPECT_EQ(seen.stores[n].lane, static_cast<int>(n / 4));
    EXPECT_EQ(seen.stores[n].space, Space::kGlobal);
  }
}

TEST_F(Watching, OnlyTheChosenWorkgroupsRun) {
  Load("memory.hsaco");
  auto* in = Allocate<uint32_t>(256);
  std::memset(in, 0, 1024);
  const auto* out = Allocate<uint32_t>(256);
  Seen seen;
  LaunchConfig config;
  config.block[0] = 64;
  config.grid[0] = 3;
  config.grid[1] = 5;
  config.grid[2] = 2;
  config.groups = {29, 0, 16};
  config.watchers = {[&seen] { return std::make_unique<Notes>(&seen); }};
  const Arguments arguments = Arguments().Add(in).Add(out).Add(uint32_t{1024});
  Options one_thread;
  one_thread.threads = 1;
  const RunResult r = Run("buffer_store_x4", arguments, config, one_thread);
  ASSERT_EQ(r.status, RunStatus::kOk) << r.report;
  EXPECT_EQ(r.statistics.waves, 3u);
  const std::vector<std::array<uint32_t, 3>> wanted = {
      {2, 4, 1}, {0, 0, 0}, {1, 0, 1}};
  EXPECT_EQ(seen.ids, wanted);

  config.groups = {30};
  EXPECT_EQ(Run("buffer_store_x4", arguments, config).status,
            RunStatus::kInvalidLaunch);
}

}  // namespace
}  // namespace ingot::emulator
