// The Admin service, and the services that gRPC itself brings.
#include <set>

#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class AdminTest : public DaemonTest {
 protected:
  void SetUp() override { StartDaemon(); }

  v1::Record Make(int64_t n) {
    const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(n));
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.ok() ? answer.response.kernels(0).record() : v1::Record();
  }

  template <typename Request, typename Response>
  Answer<Response> Call(grpc::Status (v1::Admin::Stub::*method)(
                            grpc::ClientContext*, const Request&, Response*),
                        const Request& request) {
    Answer<Response> answer;
    grpc::ClientContext context;
    answer.status =
        (client().admin().*method)(&context, request, &answer.response);
    return answer;
  }
};

TEST_F(AdminTest, StatsCount) {
  Make(64);
  Make(64);
  const v1::StatsResponse stats = client().Stats();
  EXPECT_EQ(stats.entries(), 1u);
  EXPECT_GT(stats.store_bytes(), 1000u);
  EXPECT_GT(stats.daemon_rss_bytes(), 1u << 20);
  EXPECT_GE(stats.workers(), 1u);
  EXPECT_FALSE(stats.version().empty());
  EXPECT_EQ(client().CounterOf(
                R"(ingot_requests_total{op="rmsnorm",target="gfx950",result="compiled"})"),
            1);
  EXPECT_EQ(client().CounterOf(
                R"(ingot_requests_total{op="rmsnorm",target="gfx950",result="hit_memory"})"),
            1);
}

TEST_F(AdminTest, ListPages) {
  std::set<std::string> made;
  for (int i = 0; i < 5; ++i) made.insert(Make(64 + i).key());
  std::set<std::string> listed;
  v1::ListRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    const auto page = Call(&v1::Admin::Stub::List, request);
    ASSERT_TRUE(page.ok()) << page.message();
    EXPECT_LE(page.response.entries_size(), 2);
    for (const v1::ListEntry& entry : page.response.entries()) {
      EXPECT_EQ(entry.op(), "rmsnorm");
      EXPECT_TRUE(listed.insert(entry.key()).second);
    }
    request.set_page_token(page.response.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, made);
  EXPECT_EQ(pages, 3);

  v1::ListRequest other;
  other.set_op("gemm");
  EXPECT_THAT(Call(&v1::Admin::Stub::List, other).response.entries(),
              SizeIs(0));
  other.set_page_size(10001);
  EXPECT_EQ(Call(&v1::Admin::Stub::List, other).code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(AdminTest, DescribeTellsWhatIsThere) {
  v1::DescribeRequest request;
  *request.mutable_spec() = RmsNorm(320);
  const auto before = Call(&v1::Admin::Stub::Describe, request);
  ASSERT_TRUE(before.ok()) << before.message();
  ASSERT_THAT(before.response.present(), SizeIs(1));
  EXPECT_FALSE(before.response.present(0));
  EXPECT_THAT(before.response.canonical_text(), HasSubstr("dim n 320"));
  EXPECT_EQ(client().CounterOf("ingot_compiles_total"), 0);
  Make(320);
  EXPECT_TRUE(Call(&v1::Admin::Stub::Describe, request).response.present(0));
}

TEST_F(AdminTest, InspectShowsRegistersAndCode) {
  const v1::Record record = Make(4096);
  v1::InspectRequest by_key;
  by_key.set_key(record.key());
  by_key.set_disassemble(true);
  const auto inspected = Call(&v1::Admin::Stub::Inspect, by_key);
  ASSERT_TRUE(inspected.ok()) << inspected.message();
  EXPECT_EQ(inspected.response.record().digest(), record.digest());
  EXPECT_GT(inspected.response.record().description().vgprs(), 0u);
  EXPECT_GT(inspected.response.occupancy_waves_per_simd(), 0u);
  EXPECT_THAT(inspected.response.disassembly(), HasSubstr("s_endpgm"));

  v1::InspectRequest by_digest;
  by_digest.set_digest(record.digest());
  EXPECT_EQ(Call(&v1::Admin::Stub::Inspect, by_digest).response.record().key(),
            record.key());
  by_digest.set_digest(std::string(32, 'x'));
  EXPECT_EQ(Call(&v1::Admin::Stub::Inspect, by_digest).code(),
            StatusCode::NOT_FOUND);
  by_key.set_key("short");
  EXPECT_EQ(Call(&v1::Admin::Stub::Inspect, by_key).code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(AdminTest, DeletedKernelsAreBuiltAgain) {
  const v1::Record record = Make(192);
  Make(192);  // now the whole reply is kept, too
  v1::DeleteRequest request;
  request.add_keys(record.key());
  request.add_keys(std::string(32, 'x'));
  const auto deleted = Call(&v1::Admin::Stub::Delete, request);
  ASSERT_TRUE(deleted.ok()) << deleted.message();
  EXPECT_EQ(deleted.response.deleted(), 1u);
  const Answer<v1::GetKernelResponse> again = client().Get(RmsNorm(192));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.response.kernels(0).source(), v1::SOURCE_COMPILED);
  EXPECT_EQ(again.response.kernels(0).record().digest(), record.digest());

  v1::DeleteRequest all;
  all.set_all(true);
  all.set_op("gemm");
  EXPECT_EQ(Call(&v1::Admin::Stub::Delete, all).response.deleted(), 0u);
  all.clear_op();
  EXPECT_EQ(Call(&v1::Admin::Stub::Delete, all).response.deleted(), 1u);
  EXPECT_EQ(client().Stats().entries(), 0u);
  EXPECT_EQ(Call(&v1::Admin::Stub::Delete, {}).code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(AdminTest, VerifyFindsNothingWrong) {
  Make(64);
  Make(65);
  const auto verified = Call(&v1::Admin::Stub::Verify, v1::VerifyRequest());
  ASSERT_TRUE(verified.ok()) << verified.message();
  EXPECT_EQ(verified.response.checked(), 2u);
  EXPECT_EQ(verified.response.damaged(), 0u);
}

TEST_F(AdminTest, CapabilitiesNameOpsAndLimits) {
  v1::GetCapabilitiesResponse capabilities;
  grpc::ClientContext context;
  ASSERT_TRUE(
      client().kernels().GetCapabilities(&context, {}, &capabilities).ok());
  std::set<std::string> ops;
  for (const v1::OpCapability& op : capabilities.ops()) {
    ops.insert(op.name());
    EXPECT_EQ(op.fingerprint().size(), 32u);
    EXPECT_FALSE(op.summary().empty());
    if (op.name() == "rmsnorm") {
      EXPECT_THAT(op.dims(), Contains("n"));
      EXPECT_THAT(op.token_dims(), ::testing::ElementsAre("rows"));
    }
  }
  EXPECT_THAT(ops, Contains("rmsnorm"));
  EXPECT_THAT(ops, Contains("gemm"));
  EXPECT_EQ(capabilities.api_max(), 1u);
  EXPECT_THAT(capabilities.targets(), Contains("gfx950"));
  EXPECT_FALSE(capabilities.restart_pending());
}

}  // namespace
}  // namespace ingot::server
