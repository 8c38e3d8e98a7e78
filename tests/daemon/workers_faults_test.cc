// Workers that abort, hang, eat memory, answer nonsense or are killed.
#include <signal.h>

#include <chrono>
#include <thread>

#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class WorkerFaultsTest : public DaemonTest {
 protected:
  // Nobody else's kernel suffers.
  void ExpectOthersServed(int64_t n) {
    EXPECT_TRUE(client().Get(RmsNorm(n)).ok());
  }
};

TEST_F(WorkerFaultsTest, OneDeathCostsOneRetry) {
  StartFaultyDaemon({"--compile-timeout-seconds=5"});
  int64_t n = 500;
  for (const char* fault : {"abort", "segv", "kill", "exit0", "exit1", "memory",
                            "garbage", "oversize", "hang"}) {
    daemon().OrderFault("n=" + std::to_string(n), fault, 1);
    const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(n));
    EXPECT_TRUE(answer.ok()) << fault << ": " << answer.message();
    ++n;
  }
  EXPECT_EQ(client().CounterOf("ingot_compile_retries_total"), 9);
  EXPECT_EQ(client().CounterOf("ingot_quarantined_total"), 0);
}

TEST_F(WorkerFaultsTest, TwoCrashesAreQuarantineWithABundle) {
  StartFaultyDaemon();
  daemon().OrderFault("n=600", "abort");
  const Answer<v1::GetKernelResponse> first = client().Get(RmsNorm(600));
  EXPECT_EQ(first.code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(first.message(), HasSubstr("repro bundle"));
  const double starts = client().CounterOf("ingot_worker_starts_total");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client().Get(RmsNorm(600)).message(), first.message());
  }
  EXPECT_EQ(client().CounterOf("ingot_negative_hits_total"), 20);
  EXPECT_LE(client().CounterOf("ingot_worker_starts_total"), starts + 2);
  ExpectOthersServed(601);

  // It outlives a restart, and ends with the key's deletion.
  daemon().ClearFaults();
  ASSERT_EQ(daemon().Terminate().value_or(-1), 0);
  ASSERT_TRUE(daemon().Restart().ok());
  Client again(daemon().address());
  EXPECT_EQ(again.Get(RmsNorm(600)).message(), first.message());
  v1::DescribeRequest describe;
  *describe.mutable_spec() = RmsNorm(600);
  v1::DescribeResponse described;
  grpc::ClientContext describing;
  ASSERT_TRUE(again.admin().Describe(&describing, describe, &described).ok());
  v1::DeleteRequest forgive;
  forgive.add_keys(
      described.plan().variants(0).recipe().steps(0).launch().key());
  v1::DeleteResponse deleted;
  grpc::ClientContext deleting;
  ASSERT_TRUE(again.admin().Delete(&deleting, forgive, &deleted).ok());
  EXPECT_TRUE(again.Get(RmsNorm(600)).ok());
}

TEST_F(WorkerFaultsTest, KillsFromOutsideAreNotTheKernelsFault) {
  StartFaultyDaemon();
  daemon().OrderFault("n=610", "kill", 6);
  for (int i = 0; i < 2; ++i) {
    const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(610));
    EXPECT_EQ(answer.code(), StatusCode::UNAVAILABLE) << answer.message();
  }
  EXPECT_TRUE(client().Get(RmsNorm(610)).ok());
  EXPECT_EQ(client().CounterOf("ingot_quarantined_total"), 0);
}

TEST_F(WorkerFaultsTest, KillOfAWorkerMidCompile) {
  StartFaultyDaemon();
  daemon().OrderFault("n=620", "hang", 1);
  Answer<v1::GetKernelResponse> answer;
  std::thread caller([&] { answer = client().Get(RmsNorm(620)); });
  // Killed before it hangs, the worker that retries would hang instead.
  while (daemon().FaultsMet() == 0) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  for (const pid_t worker : daemon().Workers()) kill(worker, SIGKILL);
  caller.join();
  EXPECT_TRUE(answer.ok()) << answer.message();
}

TEST_F(WorkerFaultsTest, EachWorkerKilledIdleIsReplaced) {
  StartDaemon();
  for (int round = 0; round < 3; ++round) {
    for (const pid_t worker : daemon().Workers()) kill(worker, SIGKILL);
    EXPECT_TRUE(client().Get(RmsNorm(630 + round)).ok());
  }
  EXPECT_EQ(client().CounterOf("ingot_compile_failures_total"), 0);
}

TEST_F(WorkerFaultsTest, HangsAreRefusedForAWhileOnly) {
  StartFaultyDaemon(
      {"--compile-timeout-seconds=3", "--transient-refusal-ttl-seconds=1"});
  daemon().OrderFault("n=640", "hang", 2);
  const Answer<v1::GetKernelResponse> hung = client().Get(RmsNorm(640));
  EXPECT_EQ(hung.code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(hung.message(), HasSubstr("wall time"));
  std::this_thread::sleep_for(milliseconds(1200));
  EXPECT_TRUE(client().Get(RmsNorm(640)).ok());
}

TEST_F(WorkerFaultsTest, MemoryIsRefusedForAWhileOnly) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's worker has no limit of address space";
#endif
  StartFaultyDaemon(
      {"--transient-refusal-ttl-seconds=1", "--worker-memory-mib=1024"});
  daemon().OrderFault("n=641", "memory", 2);
  const Answer<v1::GetKernelResponse> big = client().Get(RmsNorm(641));
  EXPECT_EQ(big.code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(big.message(), HasSubstr("out of memory"));
  std::this_thread::sleep_for(milliseconds(1200));
  EXPECT_TRUE(client().Get(RmsNorm(641)).ok());
}

TEST_F(WorkerFaultsTest, CpuTimeIsLimited) {
  StartFaultyDaemon({"--worker-cpu-seconds=1"});
  daemon().OrderFault("n=650", "spin", 2);
  const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(650));
  EXPECT_EQ(answer.code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(answer.message(), HasSubstr("CPU time"));
}

TEST_F(WorkerFaultsTest, BadObjectsAreNeitherStoredNorRemembered) {
  StartFaultyDaemon();
  int64_t n = 660;
  for (const char* fault : {"empty", "truncated", "machine"}) {
    daemon().OrderFault("n=" + std::to_string(n), fault, 1);
    const Answer<v1::GetKernelResponse> bad = client().Get(RmsNorm(n));
    EXPECT_EQ(bad.code(), StatusCode::INTERNAL) << fault;
    EXPECT_THAT(bad.message(), HasSubstr("repro bundle"));
    EXPECT_EQ(client().Stats().entries(), static_cast<uint64_t>(n - 660));
    EXPECT_TRUE(client().Get(RmsNorm(n)).ok()) << fault;
    ++n;
  }
}

TEST_F(WorkerFaultsTest, RefusalsOfTheCompilerAreRemembered) {
  StartFaultyDaemon();
  daemon().OrderFault("n=670", "refuse", 1);
  daemon().OrderFault("n=671", "internal", 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(client().Get(RmsNorm(670)).code(),
              StatusCode::FAILED_PRECONDITION);
    const Answer<v1::GetKernelResponse> internal = client().Get(RmsNorm(671));
    EXPECT_EQ(internal.code(), StatusCode::INTERNAL);
    EXPECT_THAT(internal.message(), HasSubstr("ordered by a test"));
    EXPECT_THAT(internal.message(), HasSubstr("repro bundle"));
  }
  EXPECT_EQ(client().CounterOf("ingot_compile_failures_total"), 2);
}

TEST_F(WorkerFaultsTest, ALargeObjectIsReadInChunks) {
  StartFaultyDaemon();
  daemon().OrderFault("n=680", "pad", 1);
  const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(680));
  ASSERT_TRUE(answer.ok()) << answer.message();
  const v1::Kernel& kernel = answer.response.kernels(0);
  EXPECT_TRUE(kernel.bytes_follow());
  EXPECT_TRUE(kernel.object().empty());
  ASSERT_GT(kernel.record().size(), 1u << 20);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{12345}}) {
    v1::ReadObjectRequest request;
    request.set_digest(kernel.record().digest());
    request.set_offset(offset);
    grpc::ClientContext context;
    auto reader = client().kernels().ReadObject(&context, request);
    std::string bytes;
    for (v1::ObjectChunk chunk; reader->Read(&chunk);) {
      EXPECT_EQ(chunk.offset(), offset + bytes.size());
      EXPECT_EQ(chunk.total(), kernel.record().size());
      EXPECT_LE(chunk.data().size(), 1u << 20);
      bytes += chunk.data();
    }
    ASSERT_TRUE(reader->Finish().ok());
    EXPECT_EQ(bytes.size(), kernel.record().size() - offset);
  }
}

TEST_F(WorkerFaultsTest, ADeadlineEndsTheWaitAndNotTheCompile) {
  StartFaultyDaemon();
  daemon().OrderFault("n=690", "sleep4000", 1);
  const Answer<v1::GetKernelResponse> late =
      client().Get(RequestOf(RmsNorm(690)), milliseconds(50));
  EXPECT_EQ(late.code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 0);
  const Answer<v1::GetKernelResponse> later = client().Get(RmsNorm(690));
  ASSERT_TRUE(later.ok()) << later.message();
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 1);
}

TEST_F(WorkerFaultsTest, HitsAreServedWhileWorkersHang) {
  StartFaultyDaemon();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const uint32_t workers = client().Stats().workers();
  std::vector<std::thread> callers;
  for (uint32_t i = 0; i < workers + 2; ++i) {
    daemon().OrderFault("n=" + std::to_string(700 + i), "hang");
    callers.emplace_back([&, i] { client().Get(RmsNorm(700 + i)); });
  }
  WaitUntil(workers, 2);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(client().Get(RmsNorm(64)).ok());
  }
  EXPECT_EQ(client().Stats().workers_busy(), workers);
  daemon().Kill();
  for (std::thread& caller : callers) caller.join();
}

TEST_F(WorkerFaultsTest, AFullQueueSaysWhenToComeBack) {
  StartFaultyDaemon({"--queue-capacity=8", "--workers=1", "--tcp=127.0.0.1:0"});
  daemon().OrderFault("dtype=bf16", "hang");
  std::vector<std::thread> callers;
  for (int i = 0; i < 7; ++i) {
    callers.emplace_back([&, i] { client().Get(RmsNorm(720 + i)); });
    // The first is a worker's before the others fill the queue.
    while (i == 0 && client().Stats().workers_busy() == 0) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  WaitUntil(1, 6);
  const auto expect_full = [](const Answer<v1::GetKernelResponse>& full,
                              const char* why) {
    EXPECT_EQ(full.code(), StatusCode::RESOURCE_EXHAUSTED) << full.message();
    EXPECT_THAT(full.message(), HasSubstr(why));
    EXPECT_THAT(full.status.error_details(), HasSubstr("google.rpc.RetryInfo"));
  };
  expect_full(client().Get(RmsNorm(750)), "allowed 6 of one client");
  // Another client finds room, until there is none at all.
  Client other(TcpAddress());
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&, i] { other.Get(RmsNorm(740 + i)); });
  }
  WaitUntil(1, 8);
  expect_full(other.Get(RmsNorm(751)), "8 waiting jobs, allowed 8");
  daemon().Kill();
  for (std::thread& caller : callers) caller.join();
}

TEST_F(WorkerFaultsTest, AWorkerOfAnotherBuildGetsNoWork) {
  StartFaultyDaemon({"--transient-refusal-ttl-seconds=0"});
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  daemon().OrderFault("hello", "other");
  const std::vector<pid_t> workers = daemon().Workers();
  for (const pid_t worker : workers) kill(worker, SIGKILL);
  const auto refused = [&] {
    return client().CounterOf("ingot_worker_start_failures_total") >=
           static_cast<double>(workers.size());
  };
  for (int i = 0; i < 3000 && !refused(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(65));
  EXPECT_EQ(answer.code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(answer.message(), HasSubstr("another build"));
  EXPECT_TRUE(client().Get(RmsNorm(64)).ok());  // hits need no worker
  v1::GetCapabilitiesResponse capabilities;
  grpc::ClientContext context;
  ASSERT_TRUE(
      client().kernels().GetCapabilities(&context, {}, &capabilities).ok());
  EXPECT_TRUE(capabilities.restart_pending());
}

TEST_F(WorkerFaultsTest, WorkersAreRecycled) {
  StartFaultyDaemon({"--worker-max-jobs=3", "--workers=1"});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(client().Get(RmsNorm(800 + i)).ok());
  EXPECT_EQ(client().CounterOf("ingot_worker_recycled_total"), 3);
  EXPECT_EQ(client().CounterOf("ingot_compile_retries_total"), 0);
}

TEST_F(WorkerFaultsTest, AWarmUpThatNobodyWaitsForIsDropped) {
  StartFaultyDaemon({"--workers=1"});
  daemon().OrderFault("n=820", "hang", 1);
  std::thread busy([&] { client().Get(RmsNorm(820)); });
  WaitUntil(1, 0);
  v1::GetKernelRequest warmup = RequestOf(RmsNorm(821));
  warmup.set_priority(v1::PRIORITY_WARMUP);
  std::thread gone([&] {
    EXPECT_EQ(client().Get(warmup, seconds(5)).code(),
              StatusCode::DEADLINE_EXCEEDED);
  });
  WaitUntil(1, 1);
  gone.join();
  WaitUntil(1, 0);  // while the only worker still hangs
  daemon().Kill();
  busy.join();
}

}  // namespace
}  // namespace ingot::server
