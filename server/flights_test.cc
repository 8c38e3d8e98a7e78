#include "server/flights.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

Built Object(int64_t compile_us) {
  Built built;
  built.compiled = true;
  built.compile_us = compile_us;
  return built;
}

Flights::Done Ignore() {
  return [](const BuildOutcome&, bool) {};
}

TEST(Flights, TheFirstOwnsAndAllHear) {
  Flights flights;
  int owners = 0;
  int told = 0;
  const auto done = [&](const BuildOutcome& outcome, bool owner) {
    EXPECT_EQ(outcome->compile_us, 7);
    owners += owner ? 1 : 0;
    ++told;
  };
  const Flights::Joined first = flights.Join("k", false, done);
  EXPECT_TRUE(first.owner);
  EXPECT_FALSE(flights.Join("k", false, done).owner);
  EXPECT_FALSE(flights.Join("k", true, done).owner);
  EXPECT_TRUE(flights.Join("other", false, Ignore()).owner);
  flights.Finish("k", first.ticket.flight, Object(7));
  EXPECT_EQ(told, 3);
  EXPECT_EQ(owners, 1);
  EXPECT_EQ(flights.size(), 1u);
}

TEST(Flights, AFailedOwnerDoesNotPoisonTheKey) {
  Flights flights;
  absl::Status heard;
  const Flights::Joined first = flights.Join(
      "k", false,
      [&](const BuildOutcome& outcome, bool) { heard = outcome.status(); });
  flights.Finish("k", first.ticket.flight, absl::InternalError("no"));
  EXPECT_EQ(heard.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(flights.Join("k", false, Ignore()).owner);
}

TEST(Flights, AnOldFlightCannotEndANewOne) {
  Flights flights;
  const Flights::Joined old = flights.Join("k", false, Ignore());
  flights.Finish("k", old.ticket.flight, Object(1));
  int told = 0;
  const Flights::Joined now =
      flights.Join("k", false, [&](const BuildOutcome&, bool) { ++told; });
  flights.Finish("k", old.ticket.flight, Object(1));
  EXPECT_EQ(told, 0);
  EXPECT_FALSE(flights.Begin("k", old.ticket.flight));
  EXPECT_TRUE(flights.Begin("k", now.ticket.flight));
}

TEST(Flights, WhoLeavesHearsNothing) {
  Flights flights;
  int told = 0;
  const auto done = [&](const BuildOutcome&, bool) { ++told; };
  const Flights::Joined first = flights.Join("k", false, done);
  const Flights::Joined second = flights.Join("k", false, done);
  // Wanted builds go on when everybody left.
  EXPECT_FALSE(flights.Leave(first.ticket));
  EXPECT_FALSE(flights.Leave(second.ticket));
  EXPECT_TRUE(flights.Begin("k", first.ticket.flight));
  flights.Finish("k", first.ticket.flight, Object(1));
  EXPECT_EQ(told, 0);
}

TEST(Flights, OnlyAnUnwatchedSpeculativeOneIsDropped) {
  Flights flights;
  const Flights::Joined first = flights.Join("k", true, Ignore());
  const Flights::Joined second = flights.Join("k", true, Ignore());
  EXPECT_FALSE(second.promoted);
  EXPECT_FALSE(flights.Leave(first.ticket));
  EXPECT_TRUE(flights.Leave(second.ticket));
  EXPECT_FALSE(flights.Begin("k", first.ticket.flight));
  EXPECT_EQ(flights.size(), 0u);

  const Flights::Joined begun = flights.Join("k", true, Ignore());
  EXPECT_TRUE(flights.Begin("k", begun.ticket.flight));
  EXPECT_FALSE(flights.Leave(begun.ticket));
}

TEST(Flights, OneWhoNeedsItNowPromotes) {
  Flights flights;
  const Flights::Joined warmup = flights.Join("k", true, Ignore());
  EXPECT_TRUE(flights.Speculative("k", warmup.ticket.flight));
  EXPECT_TRUE(flights.Join("k", false, Ignore()).promoted);
  EXPECT_FALSE(flights.Join("k", false, Ignore()).promoted);
  EXPECT_FALSE(flights.Speculative("k", warmup.ticket.flight));
}

TEST(Flights, FinishAllTellsEverybody) {
  Flights flights;
  int told = 0;
  const auto done = [&](const BuildOutcome& outcome, bool) {
    told += absl::IsUnavailable(outcome.status()) ? 1 : 0;
  };
  flights.Join("a", false, done);
  flights.Join("b", false, done);
  flights.FinishAll(absl::UnavailableError("stopping"));
  EXPECT_EQ(told, 2);
  EXPECT_EQ(flights.size(), 0u);
}

TEST(Flights, ManyThreadsOneOwnerAFlight) {
  Flights flights;
  std::atomic<int> owned{0};
  std::atomic<int> told{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const Flights::Joined joined = flights.Join(
            "k", i % 2 == 0, [&](const BuildOutcome&, bool) { ++told; });
        if (joined.owner) {
          ++owned;
          flights.Begin("k", joined.ticket.flight);
          flights.Finish("k", joined.ticket.flight, Object(1));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(told.load(), 8 * 500);
  EXPECT_GE(owned.load(), 1);
  EXPECT_EQ(flights.size(), 0u);
}

}  // namespace
}  // namespace ingot::server
