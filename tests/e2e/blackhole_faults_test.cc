// A middlebox that loses a connection and tells nobody: the call on it ends in
// an error within its budget, nobody else suffers, and once the way is clear
// again the same client goes on.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/src/channel.h"
#include "gmock/gmock.h"
#include "ingot/v1/kernels.pb.h"
#include "tests/e2e/client_fixture.h"
#include "tests/support/blackhole_proxy.h"

namespace ingot::testing {
namespace {

using Clock = std::chrono::steady_clock;
using Moment = BlackholeProxy::Moment;

constexpr int64_t kBudgetMs = 1000;
// The budget and a busy machine's delays; far below the 120 s that a call may
// take when nobody says anything.
constexpr std::chrono::seconds kWithin(30);

class BlackholeTest : public ClientFixture {
 protected:
  BlackholeTest() { setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1); }

  void SetUp() override {
    DaemonOptions options;
    options.faulty_workers = true;
    auto daemon = Daemon::Start(options);
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    proxy_ = std::make_unique<BlackholeProxy>(daemon_->socket() + ".proxy",
                                              daemon_->socket());
    address_ = proxy_->address();
  }

  // One prepare of a kernel that the client does not know.
  ingot_status Ask(Client* client, int64_t n, int64_t budget_ms = 60000) {
    client::OwnedSpec spec = RmsNormSpec(1, n);
    ingot_prepare_options options = {sizeof(options)};
    options.timeout_ms = budget_ms;
    Prepared prepared;
    return client->Prepare(spec.spec(), &options, &prepared);
  }

  // Known in the daemon from here on, so that its answer takes no compile,
  // which a sanitizer on a busy machine may stretch beyond the budget.
  void MakeKnown(int64_t n) {
    address_ = daemon_->address();
    Client direct = NewClient();
    EXPECT_EQ(Ask(&direct, n), INGOT_OK) << ingot_last_error();
    address_ = proxy_->address();
  }

  void ExpectEndsInBudget(Client* client, int64_t n) {
    const auto start = Clock::now();
    EXPECT_EQ(Ask(client, n, kBudgetMs), INGOT_DEADLINE_EXCEEDED)
        << ingot_last_error();
    EXPECT_LT(Clock::now() - start, kWithin);
  }

  std::unique_ptr<BlackholeProxy> proxy_;
};

class LostAt : public BlackholeTest,
               public ::testing::WithParamInterface<Moment> {};

TEST_P(LostAt, TheCallEndsAndTheNextOneIsServed) {
  MakeKnown(64);
  Client client = NewClient();
  proxy_->LoseNextAt(GetParam());
  ExpectEndsInBudget(&client, 64);
  EXPECT_EQ(proxy_->lost(), 1);

  // Others never noticed, nor does the same client once the way is clear.
  proxy_->LoseNextAt(Moment::kNever);
  Client other = NewClient();
  EXPECT_EQ(Ask(&other, 64), INGOT_OK) << ingot_last_error();
  EXPECT_EQ(Ask(&client, 64), INGOT_OK) << ingot_last_error();
  EXPECT_EQ(proxy_->lost(), 1);
}

INSTANTIATE_TEST_SUITE_P(Moments, LostAt,
                         ::testing::Values(Moment::kAtOnce,
                                           Moment::kBeforeHeaders,
                                           Moment::kMidReply));

TEST_F(BlackholeTest, AnIdleConnectionThatWasLostCostsOneBudget) {
  Client client = NewClient();
  ASSERT_EQ(Ask(&client, 64), INGOT_OK) << ingot_last_error();
  proxy_->LoseAll();
  ExpectEndsInBudget(&client, 128);
  EXPECT_EQ(Ask(&client, 128), INGOT_OK) << ingot_last_error();
  EXPECT_EQ(proxy_->accepted(), 2);
}

TEST_F(BlackholeTest, AnObjectThatComesInChunksIsGivenUpHalfWay) {
  daemon_->OrderFault("n=192", "pad", 1);  // more than 1 MiB: chunks
  MakeKnown(192);
  Client client = NewClient();
  // Its answer has one frame, and the chunks come next.
  proxy_->LoseNextAt(Moment::kMidReply);
  ExpectEndsInBudget(&client, 192);
  proxy_->LoseNextAt(Moment::kNever);
  EXPECT_EQ(Ask(&client, 192), INGOT_OK) << ingot_last_error();
}

TEST_F(BlackholeTest, ACallBesideTheLostOneIsServed) {
  Client client = NewClient();
  proxy_->LoseNextAt(Moment::kAtOnce);
  ingot_status lost = INGOT_OK;
  std::thread caller([&] { lost = Ask(&client, 64, 5000); });
  while (proxy_->lost() == 0) std::this_thread::yield();
  proxy_->LoseNextAt(Moment::kNever);
  for (int64_t n = 128; n < 136; ++n) {
    EXPECT_EQ(Ask(&client, n), INGOT_OK) << ingot_last_error();
  }
  EXPECT_EQ(proxy_->accepted(), 2);  // the lost one, and one for all of these
  caller.join();
  EXPECT_EQ(lost, INGOT_DEADLINE_EXCEEDED);
}

// One GetKernels of `lookups` lookups over a connection of its own: how many
// were answered with OK.
int Answered(const std::string& address, int lookups, int64_t budget_ms) {
  v1::GetKernelsRequest batch;
  for (int i = 0; i < lookups; ++i) {
    v1::GetKernelRequest* request = batch.add_requests();
    request->set_api_version(1);
    request->set_omit_bytes(true);
    v1::Spec* spec = request->mutable_spec();
    spec->set_op("rmsnorm");
    spec->set_target("gfx950");
    spec->add_dims()->set_name("rows");
    v1::Dim* n = spec->add_dims();
    n->set_name("n");
    n->set_value(64 + 8 * (i % 50));
    for (const char* name : {"x", "y"}) {
      v1::Operand* operand = spec->add_operands();
      operand->set_name(name);
      operand->set_dtype("bf16");
    }
  }
  const std::string bytes = batch.SerializeAsString();
  client::ChannelOptions options;
  EXPECT_TRUE(client::ParseAddress(address, &options.address).ok());
  client::Channel channel(options);
  int answered = 0;
  client::Call call;
  call.method = "/ingot.v1.Kernels/GetKernels";
  call.request = reinterpret_cast<const uint8_t*>(bytes.data());
  call.request_size = bytes.size();
  call.deadline = client::Deadline::After(budget_ms);
  call.on_message = [&](const uint8_t* data, size_t size) {
    v1::GetKernelsResponse response;
    EXPECT_TRUE(response.ParseFromArray(data, static_cast<int>(size)));
    for (const v1::IndexedResult& result : response.results()) {
      answered += result.code() == 0 ? 1 : 0;
    }
    return client::Status();
  };
  channel.Invoke(call);
  return answered;
}

TEST_F(BlackholeTest, ARunOfManyConnectionsEndsThoughRepliesAreLost) {
  constexpr int kConnections = 128;
  constexpr int kLost = 3;
  constexpr int kLookups = 400;
  std::vector<std::thread> threads;
  std::atomic<int> whole = 0;
  std::atomic<int> cut = 0;
  const auto start = [&](int64_t budget_ms) {
    threads.emplace_back([&, budget_ms] {
      const int answered = Answered(address_, kLookups, budget_ms);
      (answered == kLookups ? whole : cut).fetch_add(1);
    });
  };
  proxy_->LoseNextAt(Moment::kMidReply);
  for (int i = 0; i < kLost; ++i) start(5000);
  while (proxy_->lost() < kLost) std::this_thread::yield();
  proxy_->LoseNextAt(Moment::kNever);
  for (int i = kLost; i < kConnections; ++i) start(120000);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole.load(), kConnections - kLost);
  EXPECT_EQ(cut.load(), kLost);
}

}  // namespace
}  // namespace ingot::testing
