// GetKernel and GetKernels against a real daemon with real workers.
#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "compiler/sha256.h"
#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class LookupTest : public DaemonTest {
 protected:
  void SetUp() override { StartDaemon(); }
};

TEST_F(LookupTest, ColdThenWarm) {
  const Answer<v1::GetKernelResponse> cold = client().Get(RmsNorm(4096));
  ASSERT_TRUE(cold.ok()) << cold.message();
  ASSERT_THAT(cold.response.kernels(), SizeIs(1));
  const v1::Kernel& kernel = cold.response.kernels(0);
  EXPECT_EQ(kernel.source(), v1::SOURCE_COMPILED);
  EXPECT_GT(cold.response.compile_us(), 0u);
  EXPECT_EQ(Sha256(kernel.object()), kernel.record().digest());
  EXPECT_EQ(Sha256(kernel.record().key_encoding()), kernel.record().key());
  EXPECT_EQ(kernel.record().description().target(), "gfx950");
  ASSERT_THAT(cold.response.plan().variants(), SizeIs(1));
  const v1::Launch& launch =
      cold.response.plan().variants(0).recipe().steps(0).launch();
  EXPECT_EQ(launch.key(), kernel.record().key());
  EXPECT_EQ(launch.symbol(), kernel.record().description().symbol());

  // The second is a hit in memory, the third the whole reply, kept.
  for (int i = 0; i < 2; ++i) {
    const Answer<v1::GetKernelResponse> warm = client().Get(RmsNorm(4096));
    ASSERT_TRUE(warm.ok()) << warm.message();
    EXPECT_EQ(warm.response.kernels(0).source(), v1::SOURCE_MEMORY);
    EXPECT_EQ(warm.response.compile_us(), 0u);
    EXPECT_EQ(warm.response.kernels(0).object(), kernel.object());
    EXPECT_EQ(warm.response.plan().SerializeAsString(),
              cold.response.plan().SerializeAsString());
  }
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 1);
}

TEST_F(LookupTest, AStoreHitAfterARestart) {
  ASSERT_TRUE(client().Get(RmsNorm(1024)).ok());
  ASSERT_EQ(daemon().Terminate().value_or(-1), 0) << daemon().Log();
  ASSERT_TRUE(daemon().Restart().ok());
  Client again(daemon().address());
  const Answer<v1::GetKernelResponse> hit = again.Get(RmsNorm(1024));
  ASSERT_TRUE(hit.ok()) << hit.message();
  EXPECT_EQ(hit.response.kernels(0).source(), v1::SOURCE_STORE);
  EXPECT_EQ(again.CounterOf("ingot_compiles_total"), 0);
}

TEST_F(LookupTest, WarmUpWithNoGpuMeetsTheRun) {
  v1::GetKernelRequest warmup = RequestOf(RmsNorm(2048));
  warmup.set_priority(v1::PRIORITY_WARMUP);
  warmup.set_omit_bytes(true);
  const Answer<v1::GetKernelResponse> warmed = client().Get(warmup);
  ASSERT_TRUE(warmed.ok()) << warmed.message();
  EXPECT_TRUE(warmed.response.kernels(0).object().empty());

  v1::Spec spec = RmsNorm(2048);
  spec.mutable_dims(0)->set_value(17);  // rows: selects, is never baked
  const Answer<v1::GetKernelResponse> run = client().Get(spec);
  ASSERT_TRUE(run.ok()) << run.message();
  EXPECT_EQ(run.response.kernels(0).source(), v1::SOURCE_MEMORY);
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 1);
}

TEST_F(LookupTest, TargetIsCanonicalised) {
  v1::Spec spec = RmsNorm(64);
  spec.set_target("GFX950:xnack-:sramecc+");
  const Answer<v1::GetKernelResponse> answer = client().Get(spec);
  ASSERT_TRUE(answer.ok()) << answer.message();
  EXPECT_EQ(answer.response.plan().resolved_spec().target(),
            "gfx950:sramecc+:xnack-");
}

TEST_F(LookupTest, HeldAndOmittedBytesAreNotSent) {
  const Answer<v1::GetKernelResponse> first = client().Get(RmsNorm(256));
  ASSERT_TRUE(first.ok()) << first.message();
  v1::GetKernelRequest held = RequestOf(RmsNorm(256));
  held.add_held_digests(std::string(32, 'x'));
  held.add_held_digests(first.response.kernels(0).record().digest());
  v1::GetKernelRequest omitted = RequestOf(RmsNorm(256));
  omitted.set_omit_bytes(true);
  for (const v1::GetKernelRequest& request : {held, omitted}) {
    const Answer<v1::GetKernelResponse> answer = client().Get(request);
    ASSERT_TRUE(answer.ok()) << answer.message();
    EXPECT_TRUE(answer.response.kernels(0).object().empty());
    EXPECT_FALSE(answer.response.kernels(0).bytes_follow());
    EXPECT_EQ(answer.response.kernels(0).record().digest(),
              first.response.kernels(0).record().digest());
  }
}

TEST_F(LookupTest, PlanOnlyCompilesNothing) {
  v1::GetKernelRequest request = RequestOf(RmsNorm(512));
  request.set_fetch(v1::FETCH_PLAN_ONLY);
  const Answer<v1::GetKernelResponse> answer = client().Get(request);
  ASSERT_TRUE(answer.ok()) << answer.message();
  EXPECT_THAT(answer.response.kernels(), SizeIs(0));
  EXPECT_GE(answer.response.plan().variants_size(), 1);
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 0);
}

TEST_F(LookupTest, FetchesTheListedVariant) {
  v1::Spec spec = RmsNorm(256);
  for (v1::Operand& operand : *spec.mutable_operands()) {
    operand.set_stride_mode(v1::STRIDE_MODE_DYNAMIC);
  }
  v1::GetKernelRequest request = RequestOf(spec);
  request.set_fetch(v1::FETCH_LISTED);
  request.add_variants(1);
  const Answer<v1::GetKernelResponse> one = client().Get(request);
  ASSERT_TRUE(one.ok()) << one.message();
  ASSERT_THAT(one.response.plan().variants(), SizeIs(2));
  ASSERT_THAT(one.response.kernels(), SizeIs(1));
  EXPECT_EQ(one.response.kernels(0).record().key(),
            one.response.plan().variants(1).recipe().steps(0).launch().key());
  EXPECT_THAT(client().Get(spec).response.kernels(), SizeIs(2));

  request.add_variants(2);
  const Answer<v1::GetKernelResponse> bad = client().Get(request);
  EXPECT_EQ(bad.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(bad.message(), HasSubstr("variants: found 2, allowed 0 to 1"));
}

TEST_F(LookupTest, SixtyFourClientsOneKeyOneCompile) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      Client own(daemon().address());
      if (own.Get(RmsNorm(8192)).ok()) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 64);
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 1);
}

TEST_F(LookupTest, ManyKeysUseAllWorkers) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  std::atomic<bool> done{false};
  uint32_t busiest = 0;
  std::thread watcher([&] {
    while (!done) {
      busiest = std::max(busiest, client().Stats().workers_busy());
    }
  });
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&, i] {
      Client own(daemon().address());
      if (own.Get(RmsNorm(1000 + i)).ok()) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  watcher.join();
  EXPECT_EQ(good.load(), 64);
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 64);
  EXPECT_EQ(busiest, client().Stats().workers());
}

TEST_F(LookupTest, BatchAnswersEachOnItsOwn) {
  ASSERT_TRUE(client().Get(RmsNorm(100)).ok());
  v1::GetKernelsRequest request;
  for (const int64_t n : {100, 101, 0, 102}) {
    *request.add_requests() = RequestOf(RmsNorm(n));
  }
  request.mutable_requests(1)->set_priority(v1::PRIORITY_WARMUP);
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::GetKernelsResponse>> reader =
      client().kernels().GetKernels(&context, request);
  std::map<uint32_t, v1::IndexedResult> results;
  for (v1::GetKernelsResponse message; reader->Read(&message);) {
    for (const v1::IndexedResult& result : message.results()) {
      EXPECT_TRUE(results.emplace(result.index(), result).second);
    }
  }
  ASSERT_TRUE(reader->Finish().ok());
  ASSERT_THAT(results, SizeIs(4));
  EXPECT_EQ(results[0].response().kernels(0).source(), v1::SOURCE_MEMORY);
  EXPECT_EQ(results[1].response().kernels(0).source(), v1::SOURCE_COMPILED);
  EXPECT_EQ(results[2].code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(results[2].message(), HasSubstr("n"));
  EXPECT_FALSE(results[2].has_response());
  EXPECT_EQ(results[3].response().kernels(0).source(), v1::SOURCE_COMPILED);
}

TEST_F(LookupTest, BatchOfThousandsOfLookups) {
  ASSERT_TRUE(client().Get(RmsNorm(128)).ok());
  v1::GetKernelsRequest request;
  for (int i = 0; i < 5000; ++i) {
    *request.add_requests() = RequestOf(RmsNorm(128));
    request.mutable_requests(i)->set_request_id(std::to_string(i));
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::GetKernelsResponse>> reader =
      client().kernels().GetKernels(&context, request);
  std::set<uint32_t> seen;
  int messages = 0;
  for (v1::GetKernelsResponse message; reader->Read(&message); ++messages) {
    for (const v1::IndexedResult& result : message.results()) {
      EXPECT_EQ(result.code(), 0);
      seen.insert(result.index());
    }
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(seen, SizeIs(5000));
  EXPECT_LT(messages, 1000);
}

TEST_F(LookupTest, ABatchLargerThanTheQueueIsAllBuilt) {
  v1::GetKernelsRequest request;
  for (int i = 0; i < 100; ++i) {
    *request.add_requests() = RequestOf(RmsNorm(3000 + i));
    request.mutable_requests(i)->set_omit_bytes(true);
    request.mutable_requests(i)->set_priority(v1::PRIORITY_WARMUP);
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::GetKernelsResponse>> reader =
      client().kernels().GetKernels(&context, request);
  int good = 0;
  for (v1::GetKernelsResponse message; reader->Read(&message);) {
    for (const v1::IndexedResult& result : message.results()) {
      good += result.code() == 0 ? 1 : 0;
    }
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(good, 100);
}

TEST_F(LookupTest, MessagesOfABatchStaySmall) {
  // All wait for the same kernels, so all answers are ready at once.
  v1::GetKernelsRequest request;
  for (int i = 0; i < 60; ++i) {
    *request.add_requests() = RequestOf(RmsNorm(3500));
    v1::Operand* weight =
        request.mutable_requests(i)->mutable_spec()->add_operands();
    weight->set_name("weight");
    weight->set_dtype("bf16");
    request.mutable_requests(i)->set_request_id(std::to_string(i));
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::GetKernelsResponse>> reader =
      client().kernels().GetKernels(&context, request);
  int good = 0;
  size_t largest_result = 0;
  size_t largest_message = 0;
  for (v1::GetKernelsResponse message; reader->Read(&message);) {
    largest_message = std::max(largest_message, message.ByteSizeLong());
    for (const v1::IndexedResult& result : message.results()) {
      good += result.code() == 0 ? 1 : 0;
      largest_result = std::max(largest_result, result.ByteSizeLong());
    }
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(good, 60);
  EXPECT_GT(60 * largest_result, size_t{400} << 10);  // else nothing is shown
  EXPECT_LE(largest_message, (size_t{257} << 10) + largest_result);
}

TEST_F(LookupTest, APinnedEpochIsKeptOrRefused) {
  v1::GetKernelRequest request = RequestOf(RmsNorm(64));
  request.set_pin_epoch(1);
  const Answer<v1::GetKernelResponse> kept = client().Get(request);
  ASSERT_TRUE(kept.ok()) << kept.message();
  EXPECT_EQ(kept.response.plan().epoch(), 1u);
  request.set_pin_epoch(99);
  EXPECT_EQ(client().Get(request).code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace ingot::server
