// The Admin service, and the services that gRPC itself brings.
#include <map>
#include <set>
#include <thread>

#include "cache/rocksdb_store.h"
#include "cache/testing/samples.h"
#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "tests/daemon/fixture.h"
#include "tests/daemon/gemm_spec.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class AdminTest : public DaemonTest {
 protected:
  void SetUp() override { StartDaemon(); }

  v1::Record Make(int64_t n) {
    const Answer<v1::GetKernelResponse> answer = client().Get(RmsNorm(n));
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.ok() ? answer.response.kernels(0).record() : v1::Record();
  }

  template <typename Method, typename Request>
  auto Call(Method method, const Request& request) {
    return client().Call(method, request);
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
  EXPECT_EQ(
      client().CounterOf(
          R"(ingot_requests_total{op="rmsnorm",target="gfx950",result="compiled"})"),
      1);
  EXPECT_EQ(
      client().CounterOf(
          R"(ingot_requests_total{op="rmsnorm",target="gfx950",result="hit_memory"})"),
      1);
}

TEST_F(AdminTest, PinsWhatIsStored) {
  const v1::Record record = Make(64);
  Make(65);
  v1::PinRequest pin;
  EXPECT_EQ(Call(&v1::Admin::Stub::Pin, pin).code(),
            StatusCode::INVALID_ARGUMENT);
  pin.add_keys("short");
  EXPECT_EQ(Call(&v1::Admin::Stub::Pin, pin).code(),
            StatusCode::INVALID_ARGUMENT);
  pin.set_keys(0, std::string(32, 'x'));
  const auto unknown = Call(&v1::Admin::Stub::Pin, pin);
  EXPECT_EQ(unknown.code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.message(), HasSubstr("7878"));
  const auto pinned = [&] {
    std::vector<std::string> keys;
    const auto list = Call(&v1::Admin::Stub::List, v1::ListRequest());
    for (const v1::ListEntry& entry : list.response.entries()) {
      if (entry.pinned()) keys.push_back(entry.key());
    }
    return keys;
  };
  EXPECT_THAT(pinned(), SizeIs(0));
  pin.set_keys(0, record.key());
  EXPECT_TRUE(Call(&v1::Admin::Stub::Pin, pin).ok());
  EXPECT_THAT(pinned(), ElementsAre(record.key()));
  // Those that are stored are pinned, whatever stands before them.
  const v1::Record another = Make(65);
  pin.set_keys(0, std::string(32, 'x'));
  pin.add_keys(another.key());
  const auto some = Call(&v1::Admin::Stub::Pin, pin);
  ASSERT_TRUE(some.ok()) << some.message();
  EXPECT_THAT(some.response.unknown_keys(), ElementsAre(std::string(32, 'x')));
  EXPECT_THAT(pinned(), UnorderedElementsAre(record.key(), another.key()));
  pin.set_keys(0, record.key());
  pin.set_unpin(true);
  EXPECT_TRUE(Call(&v1::Admin::Stub::Pin, pin).ok());
  EXPECT_THAT(pinned(), SizeIs(0));
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
  EXPECT_THAT(deleted.response.unknown_keys(),
              ElementsAre(std::string(32, 'x')));
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
  EXPECT_EQ(Call(&v1::Admin::Stub::Delete, v1::DeleteRequest()).code(),
            StatusCode::INVALID_ARGUMENT);
}

// On a disk that takes no writes kernels are in memory alone.
TEST_F(AdminTest, WhatIsOnlyInMemoryIsDeleted) {
  testing::DaemonOptions options;
  options.flags = {"--store-free-floor-mib=1073741824"};
  StartDaemon(options);
  Make(64);
  Make(65);
  ASSERT_EQ(client().Stats().entries(), 0u) << "the disk took it";
  EXPECT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_MEMORY);
  v1::DeleteRequest all;
  all.set_all(true);
  all.set_op("gemm");
  EXPECT_EQ(Call(&v1::Admin::Stub::Delete, all).response.deleted(), 0u);
  all.set_op("rmsnorm");
  EXPECT_EQ(Call(&v1::Admin::Stub::Delete, all).response.deleted(), 2u);
  EXPECT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_COMPILED);
  all.clear_op();
  EXPECT_EQ(Call(&v1::Admin::Stub::Delete, all).response.deleted(), 1u);
  EXPECT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_COMPILED);
}

TEST_F(AdminTest, VerifyFindsNothingWrong) {
  Make(64);
  Make(65);
  const auto verified = Call(&v1::Admin::Stub::Verify, v1::VerifyRequest());
  ASSERT_TRUE(verified.ok()) << verified.message();
  EXPECT_EQ(verified.response.checked(), 2u);
  EXPECT_EQ(verified.response.damaged(), 0u);
}

// A slow one ends when its caller goes, and keeps nobody waiting meanwhile.
TEST_F(AdminTest, VerifyCanBeSlowAndCancelled) {
  Make(64);
  Make(65);
  v1::VerifyRequest request;
  request.set_bytes_per_second(1);  // hours
  grpc::ClientContext context;
  v1::VerifyResponse response;
  grpc::Status status;
  std::thread caller(
      [&] { status = client().admin().Verify(&context, request, &response); });
  EXPECT_THAT(
      Call(&v1::Admin::Stub::List, v1::ListRequest()).response.entries(),
      SizeIs(2));
  // Another waits behind it once it runs.
  bool runs = false;
  for (int i = 0; i < 100 && !runs; ++i) {
    grpc::ClientContext probe;
    probe.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(200));
    v1::VerifyResponse ignored;
    runs = client()
               .admin()
               .Verify(&probe, v1::VerifyRequest(), &ignored)
               .error_code() == StatusCode::DEADLINE_EXCEEDED;
  }
  EXPECT_TRUE(runs);
  context.TryCancel();
  caller.join();
  EXPECT_EQ(status.error_code(), StatusCode::CANCELLED);
  const auto again = Call(&v1::Admin::Stub::Verify, v1::VerifyRequest());
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(again.response.checked(), 2u);
}

TEST_F(AdminTest, ListTakesATargetInAnySpelling) {
  Make(64);
  v1::ListRequest request;
  request.set_target("GFX950");
  EXPECT_THAT(Call(&v1::Admin::Stub::List, request).response.entries(),
              SizeIs(1));
  request.set_target("gfx950:xnack-");
  EXPECT_THAT(Call(&v1::Admin::Stub::List, request).response.entries(),
              SizeIs(0));
  request.set_target("gfx950:nonsense");
  EXPECT_EQ(Call(&v1::Admin::Stub::List, request).code(),
            StatusCode::INVALID_ARGUMENT);
}

// What a new version is warmed with: the specs as they were asked.
TEST_F(AdminTest, ListSpecsTellsWhatWasAskedFor) {
  v1::Spec tuned = RmsNorm(4096);
  v1::Tuning* tuning = tuned.add_tuning();
  tuning->set_name("threads");
  tuning->set_value(512);
  // Of attributes, all, some and none are left to their defaults.
  const v1::Spec laid_out = Gemm(256, "nt");
  v1::Spec activated = laid_out;
  v1::Attr* act = activated.add_attrs();
  act->set_name("act");
  act->set_string_value("silu");
  std::map<std::string, v1::Spec> asked;
  for (const v1::Spec& spec :
       {RmsNorm(64), RmsNorm(4096), tuned, Gemm(256), laid_out, activated}) {
    const auto answer = client().Get(spec);
    ASSERT_TRUE(answer.ok()) << answer.message();
    asked[answer.response.plan().spec_digest()] = spec;
  }
  ASSERT_THAT(asked, SizeIs(6));
  std::set<std::string> listed;
  v1::ListSpecsRequest request;
  request.set_page_size(2);
  do {
    const auto page = Call(&v1::Admin::Stub::ListSpecs, request);
    ASSERT_TRUE(page.ok()) << page.message();
    for (const v1::Spec& spec : page.response.specs()) {
      const auto answer = client().Get(spec);
      ASSERT_TRUE(answer.ok()) << answer.message();
      EXPECT_EQ(answer.response.kernels(0).source(), v1::SOURCE_MEMORY);
      listed.insert(answer.response.plan().spec_digest());
    }
    request.set_page_token(page.response.next_page_token());
  } while (!request.page_token().empty());
  std::set<std::string> expected;
  for (const auto& [digest, spec] : asked) expected.insert(digest);
  EXPECT_EQ(listed, expected);
  request.set_page_size(0);
  request.set_op("gemm");
  EXPECT_THAT(Call(&v1::Admin::Stub::ListSpecs, request).response.specs(),
              SizeIs(3));
  request.set_op("grouped_gemm");
  EXPECT_THAT(Call(&v1::Admin::Stub::ListSpecs, request).response.specs(),
              SizeIs(0));
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
      EXPECT_THAT(op.token_dims(), ElementsAre("rows"));
    }
  }
  EXPECT_THAT(ops, Contains("rmsnorm"));
  EXPECT_THAT(ops, Contains("gemm"));
  EXPECT_EQ(capabilities.api_max(), 1u);
  EXPECT_THAT(capabilities.targets(), Contains("gfx950"));
  EXPECT_FALSE(capabilities.restart_pending());
}

// A daemon on a store that an older build filled.
class CollectTest : public AdminTest {
 protected:
  static constexpr char kOld[] = "an older build's fingerprint ...";
  static constexpr size_t kObjectBytes = 3000;

  void SetUp() override {
    auto store = cache::OpenRocksStore({.directory = folder_ / "store"});
    ASSERT_TRUE(store.ok()) << store.status();
    for (int i = 0; i < 3; ++i) Add(**store, i, "rmsnorm", kOld);
    Add(**store, 3, "dropped_op", kOld);
    AddMore(**store);
    store->reset();
    testing::DaemonOptions options;
    options.state_dir = folder_.path();
    StartDaemon(options);
  }
  virtual void AddMore(cache::Store&) {}

  // `object` is the number of the entry whose object it has.
  void Add(cache::Store& store, int number, const char* op,
           const char* fingerprint, int object = -1) {
    cache::Publication entry =
        cache::Sample(object < 0 ? number : object, kObjectBytes);
    entry.key = cache::SampleKey(number);
    v1::Record record;
    record.set_key(entry.key);
    record.set_digest(entry.digest);
    record.set_size(kObjectBytes);
    record.set_fingerprint(fingerprint);
    record.mutable_description()->set_op(op);
    entry.record = record.SerializeAsString();
    record_bytes_[op] += entry.record.size();
    ASSERT_TRUE(store.Publish(entry).ok());
  }

  v1::CollectResponse Collect(const v1::CollectRequest& request) {
    const auto answer = Call(&v1::Admin::Stub::Collect, request);
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.response;
  }
  v1::CollectResponse Collect() { return Collect(v1::CollectRequest()); }
  v1::CollectResponse DryRun() {
    v1::CollectRequest request;
    request.set_dry_run(true);
    return Collect(request);
  }

  void Pin(const std::string& key, bool unpin = false) {
    v1::PinRequest request;
    request.add_keys(key);
    request.set_unpin(unpin);
    EXPECT_TRUE(Call(&v1::Admin::Stub::Pin, request).ok());
  }

  cache::TempDir folder_;
  std::map<std::string, uint64_t> record_bytes_;  // by op
};

TEST_F(CollectTest, TakesWhatNoOpOfThisBuildMadeAndIsNotPinned) {
  const v1::Record own = Make(64);
  Pin(cache::SampleKey(1));

  const v1::CollectResponse dry = DryRun();
  ASSERT_THAT(dry.fingerprints(), SizeIs(3));
  const v1::FingerprintUse& vanished = dry.fingerprints(0);
  EXPECT_EQ(vanished.op(), "dropped_op");
  EXPECT_FALSE(vanished.current());
  EXPECT_TRUE(vanished.collected());
  EXPECT_EQ(vanished.entries(), 1u);
  EXPECT_EQ(vanished.bytes(), record_bytes_["dropped_op"] + kObjectBytes);
  const bool old_first = dry.fingerprints(1).fingerprint() == kOld;
  const v1::FingerprintUse& old = dry.fingerprints(old_first ? 1 : 2);
  EXPECT_EQ(old.fingerprint(), kOld);
  EXPECT_FALSE(old.current());
  EXPECT_TRUE(old.collected());
  EXPECT_EQ(old.entries(), 3u);
  EXPECT_EQ(old.pinned(), 1u);
  EXPECT_EQ(old.bytes(), record_bytes_["rmsnorm"] + 3 * kObjectBytes);
  const v1::FingerprintUse& current = dry.fingerprints(old_first ? 2 : 1);
  EXPECT_EQ(current.fingerprint(), own.fingerprint());
  EXPECT_TRUE(current.current());
  EXPECT_FALSE(current.collected());
  EXPECT_EQ(dry.removed(), 3u);
  EXPECT_EQ(dry.removed_bytes(), vanished.bytes() + old.bytes() * 2 / 3);
  EXPECT_EQ(client().Stats().entries(), 5u);

  EXPECT_EQ(Collect().SerializeAsString(), dry.SerializeAsString());
  std::vector<std::string> left;
  const auto list = Call(&v1::Admin::Stub::List, v1::ListRequest());
  for (const v1::ListEntry& entry : list.response.entries()) {
    left.push_back(entry.key());
  }
  EXPECT_THAT(left, UnorderedElementsAre(own.key(), cache::SampleKey(1)));
  EXPECT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_MEMORY);
  EXPECT_EQ(Collect().removed(), 0u);
  Pin(cache::SampleKey(1), true);
  EXPECT_EQ(Collect().removed(), 1u);
}

TEST_F(CollectTest, TakesTheFingerprintsThatAreNamed) {
  const v1::Record own = Make(64);
  const v1::Record pinned = Make(65);
  Pin(pinned.key());
  v1::CollectRequest request;
  request.add_fingerprints("short");
  EXPECT_EQ(Call(&v1::Admin::Stub::Collect, request).code(),
            StatusCode::INVALID_ARGUMENT);
  request.set_fingerprints(0, std::string(32, 'x'));
  EXPECT_EQ(Collect(request).removed(), 0u);
  request.set_fingerprints(0, own.fingerprint());
  EXPECT_EQ(Collect(request).removed(), 1u);
  EXPECT_EQ(client().Stats().entries(), 5u);
  EXPECT_EQ(client().Get(RmsNorm(65)).response.kernels(0).source(),
            v1::SOURCE_MEMORY);
  EXPECT_EQ(client().Get(RmsNorm(64)).response.kernels(0).source(),
            v1::SOURCE_COMPILED);
}

class SharedObjectTest : public CollectTest {
 protected:
  // Object 0 has three kernels, two of them of one fingerprint; object 3 two.
  void AddMore(cache::Store& store) override {
    Add(store, 10, "rmsnorm", kOld, 0);
    Add(store, 11, "kept_op", kNewer, 0);
    Add(store, 12, "kept_op", kNewer, 3);
  }
  static constexpr char kNewer[] = "a newer build's fingerprint ....";
};

// What is said to be freed is what the store is smaller by.
TEST_F(SharedObjectTest, CountsOncePerFingerprintAndGoesWithTheLast) {
  v1::CollectRequest request;
  request.set_dry_run(true);
  request.add_fingerprints(kOld);
  const v1::CollectResponse dry = Collect(request);
  ASSERT_THAT(dry.fingerprints(), SizeIs(3));
  EXPECT_EQ(dry.fingerprints(0).op(), "dropped_op");
  EXPECT_EQ(dry.fingerprints(0).bytes(),
            record_bytes_["dropped_op"] + kObjectBytes);
  EXPECT_EQ(dry.fingerprints(1).op(), "kept_op");
  EXPECT_EQ(dry.fingerprints(1).bytes(),
            record_bytes_["kept_op"] + 2 * kObjectBytes);
  EXPECT_EQ(dry.fingerprints(2).op(), "rmsnorm");
  EXPECT_EQ(dry.fingerprints(2).entries(), 4u);
  EXPECT_EQ(dry.fingerprints(2).bytes(),
            record_bytes_["rmsnorm"] + 3 * kObjectBytes);
  EXPECT_EQ(dry.removed(), 5u);
  EXPECT_EQ(dry.removed_bytes(), record_bytes_["rmsnorm"] +
                                     record_bytes_["dropped_op"] +
                                     2 * kObjectBytes);

  // A pinned one keeps its object.
  Pin(cache::SampleKey(1));
  EXPECT_EQ(Collect(request).removed_bytes() + kObjectBytes +
                record_bytes_["rmsnorm"] / 4,
            dry.removed_bytes());
  Pin(cache::SampleKey(1), true);

  request.set_dry_run(false);
  EXPECT_EQ(Collect(request).removed_bytes(), dry.removed_bytes());
  EXPECT_EQ(client().Stats().entries(), 2u);
  EXPECT_GE(client().Stats().store_bytes(), 2 * kObjectBytes);
  EXPECT_LT(client().Stats().store_bytes(), 3 * kObjectBytes);
}

}  // namespace
}  // namespace ingot::server
