// What clients see when the daemon goes away and comes back.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/e2e/client_fixture.h"

namespace ingot::testing {
namespace {

using Clock = std::chrono::steady_clock;

class LostDaemonTest : public ClientFixture {
 protected:
  LostDaemonTest() { setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1); }
};

TEST_F(LostDaemonTest, OpenCallsEndWithAKill) {
  constexpr int kCalls = 32;
  DaemonOptions options;
  options.faulty_workers = true;
  auto hanging = Daemon::Start(options);
  ASSERT_TRUE(hanging.ok()) << hanging.status();
  daemon_ = *std::move(hanging);
  address_ = daemon_->address();
  daemon_->OrderFault("dtype=bf16", "hang");
  Client client = NewClient();
  std::vector<std::thread> threads;
  std::atomic<int> unavailable = 0;
  for (int t = 0; t < kCalls; ++t) {
    threads.emplace_back([&, t] {
      // Each its own kernel, so that all wait for a compile.
      client::OwnedSpec spec = RmsNormSpec(1, 20000 + 8 * t);
      Prepared prepared;
      // Not by the deadline, which is another code.
      if (client.Prepare(spec.spec(), nullptr, &prepared) ==
          INGOT_UNAVAILABLE) {
        unavailable.fetch_add(1);
      }
    });
  }
  const auto waiting = [&] {
    return Counter(&client, "queued") + Counter(&client, "workers_busy");
  };
  for (int i = 0; i < 3000 && waiting() < kCalls; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  daemon_->Kill();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unavailable.load(), kCalls);
}

TEST_F(LostDaemonTest, KnownSpecsStayPreparedAndNewOnesFailAtOnce) {
  Client client = NewClient();
  client::OwnedSpec known = RmsNormSpec(1, 64);
  client::OwnedSpec fresh = RmsNormSpec(1, 128);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(known.spec(), nullptr, &prepared), INGOT_OK);
  daemon_->Kill();
  EXPECT_EQ(client.Prepare(known.spec(), nullptr, &prepared), INGOT_OK);
  const auto start = Clock::now();
  EXPECT_EQ(client.Prepare(fresh.spec(), nullptr, &prepared),
            INGOT_UNAVAILABLE);
  // Of a budget of 60 s.
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
  EXPECT_THAT(ingot_last_error(), ::testing::HasSubstr(daemon_->socket()));
}

TEST_F(LostDaemonTest, ARestartGoesUnnoticed) {
  Client client = NewClient();
  client::OwnedSpec known = RmsNormSpec(1, 64);
  client::OwnedSpec fresh = RmsNormSpec(1, 128);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(known.spec(), nullptr, &prepared), INGOT_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  daemon_->Kill();
  ASSERT_TRUE(daemon_->Restart().ok());
  EXPECT_EQ(client.Prepare(fresh.spec(), nullptr, &prepared), INGOT_OK)
      << ingot_last_error();
  // What was acknowledged before the kill is still there.
  Client other = NewClient();
  ASSERT_EQ(other.Prepare(known.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_EQ(Describe(prepared).compile_us, 0u);
}

}  // namespace
}  // namespace ingot::testing
