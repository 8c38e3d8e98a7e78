// Export and Import: what one daemon holds, in another.
#include <map>
#include <set>

#include "cache/digest.h"
#include "compiler/kernel_spec.h"
#include "gmock/gmock.h"
#include "ingot/v1/bundle.pb.h"
#include "server/plan_check.h"
#include "tests/daemon/fixture.h"
#include "tests/daemon/gemm_spec.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// An export, put together.
struct Exported {
  grpc::Status status;
  std::map<std::string, std::string> objects;  // by digest
  std::vector<std::string> records;
  std::vector<std::string> plans;
  std::vector<bool> serving;
  v1::ExportSummary summary;
  size_t longest_message = 0;
};

Exported Export(Client& client, const v1::ExportRequest& request = {}) {
  Exported all;
  grpc::ClientContext context;
  const auto reader = client.admin().Export(&context, request);
  v1::ExportResponse response;
  std::set<std::string> whole;
  std::set<std::string> keys;
  while (reader->Read(&response)) {
    all.longest_message =
        std::max(all.longest_message, response.ByteSizeLong());
    for (const v1::ObjectPart& part : response.parts()) {
      std::string& object = all.objects[part.digest()];
      EXPECT_EQ(part.offset(), object.size());
      object += part.data();
      if (object.size() == part.total()) whole.insert(part.digest());
    }
    for (const std::string& bytes : response.records()) {
      v1::Record record;
      EXPECT_TRUE(record.ParseFromString(bytes));
      EXPECT_TRUE(whole.count(record.digest())) << "its object comes later";
      keys.insert(record.key());
      all.records.push_back(bytes);
    }
    for (const v1::ExportedPlan& plan : response.plans()) {
      v1::Plan parsed;
      EXPECT_TRUE(parsed.ParseFromString(plan.plan()));
      for (const std::string& key : KernelsOf(parsed)) {
        EXPECT_TRUE(keys.count(key)) << "its kernel comes later";
      }
      all.plans.push_back(plan.plan());
      all.serving.push_back(plan.serving());
    }
    all.summary.MergeFrom(response.summary());
  }
  all.status = reader->Finish();
  for (const auto& [digest, object] : all.objects) {
    EXPECT_EQ(cache::Sha256(object), digest);
  }
  return all;
}

v1::Record RecordIn(const std::string& bytes) {
  v1::Record record;
  EXPECT_TRUE(record.ParseFromString(bytes));
  return record;
}

Answer<v1::ImportResponse> Import(Client& client,
                                  const v1::ImportRequest& request) {
  Answer<v1::ImportResponse> answer;
  grpc::ClientContext context;
  answer.status = client.admin().Import(&context, request, &answer.response);
  return answer;
}

// Everything in one request; objects only where `with_objects`.
v1::ImportRequest RequestOf(const Exported& exported, bool with_objects) {
  v1::ImportRequest request;
  for (const std::string& bytes : exported.records) {
    v1::ImportKernel* kernel = request.add_kernels();
    kernel->set_record(bytes);
    if (!with_objects) continue;
    kernel->set_object(exported.objects.at(RecordIn(bytes).digest()));
  }
  for (const std::string& plan : exported.plans) request.add_plans(plan);
  return request;
}

template <typename Results>
std::map<v1::ImportState, int> StatesOf(const Results& results) {
  std::map<v1::ImportState, int> states;
  for (const v1::ImportResult& result : results) ++states[result.state()];
  return states;
}

// One kernel with its record, as a test may change them.
v1::ImportResult ImportOne(Client& client, const v1::Record& record,
                           const std::string& object, bool dry_run = false) {
  v1::ImportRequest request;
  request.set_dry_run(dry_run);
  v1::ImportKernel* kernel = request.add_kernels();
  kernel->set_record(record.SerializeAsString());
  kernel->set_object(object);
  const Answer<v1::ImportResponse> answer = Import(client, request);
  EXPECT_TRUE(answer.ok()) << answer.message();
  return answer.ok() ? answer.response.kernels(0) : v1::ImportResult();
}

// A daemon to take from, and an empty one to give to.
class TransferTest : public DaemonTest {
 protected:
  void StartBoth(const testing::DaemonOptions& options = {},
                 const testing::DaemonOptions& other_options = {}) {
    StartDaemon(options);
    absl::StatusOr<std::unique_ptr<testing::Daemon>> other =
        testing::Daemon::Start(other_options);
    ASSERT_TRUE(other.ok()) << other.status();
    other_daemon_ = *std::move(other);
    other_ = std::make_unique<Client>(other_daemon_->address());
  }

  Client& other() { return *other_; }
  testing::Daemon& other_daemon() { return *other_daemon_; }

 private:
  std::unique_ptr<testing::Daemon> other_daemon_;
  std::unique_ptr<Client> other_;
};

TEST_F(TransferTest, EverythingArrivesAndIsServed) {
  StartBoth();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const Answer<v1::GetKernelResponse> gemm = client().Get(Gemm(256, "nt"));
  ASSERT_TRUE(gemm.ok()) << gemm.message();
  const Exported exported = Export(client());
  ASSERT_TRUE(exported.status.ok()) << exported.status.error_message();
  EXPECT_EQ(exported.plans.size(), 2u);
  EXPECT_EQ(exported.records.size(), 1u + gemm.response.kernels_size());
  EXPECT_EQ(exported.summary.incomplete_plans(), 0u);

  const auto offered = Import(other(), RequestOf(exported, false));
  ASSERT_TRUE(offered.ok()) << offered.message();
  EXPECT_EQ(StatesOf(offered.response.kernels())[v1::IMPORT_WANTED],
            static_cast<int>(exported.records.size()));
  EXPECT_EQ(StatesOf(offered.response.plans())[v1::IMPORT_REFUSED], 2)
      << "their kernels are not there";
  EXPECT_EQ(other().Stats().entries(), 0u);

  const auto imported = Import(other(), RequestOf(exported, true));
  ASSERT_TRUE(imported.ok()) << imported.message();
  EXPECT_EQ(StatesOf(imported.response.kernels())[v1::IMPORT_IMPORTED],
            static_cast<int>(exported.records.size()));
  EXPECT_EQ(StatesOf(imported.response.plans())[v1::IMPORT_IMPORTED], 2);

  const Answer<v1::GetKernelResponse> served = other().Get(Gemm(256, "nt"));
  ASSERT_TRUE(served.ok()) << served.message();
  EXPECT_EQ(served.response.compile_us(), 0u);
  EXPECT_EQ(served.response.plan().SerializeAsString(),
            gemm.response.plan().SerializeAsString());
  for (int i = 0; i < gemm.response.kernels_size(); ++i) {
    EXPECT_EQ(served.response.kernels(i).object(),
              gemm.response.kernels(i).object());
  }
  EXPECT_EQ(other().CounterOf("ingot_compiles_total"), 0);
  // A second time nothing changes, and an offer is enough to know.
  const auto again = Import(other(), RequestOf(exported, false));
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(StatesOf(again.response.kernels())[v1::IMPORT_PRESENT],
            static_cast<int>(exported.records.size()));
  EXPECT_EQ(StatesOf(again.response.plans())[v1::IMPORT_PRESENT], 2);
  // What came can be passed on as it came.
  const Exported back = Export(other());
  EXPECT_EQ(back.records, exported.records);
  EXPECT_EQ(back.plans, exported.plans);
  EXPECT_EQ(client().CounterOf("ingot_exported_kernels_total"),
            static_cast<double>(exported.records.size()));
  EXPECT_EQ(other().CounterOf(
                R"(ingot_imported_total{kind="plan",result="imported"})"),
            2);
}

// What a stored kernel was compiled for counts, not who asked first.
TEST_F(TransferTest, APlanIsKeptThoughNothingWasCompiledForIt) {
  StartDaemon();
  const auto rows = [](int64_t max) {
    v1::Spec spec = RmsNorm(64);
    if (max > 0) {
      spec.mutable_dims(0)->mutable_range()->set_min(1);
      spec.mutable_dims(0)->mutable_range()->set_max(max);
    }
    return spec;
  };
  ASSERT_TRUE(client().Get(rows(0)).ok());
  const Answer<v1::GetKernelResponse> other = client().Get(rows(100));
  ASSERT_TRUE(other.ok()) << other.message();
  ASSERT_EQ(other.response.compile_us(), 0u) << "not what is tested";
  EXPECT_EQ(Export(client()).plans.size(), 2u);
}

TEST_F(TransferTest, FiltersChoose) {
  StartDaemon();
  const Answer<v1::GetKernelResponse> norm = client().Get(RmsNorm(64));
  const Answer<v1::GetKernelResponse> gemm = client().Get(Gemm(256, "nt"));
  ASSERT_TRUE(norm.ok() && gemm.ok());
  v1::ExportRequest by_op;
  by_op.set_op("rmsnorm");
  Exported exported = Export(client(), by_op);
  EXPECT_EQ(exported.records.size(), 1u);
  EXPECT_EQ(exported.plans.size(), 1u);
  by_op.set_target("gfx950:xnack+");
  EXPECT_EQ(Export(client(), by_op).records.size(), 0u);

  v1::ExportRequest by_key;
  by_key.add_keys(gemm.response.kernels(0).record().key());
  by_key.add_keys(std::string(32, 'x'));
  exported = Export(client(), by_key);
  EXPECT_EQ(exported.records.size(), 1u);
  EXPECT_EQ(exported.plans.size(), 0u) << "it has other kernels, too";
  EXPECT_THAT(exported.summary.missing_keys(),
              UnorderedElementsAre(std::string(32, 'x')));

  v1::ExportRequest by_spec;
  *by_spec.add_specs() = RmsNorm(65);
  *by_spec.add_specs() = Gemm(256, "nt");
  exported = Export(client(), by_spec);
  EXPECT_THAT(exported.summary.missing_specs(), UnorderedElementsAre(0u));
  EXPECT_EQ(exported.plans.size(), 1u);
  EXPECT_EQ(exported.records.size(),
            static_cast<size_t>(gemm.response.kernels_size()));

  by_spec.set_op("gemm");
  EXPECT_EQ(Export(client(), by_spec).status.error_code(),
            StatusCode::INVALID_ARGUMENT);
  by_key.add_keys("short");
  EXPECT_EQ(Export(client(), by_key).status.error_code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(TransferTest, OnlyAdminMay) {
  testing::DaemonOptions options;
  options.flags = {"--tcp=127.0.0.1:0", "--tcp-roles=get,compile,tune"};
  StartDaemon(options);
  Client caller(TcpAddress());
  EXPECT_EQ(Export(caller).status.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Import(caller, {}).code(), StatusCode::PERMISSION_DENIED);
}

TEST_F(TransferTest, NothingForgedGetsIn) {
  StartBoth();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const Answer<v1::GetKernelResponse> wide = client().Get(RmsNorm(4096));
  ASSERT_TRUE(wide.ok());
  v1::ExportRequest one;
  *one.add_specs() = RmsNorm(64);
  const Exported exported = Export(client(), one);
  ASSERT_EQ(exported.records.size(), 1u);
  const v1::Record good = RecordIn(exported.records[0]);
  const std::string object = exported.objects.at(good.digest());
  const std::string foreign = wide.response.kernels(0).object();

  const auto refused = [&](const v1::Record& record, const std::string& bytes,
                           const std::string& why) {
    for (const bool dry_run : {true, false}) {
      const v1::ImportResult result =
          ImportOne(other(), record, bytes, dry_run);
      EXPECT_EQ(result.state(), v1::IMPORT_REFUSED) << why;
      EXPECT_THAT(result.reason(), HasSubstr(why));
    }
  };
  refused(good, object.substr(0, object.size() / 2), "another SHA-256");
  std::string flipped = object;
  flipped[object.size() / 2] ^= 1;
  refused(good, flipped, "another SHA-256");
  v1::Record record = good;
  record.set_digest(cache::Sha256(foreign));
  record.set_size(foreign.size());
  refused(record, foreign, "object");  // swapped: another kernel's contract
  record = good;
  record.set_digest(cache::Sha256(flipped.substr(0, 100)));
  record.set_size(100);
  refused(record, flipped.substr(0, 100), "object");
  record = good;
  record.set_key(std::string(32, 'k'));
  refused(record, object, "another key");
  record = good;
  record.set_schema(99);
  refused(record, object, "schema 99");
  record = good;
  record.set_digest("short");
  refused(record, object, "record");

  v1::ImportRequest junk;
  junk.add_kernels()->set_record("junk");
  junk.add_plans("junk");
  v1::Plan plan;
  ASSERT_TRUE(plan.ParseFromString(exported.plans[0]));
  plan.mutable_variants(0)
      ->mutable_recipe()
      ->mutable_steps(0)
      ->mutable_launch()
      ->set_workgroup(0, 1);
  junk.add_plans(plan.SerializeAsString());
  ASSERT_TRUE(plan.ParseFromString(exported.plans[0]));
  plan.mutable_variants(0)->mutable_recipe()->set_version(99);
  junk.add_plans(plan.SerializeAsString());
  ASSERT_EQ(ImportOne(other(), good, object).state(), v1::IMPORT_IMPORTED);
  const auto answer = Import(other(), junk);
  ASSERT_TRUE(answer.ok()) << answer.message();
  EXPECT_EQ(answer.response.kernels(0).state(), v1::IMPORT_REFUSED);
  EXPECT_EQ(StatesOf(answer.response.plans())[v1::IMPORT_REFUSED], 3);
  EXPECT_THAT(answer.response.plans(1).reason(), HasSubstr("not the one of"));
  EXPECT_THAT(answer.response.plans(2).reason(), HasSubstr("version 99"));
  EXPECT_EQ(other().Stats().entries(), 1u);
}

TEST_F(TransferTest, ADryRunChangesNothing) {
  StartBoth();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const Exported exported = Export(client());
  v1::ImportRequest request = RequestOf(exported, true);
  request.set_dry_run(true);
  const auto answer = Import(other(), request);
  ASSERT_TRUE(answer.ok()) << answer.message();
  EXPECT_EQ(answer.response.kernels(0).state(), v1::IMPORT_IMPORTED);
  EXPECT_EQ(answer.response.plans(0).state(), v1::IMPORT_IMPORTED);
  EXPECT_EQ(other().Stats().entries(), 0u);
  EXPECT_EQ(Export(other()).plans.size(), 0u);
}

// The same kernel by another version of its op: its key differs, its bytes may
// not.
TEST_F(TransferTest, OtherFingerprintsAreKeptAndNotServed) {
  StartBoth();
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const Exported exported = Export(client());
  v1::Record record = RecordIn(exported.records[0]);
  const std::string object = exported.objects.at(record.digest());
  absl::StatusOr<KernelSpec> spec = DecodeKernelSpec(record.key_encoding());
  ASSERT_TRUE(spec.ok()) << spec.status();
  spec->fingerprint = std::string(32, 'f');
  const std::string encoding = EncodeKernelSpec(*spec);
  record.set_key_encoding(encoding);
  record.set_key(KernelKey(encoding));
  record.set_fingerprint(spec->fingerprint);
  v1::Plan plan;
  ASSERT_TRUE(plan.ParseFromString(exported.plans[0]));
  plan.set_fingerprint(spec->fingerprint);
  plan.mutable_variants(0)
      ->mutable_recipe()
      ->mutable_steps(0)
      ->mutable_launch()
      ->set_key(record.key());
  ASSERT_EQ(ImportOne(other(), record, object).state(), v1::IMPORT_IMPORTED);
  v1::ImportRequest plans;
  plans.add_plans(plan.SerializeAsString());
  const auto kept = Import(other(), plans);
  ASSERT_TRUE(kept.ok()) << kept.message();
  EXPECT_EQ(kept.response.plans(0).state(), v1::IMPORT_IMPORTED)
      << kept.response.plans(0).reason();

  const Answer<v1::GetKernelResponse> own = other().Get(RmsNorm(64));
  ASSERT_TRUE(own.ok()) << own.message();
  EXPECT_GT(own.response.compile_us(), 0u);
  EXPECT_NE(own.response.plan().fingerprint(), spec->fingerprint);
  EXPECT_EQ(Export(other()).records.size(), 1u);
  v1::ExportRequest all;
  all.set_all_fingerprints(true);
  const Exported both = Export(other(), all);
  EXPECT_EQ(both.records.size(), 2u);
  EXPECT_THAT(both.serving, UnorderedElementsAre(true, false));
}

TEST_F(TransferTest, AnotherObjectUnderAKnownKeyIsRefused) {
  testing::DaemonOptions padded;
  padded.faulty_workers = true;
  StartBoth(padded);
  daemon().OrderFault("n=64", "pad");
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  ASSERT_TRUE(other().Get(RmsNorm(64)).ok());
  const Exported ours = Export(other());
  const Exported exported = Export(client());
  const v1::Record record = RecordIn(exported.records[0]);
  ASSERT_NE(record.digest(), RecordIn(ours.records[0]).digest());
  const v1::ImportResult result =
      ImportOne(other(), record, exported.objects.at(record.digest()));
  EXPECT_EQ(result.state(), v1::IMPORT_REFUSED);
  EXPECT_THAT(result.reason(), HasSubstr("another object is stored"));
  EXPECT_EQ(Export(other()).records, ours.records);
}

// 1.5 MiB: more than a message.
TEST_F(TransferTest, LargeObjectsGoInParts) {
  testing::DaemonOptions padded;
  padded.faulty_workers = true;
  StartBoth(padded);
  daemon().OrderFault("n=64", "pad");
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const Exported exported = Export(client());
  EXPECT_LT(exported.longest_message, size_t{3} << 19);
  const v1::Record record = RecordIn(exported.records[0]);
  const std::string& object = exported.objects.at(record.digest());
  ASSERT_GT(object.size(), size_t{1} << 20);

  const auto part = [&](size_t offset, size_t size) {
    v1::ImportRequest request;
    v1::ObjectPart* out = request.add_parts();
    out->set_digest(record.digest());
    out->set_offset(offset);
    out->set_total(object.size());
    out->set_data(object.substr(offset, size));
    const auto answer = Import(other(), request);
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.ok() ? answer.response.held(0) : 0;
  };
  v1::ImportRequest offer = RequestOf(exported, false);
  EXPECT_EQ(part(0, 1 << 20), 1u << 20);
  // Half of an object is none.
  EXPECT_EQ(Import(other(), offer).response.kernels(0).state(),
            v1::IMPORT_WANTED);
  EXPECT_EQ(part(0, 0), 1u << 20) << "where to go on";
  EXPECT_EQ(part(1 << 20, object.size()), object.size());
  const auto whole = Import(other(), offer);
  ASSERT_TRUE(whole.ok()) << whole.message();
  EXPECT_EQ(whole.response.kernels(0).state(), v1::IMPORT_IMPORTED)
      << whole.response.kernels(0).reason();
  EXPECT_EQ(whole.response.plans(0).state(), v1::IMPORT_IMPORTED);
  EXPECT_EQ(Export(other()).objects.at(record.digest()), object);
}

TEST_F(TransferTest, AStoreThatTakesNothingSaysSo) {
  testing::DaemonOptions padded;
  padded.faulty_workers = true;
  testing::DaemonOptions small;
  small.flags = {"--store-quota-mib=1"};
  StartBoth(padded, small);
  daemon().OrderFault("n=64", "pad");
  ASSERT_TRUE(client().Get(RmsNorm(64)).ok());
  const auto answer = Import(other(), RequestOf(Export(client()), true));
  EXPECT_EQ(answer.code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(answer.message(), HasSubstr("takes no writes"));
}

TEST_F(TransferTest, AnExportGoesOnWhileTheDaemonWorks) {
  StartDaemon();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client().Get(RmsNorm(64 + i)).ok());
  }
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    Client busy(daemon().address());
    for (int i = 0; !stop; ++i) {
      (void)busy.Get(RmsNorm(1000 + i));
      v1::DeleteRequest remove;
      const auto record = busy.Get(RmsNorm(64 + i % 20));
      if (!record.ok()) continue;
      remove.add_keys(record.response.kernels(0).record().key());
      v1::DeleteResponse removed;
      grpc::ClientContext context;
      (void)busy.admin().Delete(&context, remove, &removed);
    }
  });
  for (int i = 0; i < 10; ++i) {
    // Export itself checks that every plan comes with its kernels.
    const Exported exported = Export(client());
    EXPECT_TRUE(exported.status.ok()) << exported.status.error_message();
    EXPECT_GT(exported.records.size(), 10u);
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace ingot::server
