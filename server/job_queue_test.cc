#include "server/job_queue.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

constexpr std::chrono::nanoseconds kNow{0};

Job MakeJob(uint64_t id, Priority priority = Priority::kInteractive) {
  Job job;
  job.id = id;
  job.priority = priority;
  return job;
}

uint64_t PopId(JobQueue& queue) {
  const std::optional<Job> job = queue.Pop(kNow);
  return job ? job->id : 0;
}

TEST(JobQueue, InteractiveBeforeWarmupInOrderOfArrival) {
  JobQueue queue(8);
  ASSERT_TRUE(queue.Push(MakeJob(1, Priority::kWarmup)).ok());
  ASSERT_TRUE(queue.Push(MakeJob(2)).ok());
  ASSERT_TRUE(queue.Push(MakeJob(3, Priority::kWarmup)).ok());
  ASSERT_TRUE(queue.Push(MakeJob(4)).ok());
  for (const uint64_t id : {2, 4, 1, 3, 0}) EXPECT_EQ(PopId(queue), id);
}

TEST(JobQueue, FullSaysSoAndKeepsRoomForInteractive) {
  JobQueue queue(8);
  for (uint64_t id = 1; id <= 7; ++id) {
    ASSERT_TRUE(queue.Push(MakeJob(id, Priority::kWarmup)).ok());
  }
  EXPECT_TRUE(
      absl::IsResourceExhausted(queue.Push(MakeJob(8, Priority::kWarmup))));
  EXPECT_TRUE(queue.Push(MakeJob(9)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(queue.Push(MakeJob(10))));
  // One that was there already comes back all the same.
  EXPECT_TRUE(queue.Requeue(MakeJob(11)));
  EXPECT_EQ(PopId(queue), 11u);
  EXPECT_EQ(queue.size(), 8u);
}

Job JobOf(const char* client, uint64_t id) {
  Job job = MakeJob(id);
  job.client = client;
  return job;
}

TEST(JobQueue, ClientsTakeTurns) {
  JobQueue queue(64);
  for (uint64_t id = 1; id <= 4; ++id) {
    ASSERT_TRUE(queue.Push(JobOf("a", id)).ok());
  }
  ASSERT_TRUE(queue.Push(JobOf("b", 11)).ok());
  ASSERT_TRUE(queue.Push(JobOf("b", 12)).ok());
  EXPECT_EQ(PopId(queue), 1u);
  EXPECT_EQ(PopId(queue), 11u);
  // Who comes new waits for one job of each who was there.
  ASSERT_TRUE(queue.Push(JobOf("c", 21)).ok());
  for (const uint64_t id : {2, 12, 21, 3, 4, 0}) EXPECT_EQ(PopId(queue), id);
}

TEST(JobQueue, WhatComesBackGoesFirstAndKeepsItsClientsOrder) {
  JobQueue queue(64);
  ASSERT_TRUE(queue.Push(JobOf("a", 1)).ok());
  ASSERT_TRUE(queue.Push(JobOf("b", 11)).ok());
  ASSERT_TRUE(queue.Push(JobOf("b", 12)).ok());
  ASSERT_TRUE(queue.Requeue(JobOf("b", 10)));
  for (const uint64_t id : {10, 1, 11, 12, 0}) EXPECT_EQ(PopId(queue), id);
}

TEST(JobQueue, OneClientCannotFillIt) {
  JobQueue queue(8);
  for (uint64_t id = 1; id <= 6; ++id) {
    ASSERT_TRUE(queue.Push(JobOf("a", id)).ok());
  }
  const absl::Status refused = queue.Push(JobOf("a", 7));
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_NE(refused.message().find("6 waiting jobs of a, allowed 6"),
            absl::string_view::npos)
      << refused;
  EXPECT_TRUE(queue.Push(JobOf("b", 11)).ok());
  EXPECT_TRUE(queue.Push(MakeJob(21)).ok());
  // One job less, one job more.
  EXPECT_TRUE(queue.Remove(3));
  EXPECT_TRUE(queue.Push(JobOf("a", 8)).ok());
  for (const uint64_t id : {1, 11, 21, 2, 4, 5, 6, 8, 0}) {
    EXPECT_EQ(PopId(queue), id);
  }
}

TEST(JobQueue, PromoteAndRemove) {
  JobQueue queue(8);
  ASSERT_TRUE(queue.Push(MakeJob(1, Priority::kWarmup)).ok());
  ASSERT_TRUE(queue.Push(MakeJob(2, Priority::kWarmup)).ok());
  ASSERT_TRUE(queue.Push(MakeJob(3)).ok());
  queue.Promote(2);
  queue.Promote(99);
  EXPECT_TRUE(queue.Remove(1));
  EXPECT_FALSE(queue.Remove(1));
  for (const uint64_t id : {3, 2, 0}) EXPECT_EQ(PopId(queue), id);
}

TEST(JobQueue, CloseWakesAndHandsBack) {
  JobQueue queue(8);
  std::thread waiter(
      [&] { EXPECT_FALSE(queue.Pop(std::chrono::seconds(30)).has_value()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(queue.Close().size(), 0u);
  waiter.join();
  EXPECT_TRUE(absl::IsUnavailable(queue.Push(MakeJob(1))));
  EXPECT_FALSE(queue.Requeue(MakeJob(1)));

  JobQueue other(8);
  ASSERT_TRUE(other.Push(MakeJob(1)).ok());
  EXPECT_EQ(other.Close().size(), 1u);
  EXPECT_FALSE(other.Pop(kNow).has_value());
}

TEST(JobQueue, ManyThreadsLoseNothing) {
  JobQueue queue(100000);
  std::atomic<uint64_t> sum{0};
  std::atomic<int> left{4000};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 1; i <= 1000; ++i) {
        EXPECT_TRUE(queue
                        .Push(MakeJob(i, t % 2 == 0 ? Priority::kWarmup
                                                    : Priority::kInteractive))
                        .ok());
      }
    });
    threads.emplace_back([&] {
      while (left > 0) {
        if (std::optional<Job> job = queue.Pop(std::chrono::milliseconds(1))) {
          sum += job->id;
          --left;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum.load(), 4u * 500500u);
}

}  // namespace
}  // namespace ingot::server
