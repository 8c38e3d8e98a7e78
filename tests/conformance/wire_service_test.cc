// Our client's transport against the real gRPC server.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/wire_fixture.h"
#include "tests/support/blackhole_proxy.h"

namespace ingot::testing {
namespace {

using client::Status;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using Clock = std::chrono::steady_clock;

// What should end at once or at its budget must end well before what it would
// otherwise wait for: a sleep of 20 s, or the default deadline.
constexpr int64_t kFarBelowTheSleep = 12000;

int64_t Milliseconds(Clock::time_point since) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() -
                                                               since)
      .count();
}

TEST_F(WireTest, UnaryOverUnixAndTcp) {
  for (const std::string& address : {Socket(), std::string("127.0.0.1:0")}) {
    ReferenceServer server(address);
    const auto channel = Open(server.address());
    for (int i = 1; i <= 100; ++i) {
      v1::GetKernelResponse response;
      const Status status = Call(channel.get(), "", &response);
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_EQ(response.compile_us(), static_cast<uint64_t>(i));
    }
    EXPECT_EQ(channel->stats().connections.load(), 1u);
  }
}

TEST_F(WireTest, AuthorityIsNeverASocketPath) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  ASSERT_TRUE(Call(channel.get(), "").ok());
  EXPECT_EQ(server.seen().authority, "localhost");
}

TEST_F(WireTest, TheServerLearnsTheDeadline) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  v1::GetKernelResponse response;
  ASSERT_TRUE(Call(channel.get(), "", &response, 7000).ok());
  EXPECT_THAT(server.seen().deadline_ms.load(), AllOf(Ge(5000), Le(7100)));
}

TEST_F(WireTest, EveryCodeArrivesWithItsMessage) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  for (int code = 1; code <= 16; ++code) {
    if (code == INGOT_UNAVAILABLE) continue;  // repeated; see below
    const std::string text = "100% of \"\xc3\xa4\xe2\x82\xac\"\ta\x01b";
    const Status status =
        Call(channel.get(), "code " + std::to_string(code) + " " + text);
    EXPECT_EQ(status.code, code);
    EXPECT_EQ(status.message, text);
  }
  EXPECT_EQ(server.seen().calls.load(), 15);
  EXPECT_EQ(channel->stats().connections.load(), 1u);
}

TEST_F(WireTest, ErrorsThatPassAreRepeated) {
  for (const int code : {INGOT_UNAVAILABLE, INGOT_RESOURCE_EXHAUSTED}) {
    ReferenceServer server(Socket());
    const auto channel = Open(server.address());
    const Status status =
        Call(channel.get(), "fail " + std::to_string(code) + " 2");
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(server.seen().calls.load(), 3);
    EXPECT_EQ(channel->stats().retries.load(), 2u);
  }
}

TEST_F(WireTest, ErrorsThatStayAreNot) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  EXPECT_EQ(Call(channel.get(), "code 8 message too large").code,
            INGOT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(server.seen().calls.load(), 1);
}

TEST_F(WireTest, DeadlinesEndCallsOnTime) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  v1::GetKernelResponse response;
  const auto start = Clock::now();
  const Status status = Call(channel.get(), "sleep 20000", &response, 200);
  EXPECT_EQ(status.code, INGOT_DEADLINE_EXCEEDED) << status.message;
  EXPECT_THAT(Milliseconds(start), AllOf(Ge(190), Le(kFarBelowTheSleep)));
  EXPECT_TRUE(Call(channel.get(), "").ok());
}

TEST_F(WireTest, ASpentBudgetSendsNothing) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  ASSERT_TRUE(Call(channel.get(), "").ok());
  v1::GetKernelResponse response;
  EXPECT_EQ(Call(channel.get(), "", &response, 0).code,
            INGOT_DEADLINE_EXCEEDED);
  EXPECT_EQ(server.seen().calls.load(), 1);
}

TEST_F(WireTest, MessagesOfAnySizeComeThrough) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  for (const double mebibytes : {3.9, 4.0, 4.1, 64.0}) {
    const auto bytes = static_cast<int64_t>(mebibytes * (1 << 20));
    v1::GetKernelResponse response;
    const Status status =
        Call(channel.get(), "bytes " + std::to_string(bytes), &response);
    ASSERT_TRUE(status.ok()) << status.message;
    const std::string& object = response.kernels(0).object();
    ASSERT_EQ(static_cast<int64_t>(object.size()), bytes);
    for (const size_t at : {size_t{0}, object.size() / 2, object.size() - 1}) {
      EXPECT_EQ(object[at], static_cast<char>(at * 7));
    }
  }
}

TEST_F(WireTest, LargeRequestsRespectTheServersWindowAndLimit) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  v1::GetKernelResponse response;
  const Status fits =
      Call(channel.get(), "", &response, 20000, std::string(3 << 20, 'x'));
  EXPECT_TRUE(fits.ok()) << fits.message;
  EXPECT_GE(server.seen().request_bytes.load(), 3 << 20);
  const Status large =
      Call(channel.get(), "", &response, 20000, std::string(100 << 20, 'x'));
  EXPECT_EQ(large.code, INGOT_RESOURCE_EXHAUSTED) << large.message;
  EXPECT_EQ(server.seen().calls.load(), 1);
  EXPECT_TRUE(Call(channel.get(), "").ok());
}

TEST_F(WireTest, StreamsAreReadWholeAndInOrder) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  int64_t bytes = 0;
  const Status status = Send(
      channel.get(), "/ingot.v1.Kernels/ReadObject", v1::ReadObjectRequest(),
      60000, [&](const uint8_t* data, size_t size) {
        v1::ObjectChunk chunk;
        EXPECT_TRUE(chunk.ParseFromArray(data, static_cast<int>(size)));
        EXPECT_EQ(static_cast<int64_t>(chunk.offset()), bytes);
        bytes += static_cast<int64_t>(chunk.data().size());
        return Status();
      });
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(bytes, kReferenceObjectBytes);
}

TEST_F(WireTest, ASlowReaderHoldsTheStreamBack) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  int chunks = 0;
  const Status status =
      Send(channel.get(), "/ingot.v1.Kernels/ReadObject",
           v1::ReadObjectRequest(), 60000, [&](const uint8_t*, size_t) {
             if (++chunks % 8 == 0) {
               std::this_thread::sleep_for(std::chrono::milliseconds(5));
             }
             return Status();
           });
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(chunks, 64);
}

TEST_F(WireTest, StreamsEndWithTheServersError) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  v1::GetKernelsRequest request;
  request.add_requests();
  request.add_requests();
  request.add_requests()->set_request_id("code 13 half way");
  int messages = 0;
  const Status status = Send(channel.get(), "/ingot.v1.Kernels/GetKernels",
                             request, 20000, [&](const uint8_t*, size_t) {
                               ++messages;
                               return Status();
                             });
  EXPECT_EQ(status.code, INGOT_INTERNAL);
  EXPECT_EQ(status.message, "half way");
  EXPECT_EQ(messages, 2);
}

TEST_F(WireTest, AReaderThatGivesUpLeavesTheNextCallAlone) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  const Status status =
      Send(channel.get(), "/ingot.v1.Kernels/ReadObject",
           v1::ReadObjectRequest(), 20000, [&](const uint8_t*, size_t) {
             return client::Error(INGOT_DATA_LOSS, "enough");
           });
  EXPECT_EQ(status.code, INGOT_DATA_LOSS);
  EXPECT_TRUE(Call(channel.get(), "").ok());
}

TEST_F(WireTest, AServersFarewellCostsNoCall) {
  ReferenceServer server(Socket(), /*max_connection_age_ms=*/50);
  const auto channel = Open(server.address());
  int calls = 0;
  while (calls < 5000 && channel->stats().connections.load() < 6) {
    const Status status =
        Call(channel.get(), calls % 20 == 0 ? "sleep 20" : "");
    ASSERT_TRUE(status.ok()) << "call " << calls << ": " << status.message;
    ++calls;
  }
  EXPECT_GE(channel->stats().connections.load(), 6u);
}

TEST_F(WireTest, ManyThreadsShareAChannel) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        if (Call(channel.get(), "").ok()) good.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 16 * 50);
}

TEST_F(WireTest, AHitDoesNotWaitBehindAColdCompile) {
  ReferenceServer server(Socket());
  const auto channel = Open(server.address());
  std::atomic<bool> compiled = false;
  std::thread cold([&] {
    EXPECT_TRUE(Call(channel.get(), "sleep 3000").ok());
    compiled = true;
  });
  while (server.seen().calls.load() == 0) std::this_thread::yield();
  EXPECT_TRUE(Call(channel.get(), "").ok());
  EXPECT_FALSE(compiled.load());
  cold.join();
}

TEST_F(WireTest, NobodyThereIsKnownAtOnce) {
  const auto start = Clock::now();
  for (const std::string& address : {Socket(), std::string("127.0.0.1:1")}) {
    const Status status = Call(Open(address).get(), "");
    EXPECT_EQ(status.code, INGOT_UNAVAILABLE);
    EXPECT_THAT(status.message, HasSubstr(address));
  }
  EXPECT_LT(Milliseconds(start), kFarBelowTheSleep);
}

TEST_F(WireTest, ARestartedServerIsFoundAgain) {
  auto server = std::make_unique<ReferenceServer>(Socket());
  const auto channel = Open(Socket());
  ASSERT_TRUE(Call(channel.get(), "").ok());
  server.reset();
  server = std::make_unique<ReferenceServer>(Socket());
  const Status status = Call(channel.get(), "");
  EXPECT_TRUE(status.ok()) << status.message;
  server->Stop();
  const auto start = Clock::now();
  EXPECT_EQ(Call(channel.get(), "").code, INGOT_UNAVAILABLE);
  EXPECT_LT(Milliseconds(start), kFarBelowTheSleep);
}

TEST_F(WireTest, AServerThatStopsEndsOpenCalls) {
  ReferenceServer server(Socket());
  const auto channel = Open(Socket());
  std::thread stopper([&] {
    while (server.seen().calls.load() == 0) std::this_thread::yield();
    std::filesystem::remove(folder_ + "/s");
    server.Stop();
  });
  const auto start = Clock::now();
  const Status status = Call(channel.get(), "sleep 20000");
  stopper.join();
  EXPECT_TRUE(status.code == INGOT_UNAVAILABLE ||
              status.code == INGOT_CANCELLED)
      << status.code << " " << status.message;
  EXPECT_LT(Milliseconds(start), kFarBelowTheSleep);
}

// Accepts and never says a word, as a middlebox does that lost the connection.
class SilentListener {
 public:
  explicit SilentListener(const std::string& path) {
    fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
              0);
    EXPECT_EQ(listen(fd_, 16), 0);
  }
  ~SilentListener() { close(fd_); }

 private:
  int fd_;
};

TEST_F(WireTest, APeerThatSwallowsEverythingEndsAtTheBudget) {
  const SilentListener listener(folder_ + "/s");
  const auto channel = Open(Socket());
  v1::GetKernelResponse response;
  const auto start = Clock::now();
  EXPECT_EQ(Call(channel.get(), "", &response, 300).code,
            INGOT_DEADLINE_EXCEEDED);
  EXPECT_THAT(Milliseconds(start), AllOf(Ge(290), Le(kFarBelowTheSleep)));
}

TEST_F(WireTest, SilenceAfterAFarewellEndsAtTheBudgetToo) {
  constexpr int kFarewellMs = 200;
  ReferenceServer server(Socket(), kFarewellMs);
  BlackholeProxy proxy(folder_ + "/proxy", folder_ + "/s");
  const auto channel = Open(proxy.address());
  proxy.LoseNextAt(BlackholeProxy::Moment::kAfterGoaway);
  v1::GetKernelResponse response;
  const auto start = Clock::now();
  EXPECT_EQ(Call(channel.get(), "sleep 1000", &response, 2000).code,
            INGOT_DEADLINE_EXCEEDED);
  EXPECT_LT(Milliseconds(start), kFarBelowTheSleep);
  EXPECT_EQ(proxy.lost(), 1);
  proxy.LoseNextAt(BlackholeProxy::Moment::kNever);
  EXPECT_TRUE(Call(channel.get(), "").ok());
  EXPECT_EQ(proxy.accepted(), 2);
}

}  // namespace
}  // namespace ingot::testing
