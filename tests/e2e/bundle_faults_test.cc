// Bundles that are replaced, damaged, foreign or out of date while clients and
// daemons use them, and daemons that hang.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "client/ctl/bundle_writer.h"
#include "client/src/bundle_file.h"
#include "client/src/code_object.h"
#include "gmock/gmock.h"
#include "tests/e2e/bundle_fixture.h"

namespace ingot::testing {
namespace {

using client::BundleFile;
using client::ReadAll;
using client::WriteAll;
using ::testing::HasSubstr;

class BundleFaultsTest : public BundleFixture {
 protected:
  BundleFaultsTest() { setenv("INGOT_HIP_LIBRARY", "/nowhere/libhip.so", 1); }

  void SetUp() override {
    BundleFixture::SetUp();
    for (const int64_t n : {64, 128, 192}) Make(RmsNormSpec(1, n));
  }

  ingot_status Prepare(Client& client, int64_t n) {
    client::OwnedSpec spec = RmsNormSpec(1, n);
    Prepared prepared;
    const ingot_status status = client.Prepare(spec.spec(), nullptr, &prepared);
    if (status == INGOT_OK) {
      EXPECT_EQ(SourceOf(prepared), uint32_t{INGOT_SOURCE_BUNDLE});
    }
    return status;
  }

  // The bundle at `from`, with each plan as `change` made it.
  std::string Altered(const std::string& from, const std::string& name,
                      bool serving,
                      const std::function<void(v1::Plan*)>& change) {
    std::shared_ptr<const BundleFile> file;
    EXPECT_TRUE(BundleFile::Open(from, &file).ok());
    std::unique_ptr<ctl::BundleWriter> writer;
    EXPECT_TRUE(ctl::BundleWriter::Create(folder_ / name, &writer).ok());
    std::string bytes;
    for (const client::BundleObject& object : file->objects()) {
      EXPECT_TRUE(file->ReadObject(object, &bytes).ok());
      EXPECT_TRUE(
          writer->AddObject(client::BytesOf(object.digest), bytes).ok());
    }
    for (const client::BundleKernel& kernel : file->kernels()) {
      EXPECT_TRUE(file->ReadRecord(kernel, &bytes).ok());
      EXPECT_TRUE(writer->AddRecord(bytes).ok());
    }
    for (const client::BundlePlan& entry : file->plans()) {
      v1::Plan plan;
      EXPECT_TRUE(file->ReadPlan(entry, &bytes).ok());
      EXPECT_TRUE(plan.ParseFromString(bytes));
      change(&plan);
      EXPECT_TRUE(writer->AddPlan(plan.SerializeAsString(), serving).ok());
    }
    v1::BundleManifest manifest;
    EXPECT_TRUE(writer->Finish(&manifest).ok());
    return folder_ / name;
  }
};

TEST_F(BundleFaultsTest, ABundleMayGoOrChangeWhileItIsInUse) {
  const std::string path = Export("a.bundle", {"--op", "rmsnorm"});
  Client client = AloneWith(path);
  ASSERT_EQ(Prepare(client, 64), INGOT_OK) << ingot_last_error();
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(Prepare(client, 128), INGOT_OK) << ingot_last_error();
  EXPECT_EQ(Prepare(client, 4096), INGOT_UNAVAILABLE);
  EXPECT_EQ(Prepare(client, 192), INGOT_OK) << ingot_last_error();
  // What comes in its place is found when something is missing.
  Make(RmsNormSpec(1, 4096));
  Export("a.bundle");
  EXPECT_EQ(Prepare(client, 4096), INGOT_OK) << ingot_last_error();
  // And what is no bundle does not displace it.
  WriteAll(folder_ / "junk", "no bundle at all, though long enough to be one");
  std::filesystem::rename(folder_ / "junk", path);
  EXPECT_EQ(Prepare(client, 5000), INGOT_DATA_LOSS);
  EXPECT_THAT(ingot_last_error(), HasSubstr("a.bundle: at offset 0"));
  Client fresh = AloneWith(path);
  EXPECT_EQ(Prepare(fresh, 64), INGOT_DATA_LOSS);
}

TEST_F(BundleFaultsTest, ABundleCutShortInPlaceIsAnError) {
  const std::string path = Export("a.bundle");
  Client client = AloneWith(path);
  ASSERT_EQ(Prepare(client, 64), INGOT_OK) << ingot_last_error();
  ASSERT_EQ(truncate(path.c_str(), 256), 0);
  for (const int64_t n : {128, 192}) {
    EXPECT_EQ(Prepare(client, n), INGOT_DATA_LOSS) << ingot_last_error();
  }
  EXPECT_EQ(Prepare(client, 64), INGOT_OK) << "what is loaded stays";
}

TEST_F(BundleFaultsTest, ADamagedObjectIsNeverLoaded) {
  const std::string path = Export("a.bundle", {"--op", "rmsnorm"});
  std::shared_ptr<const BundleFile> file;
  ASSERT_TRUE(BundleFile::Open(path, &file).ok());
  const std::string good = ReadAll(path);
  std::mt19937 random(3);
  for (const client::BundleObject& object : file->objects()) {
    std::string bad = good;
    bad[object.offset + random() % object.size] ^= 4;
    WriteAll(folder_ / "bad.bundle", bad);
    Client client = AloneWith(folder_ / "bad.bundle");
    int lost = 0;
    for (const int64_t n : {64, 128, 192}) {
      const ingot_status status = Prepare(client, n);
      lost += status == INGOT_DATA_LOSS;
      EXPECT_TRUE(status == INGOT_OK || status == INGOT_DATA_LOSS)
          << ingot_last_error();
    }
    EXPECT_EQ(lost, 1);
    // Nor is any of it imported.
    EXPECT_EQ(Ctl({"import", folder_ / "bad.bundle"}), 1) << output();
    EXPECT_THAT(output(), HasSubstr("bad.bundle: at offset"));
  }
}

TEST_F(BundleFaultsTest, OtherVersionsAreNamed) {
  const std::string path = Export("a.bundle");
  Client old = AloneWith(Altered(path, "old", false, [](v1::Plan*) {}));
  EXPECT_EQ(Prepare(old, 64), INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(ingot_last_error(), HasSubstr("fingerprint"));
  Client newer = AloneWith(Altered(path, "new", true, [](v1::Plan* plan) {
    plan->mutable_variants(0)->mutable_recipe()->set_version(99);
  }));
  EXPECT_EQ(Prepare(newer, 64), INGOT_UNIMPLEMENTED);
  EXPECT_THAT(ingot_last_error(), HasSubstr("99"));
  Client pinned = AloneWith(path);
  client::OwnedSpec spec = RmsNormSpec(1, 64);
  ingot_prepare_options options = {sizeof(options)};
  options.pin_epoch = 77;
  Prepared prepared;
  EXPECT_EQ(pinned.Prepare(spec.spec(), &options, &prepared),
            INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(ingot_last_error(), HasSubstr("epoch"));
}

TEST_F(BundleFaultsTest, AFolderOfBundlesIsOne) {
  std::filesystem::create_directory(folder_ / "layers");
  Client early = AloneWith(folder_ / "layers");
  EXPECT_EQ(Prepare(early, 64), INGOT_UNAVAILABLE);
  EXPECT_THAT(ingot_last_error(), HasSubstr("without *.bundle"));
  Export("layers/10-norms.bundle");
  WriteAll(folder_ / "layers/00-bad.bundle", "junk");
  WriteAll(folder_ / "layers/20-half.bundle.partial", "half");
  EXPECT_EQ(Prepare(early, 64), INGOT_OK) << ingot_last_error();
  EXPECT_EQ(Prepare(early, 4096), INGOT_DATA_LOSS);
  EXPECT_THAT(ingot_last_error(), HasSubstr("00-bad.bundle"));
  Make(RmsNormSpec(1, 4096));
  Export("layers/30-more.bundle");
  EXPECT_EQ(Prepare(early, 4096), INGOT_OK) << ingot_last_error();
}

TEST_F(BundleFaultsTest, ADaemonThatHangsCostsHalfOfTheTime) {
  const std::string path = Export("a.bundle");
  Client client = ClientWith(path, address_, 4000);
  ASSERT_EQ(kill(daemon_->pid(), SIGSTOP), 0);
  // Until one of its threads takes the signal the others still answer.
  int status = 0;
  ASSERT_EQ(waitpid(daemon_->pid(), &status, WUNTRACED), daemon_->pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto start = std::chrono::steady_clock::now();
  const ingot_status known = Prepare(client, 64);
  const auto took = std::chrono::steady_clock::now() - start;
  client::OwnedSpec unknown = RmsNormSpec(1, 4096);
  Prepared prepared;
  const ingot_status missing =
      client.Prepare(unknown.spec(), nullptr, &prepared);
  ASSERT_EQ(kill(daemon_->pid(), SIGCONT), 0);
  EXPECT_EQ(known, INGOT_OK) << ingot_last_error();
  EXPECT_LT(took, std::chrono::seconds(4));
  EXPECT_EQ(missing, INGOT_DEADLINE_EXCEEDED);
}

TEST_F(BundleFaultsTest, ADaemonIsAskedFirst) {
  const std::string path = Export("a.bundle");
  Client client = ClientWith(path, address_);
  client::OwnedSpec spec = RmsNormSpec(1, 64);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_NE(SourceOf(prepared), uint32_t{INGOT_SOURCE_BUNDLE});
  EXPECT_EQ(Stats(client).bundle_specs, 0u);
  // Its refusals are final.
  client::OwnedSpec wrong = RmsNormSpec(1, -1);
  EXPECT_EQ(client.Prepare(wrong.spec(), nullptr, &prepared),
            INGOT_INVALID_ARGUMENT);
}

TEST_F(BundleFaultsTest, ManyAreTakenFromABundleAtOnce) {
  Client client = AloneWith(Export("a.bundle"));
  std::vector<client::OwnedSpec> specs;
  for (const int64_t n : {64, 128, 192, 999}) {
    specs.push_back(RmsNormSpec(1, n));
  }
  std::vector<const ingot_spec*> pointers;
  for (client::OwnedSpec& spec : specs) pointers.push_back(spec.spec());
  std::vector<ingot_status> statuses(specs.size());
  EXPECT_EQ(ingot_prepare_many(client.get(), pointers.data(), pointers.size(),
                               nullptr, nullptr, statuses.data(), nullptr),
            INGOT_UNAVAILABLE);
  EXPECT_THAT(statuses, ::testing::ElementsAre(INGOT_OK, INGOT_OK, INGOT_OK,
                                               INGOT_UNAVAILABLE));
  EXPECT_EQ(Stats(client).bundle_specs, 3u);
}

// One client, whose bundle is open when the process forks.
TEST_F(BundleFaultsTest, AForkedChildUsesItsParentsBundle) {
  Client client = AloneWith(Export("a.bundle"));
  ASSERT_EQ(Prepare(client, 64), INGOT_OK) << ingot_last_error();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool good = Prepare(client, 128) == INGOT_OK;
    _exit(good && !HasFailure() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Prepare(client, 192), INGOT_OK) << ingot_last_error();
}

// Readers open whatever has the bundle's name while it is written again and
// again; a writer that is killed leaves the name alone.
TEST_F(BundleFaultsTest, NobodySeesHalfABundle) {
  const std::string path = Export("a.bundle");
  std::atomic<bool> stop = false;
  std::atomic<int> opened = 0;
  std::thread reader([&] {
    while (!stop) {
      std::shared_ptr<const BundleFile> file;
      client::Status status = BundleFile::Open(path, &file);
      if (status.ok()) status = file->CheckAll();
      EXPECT_TRUE(status.ok()) << status.message;
      opened.fetch_add(1);
    }
  });
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    const absl::StatusOr<pid_t> child = StartChild(
        {CtlProgram(), "--address", address_, "export", "--to", path},
        folder_ / "log");
    ASSERT_TRUE(child.ok()) << child.status();
    usleep(random() % 30000);
    kill(*child, SIGKILL);
    waitpid(*child, nullptr, 0);
  }
  Export("a.bundle");
  stop = true;
  reader.join();
  EXPECT_GT(opened.load(), 0);
}

TEST_F(BundleFaultsTest, WhatIsThereIsNotSentAgain) {
  const std::string all = Export("all.bundle");
  std::shared_ptr<const BundleFile> file;
  ASSERT_TRUE(BundleFile::Open(all, &file).ok());
  ASSERT_EQ(file->kernels().size(), 3u);
  const std::string key = client::Hex(client::BytesOf(file->kernels()[1].key));
  const std::string one = Export("one.bundle", {"--key", key.substr(0, 12)});
  auto fresh = Daemon::Start({});
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  daemon_ = *std::move(fresh);
  address_ = daemon_->address();
  ASSERT_EQ(Ctl({"import", one}), 0) << output();
  daemon_->Kill();
  EXPECT_EQ(Ctl({"import", all}), 3) << output();
  ASSERT_TRUE(daemon_->Restart().ok());
  ASSERT_EQ(Ctl({"--output", "json", "import", all}), 0) << output();
  EXPECT_THAT(output(), HasSubstr("\"kernels\":{\"imported\":2,\"present\":1,"
                                  "\"refused\":0}"));
  EXPECT_THAT(output(), HasSubstr("\"objects_sent\":2,"));
}

// A fresh daemon is filled while both sides are killed.
TEST_F(BundleFaultsTest, AnInterruptedImportGoesOn) {
  for (int i = 0; i < 40; ++i) Make(RmsNormSpec(1, 1024 + 8 * i));
  const std::string path = Export("a.bundle");
  std::shared_ptr<const BundleFile> file;
  ASSERT_TRUE(BundleFile::Open(path, &file).ok());
  const size_t kernels = file->kernels().size();
  ASSERT_EQ(kernels, 43u);
  auto fresh = Daemon::Start({});
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  daemon_ = *std::move(fresh);
  address_ = daemon_->address();
  std::mt19937 random(9);
  for (int round = 0; round < 12; ++round) {
    const absl::StatusOr<pid_t> child = StartChild(
        {CtlProgram(), "--address", address_, "import", path}, folder_ / "log");
    ASSERT_TRUE(child.ok()) << child.status();
    usleep(random() % 20000);
    if (round % 3 == 2) {
      daemon_->Kill();
    } else {
      kill(*child, SIGKILL);
    }
    waitpid(*child, nullptr, 0);
    if (round % 3 == 2) {
      ASSERT_TRUE(daemon_->Restart().ok());
    }
  }
  ASSERT_EQ(Ctl({"--output", "json", "import", path}), 0) << output();
  EXPECT_THAT(output(), HasSubstr("\"refused\":[]"));
  ASSERT_EQ(Ctl({"--output", "json", "import", path}), 0) << output();
  EXPECT_THAT(output(), HasSubstr("\"imported\":0,\"present\":" +
                                  std::to_string(kernels)));
  EXPECT_THAT(output(), HasSubstr("\"objects_sent\":0"));
  ASSERT_EQ(Ctl({"verify"}), 0) << output();
  EXPECT_THAT(output(), HasSubstr("checked " + std::to_string(kernels) +
                                  ", damaged and dropped 0"));
  Client client = NewClient();
  client::OwnedSpec spec = RmsNormSpec(1, 1024);
  Prepared prepared;
  ASSERT_EQ(client.Prepare(spec.spec(), nullptr, &prepared), INGOT_OK);
  EXPECT_EQ(Describe(prepared).compile_us, 0u);
}

}  // namespace
}  // namespace ingot::testing
