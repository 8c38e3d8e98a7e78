// Half a minute of what ./dev bench soak does for ten.
#include "bench/soak/soak.h"
#include "gmock/gmock.h"

namespace ingot::bench {
namespace {

using ::testing::ElementsAre;

TEST(SoakTest, NothingIsWrongStuckOrLost) {
  SoakOptions options;
  options.seconds = 25;
  options.hot = 60;
  options.disk_mib = 128;
#ifdef __SANITIZE_THREAD__
  // It follows 64 locks of a thread, and a fork takes one of each client.
  options.connections = 32;
#endif
  const SoakOutcome outcome = RunSoak(options);

  EXPECT_EQ(outcome.tally.wrong, 0);
  EXPECT_EQ(outcome.tally.stuck, 0);
  EXPECT_EQ(outcome.tally.unexpected, 0);
  EXPECT_EQ(outcome.harm.lost, 0);
  EXPECT_THAT(outcome.harm.remarks, ElementsAre());
  EXPECT_THAT(outcome.tally.examples, ElementsAre());

  // It was asked, and it was harmed.
  EXPECT_GT(outcome.tally.codes[0], 1000);
  for (const std::vector<float>& calls : outcome.tally.milliseconds) {
    EXPECT_FALSE(calls.empty());
  }
  EXPECT_EQ(outcome.harm.daemon_kills, 2);
  EXPECT_GT(outcome.harm.workers_killed, 0);
  EXPECT_GT(outcome.harm.objects_damaged, 0);
  EXPECT_GT(outcome.compared, 50);
  if (outcome.no_disk.empty()) {
    EXPECT_EQ(outcome.harm.disk_fills, 2);
    EXPECT_EQ(outcome.harm.disk_heals, 2);
    EXPECT_GT(outcome.dropped_writes, 0);
  }
}

}  // namespace
}  // namespace ingot::bench
