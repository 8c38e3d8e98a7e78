// Who can write to a daemon's store does not get code onto a GPU: entries
// planted there, of every kind, are not handed out, and what is built in their
// place is.
#include <algorithm>
#include <fstream>
#include <functional>
#include <thread>

#include "cache/digest.h"
#include "cache/rocksdb_store.h"
#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "server/signed_bytes.h"
#include "tests/daemon/fixture.h"
#include "tests/support/signing_key.h"

namespace ingot::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using testing::MakeSigningKey;
using testing::SigningKey;
using testing::WriteSecret;

const char* const kRefused =
    R"(ingot_signature_checks_total{result="refused"})";
const char* const kTrusted =
    R"(ingot_signature_checks_total{result="trusted"})";

class SignaturesTest : public DaemonTest {
 protected:
  void SetUp() override { WriteSecret(KeyPath(), ours_.private_pem); }

  std::string KeyPath() const { return folder_ / "signing.pem"; }
  std::string TrustedPath() const { return folder_ / "trusted.pem"; }

  void Start(std::vector<std::string> flags) {
    testing::DaemonOptions options;
    options.flags = std::move(flags);
    options.flags.emplace_back("--workers=1");
    options.state_dir = folder_ / "state";
    again_.reset();
    StartDaemon(options);
  }
  void StartSigning(const std::string& policy) {
    Start({"--signing-key=" + KeyPath(), "--signature-policy=" + policy});
  }

  v1::GetKernelResponse Get(const v1::Spec& spec) {
    Answer<v1::GetKernelResponse> answer = caller().Get(spec);
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.response;
  }
  // What a client that wants records alone is told.
  v1::GetKernelResponse Look(const v1::Spec& spec) {
    v1::GetKernelRequest request = RequestOf(spec);
    request.set_omit_bytes(true);
    Answer<v1::GetKernelResponse> answer = caller().Get(request);
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.response;
  }

  // Runs `change` on every stored kernel while no daemon runs.
  using Change = std::function<void(cache::Publication*)>;
  void Plant(const Change& change) {
    ASSERT_EQ(daemon().Terminate().value_or(-1), 0);
    {
      absl::StatusOr<std::unique_ptr<cache::Store>> store =
          cache::OpenRocksStore({.directory = daemon().state_dir() + "/store"});
      ASSERT_TRUE(store.ok()) << store.status();
      std::vector<std::string> keys;
      ASSERT_TRUE((*store)
                      ->Scan("", 100,
                             [&](const cache::ScanEntry& entry) {
                               keys.push_back(entry.key);
                               return true;
                             })
                      .ok());
      for (const std::string& key : keys) {
        const std::optional<cache::Entry> entry = *(*store)->Get(key);
        cache::Publication planted{key, std::string(*entry->record),
                                   entry->digest, std::string(*entry->object)};
        change(&planted);
        ASSERT_TRUE((*store)->Publish(planted).ok());
      }
    }
    Restart();
  }
  void Restart() {
    ASSERT_TRUE(daemon().Restart().ok());
    again_ = std::make_unique<Client>(daemon().address());
  }

  // Of the daemon that runs now: the fixture's knows only the first.
  Client& caller() { return again_ != nullptr ? *again_ : client(); }

  const cache::TempDir folder_;
  const SigningKey ours_ = MakeSigningKey();
  const SigningKey theirs_ = MakeSigningKey();

 private:
  std::unique_ptr<Client> again_;
};

void Edit(cache::Publication* entry,
          const std::function<void(v1::Record*)>& edit) {
  v1::Record record;
  ASSERT_TRUE(record.ParseFromString(entry->record));
  edit(&record);
  entry->record = record.SerializeAsString();
}

// Other code of the same shape: the last byte of the ELF's text is somebody
// else's, and the record is made to fit.
void ReplaceCode(cache::Publication* entry) {
  const size_t end = entry->object.rfind("s_code_end");
  const size_t at = end == std::string::npos ? entry->object.size() / 2 : end;
  entry->object[at] = static_cast<char>(entry->object[at] ^ 0x40);
  entry->digest = cache::Sha256(entry->object);
  Edit(entry, [&](v1::Record* record) { record->set_digest(entry->digest); });
}

TEST_F(SignaturesTest, WhatIsMadeIsSignedAndStaysSo) {
  StartSigning("require");
  const v1::GetKernelResponse made = Get(RmsNorm(64));
  ASSERT_EQ(made.kernels_size(), 1);
  ASSERT_EQ(made.kernels(0).record().signatures_size(), 1);
  EXPECT_EQ(made.kernels(0).record().signatures(0).key_id(), ours_.id);
  ASSERT_EQ(made.plan().signatures_size(), 1);
  EXPECT_EQ(made.plan().signatures(0).key_id(), ours_.id);
  ASSERT_EQ(daemon().Terminate().value_or(-1), 0);
  Restart();
  const v1::GetKernelResponse again = Get(RmsNorm(64));
  EXPECT_EQ(again.kernels(0).source(), v1::SOURCE_STORE);
  EXPECT_EQ(again.kernels(0).record().SerializeAsString(),
            made.kernels(0).record().SerializeAsString());
  EXPECT_EQ(again.plan().SerializeAsString(), made.plan().SerializeAsString());
  // Once an object, not once a hit.
  const double checked = caller().CounterOf(kTrusted);
  EXPECT_GE(checked, 1);
  for (int i = 0; i < 5; ++i) Get(RmsNorm(64));
  EXPECT_EQ(caller().CounterOf(kTrusted), checked);
  EXPECT_EQ(caller().CounterOf(kRefused), 0);
  EXPECT_EQ(caller().CounterOf("ingot_trusted_keys"), 1);
}

struct Attack {
  const char* name;
  std::function<void(cache::Publication*, const SigningKey& stranger)> plant;
  // Whether it is served where nobody asks for signatures: else something else
  // finds it, too.
  bool works_unsigned;
};

void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

class PlantedTest : public SignaturesTest,
                    public ::testing::WithParamInterface<Attack> {};

TEST_P(PlantedTest, IsNotServedAndIsBuiltAnew) {
  StartSigning("require");
  const v1::GetKernelResponse good = Get(RmsNorm(64));
  Plant([&](cache::Publication* entry) { GetParam().plant(entry, theirs_); });
  const Answer<v1::VerifyResponse> verified =
      caller().Call(&v1::Admin::Stub::Verify, v1::VerifyRequest());
  ASSERT_TRUE(verified.ok()) << verified.message();
  EXPECT_EQ(verified.response.untrusted(), GetParam().works_unsigned ? 1 : 0);
  const v1::GetKernelResponse looked = Look(RmsNorm(64));
  ASSERT_EQ(looked.kernels_size(), 1);
  EXPECT_EQ(looked.kernels(0).record().digest(),
            good.kernels(0).record().digest());
  EXPECT_EQ(looked.kernels(0).record().description().SerializeAsString(),
            good.kernels(0).record().description().SerializeAsString());
  const v1::GetKernelResponse got = Get(RmsNorm(64));
  EXPECT_EQ(got.kernels(0).object(), good.kernels(0).object());
  EXPECT_EQ(got.kernels(0).record().signatures(0).key_id(), ours_.id);
  EXPECT_EQ(caller().CounterOf("ingot_compiles_total"), 1);
  if (GetParam().works_unsigned) {
    EXPECT_GE(caller().CounterOf(kRefused), 1);
    EXPECT_THAT(daemon().Log(), HasSubstr("ALARM: untrusted entry refused"));
  }
}

// The attacks are attacks: a daemon that asks for no signatures falls for them.
TEST_P(PlantedTest, IsServedWhereNobodyAsks) {
  if (!GetParam().works_unsigned) GTEST_SKIP() << "found without signatures";
  Start({"--signature-policy=off"});
  const v1::GetKernelResponse good = Get(RmsNorm(64));
  Plant([&](cache::Publication* entry) { GetParam().plant(entry, theirs_); });
  const v1::GetKernelResponse got = Get(RmsNorm(64));
  EXPECT_EQ(got.kernels(0).source(), v1::SOURCE_STORE);
  EXPECT_EQ(caller().CounterOf("ingot_compiles_total"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Attacks, PlantedTest,
    ::testing::Values(
        Attack{"forged",
               [](cache::Publication* entry, const SigningKey&) {
                 ReplaceCode(entry);
               },
               true},
        Attack{"unsigned",
               [](cache::Publication* entry, const SigningKey&) {
                 ReplaceCode(entry);
                 Edit(entry,
                      [](v1::Record* record) { record->clear_signatures(); });
               },
               true},
        Attack{"signed_by_a_stranger",
               [](cache::Publication* entry, const SigningKey& stranger) {
                 ReplaceCode(entry);
                 Edit(entry, [&](v1::Record* record) {
                   record->clear_signatures();
                   v1::Signature* signature = record->add_signatures();
                   signature->set_key_id(stranger.id);
                   signature->set_value(stranger.Sign(
                       ReadSignedRecord(record->SerializeAsString())->bytes));
                 });
               },
               true},
        Attack{"relabelled_target",
               [](cache::Publication* entry, const SigningKey&) {
                 Edit(entry, [](v1::Record* record) {
                   record->mutable_description()->set_target(
                       "gfx950:sramecc+:xnack-");
                 });
               },
               true},
        Attack{"relabelled_description",
               [](cache::Publication* entry, const SigningKey&) {
                 Edit(entry, [](v1::Record* record) {
                   record->mutable_description()->set_kernarg_bytes(8);
                 });
               },
               true},
        Attack{"truncated",
               [](cache::Publication* entry, const SigningKey&) {
                 entry->object.resize(entry->object.size() / 2);
                 entry->digest = cache::Sha256(entry->object);
                 Edit(entry, [&](v1::Record* record) {
                   record->set_digest(entry->digest);
                   record->set_size(entry->object.size());
                 });
               },
               false}),
    [](const auto& info) { return std::string(info.param.name); });

// A record of another key, whose signature is good, with the key encoding that
// the daemon compares.
TEST_F(SignaturesTest, ASwappedRecordIsNotServed) {
  StartSigning("require");
  const v1::GetKernelResponse one = Get(RmsNorm(64));
  const v1::GetKernelResponse two = Get(RmsNorm(128));
  std::vector<v1::Record> records = {one.kernels(0).record(),
                                     two.kernels(0).record()};
  const std::string objects[] = {one.kernels(0).object(),
                                 two.kernels(0).object()};
  Plant([&](cache::Publication* entry) {
    const size_t other = records[0].key() == entry->key ? 1 : 0;
    v1::Record swapped = records[other];
    swapped.set_key_encoding(records[1 - other].key_encoding());
    entry->record = swapped.SerializeAsString();
    entry->digest = swapped.digest();
    entry->object = objects[other];
  });
  EXPECT_EQ(Look(RmsNorm(64)).kernels(0).record().key(), records[0].key());
  EXPECT_EQ(Get(RmsNorm(64)).kernels(0).object(), objects[0]);
  EXPECT_EQ(Get(RmsNorm(128)).kernels(0).object(), objects[1]);
  EXPECT_EQ(caller().CounterOf("ingot_compiles_total"), 2);
  EXPECT_GE(caller().CounterOf(kRefused), 1);
}

TEST_F(SignaturesTest, VerifyIfPresentServesTheUnsignedAndRefusesForgeries) {
  StartSigning("verify_if_present");
  const v1::GetKernelResponse good = Get(RmsNorm(64));
  Plant([](cache::Publication* entry) {
    Edit(entry, [](v1::Record* record) { record->clear_signatures(); });
  });
  EXPECT_EQ(Get(RmsNorm(64)).kernels(0).source(), v1::SOURCE_STORE);
  Plant([&](cache::Publication* entry) {
    entry->record = good.kernels(0).record().SerializeAsString();
    ReplaceCode(entry);
  });
  EXPECT_EQ(Get(RmsNorm(64)).kernels(0).object(), good.kernels(0).object());
  EXPECT_EQ(caller().CounterOf("ingot_compiles_total"), 1);
}

// A node that holds no private key serves what others signed, and nothing else.
TEST_F(SignaturesTest, ANodeWithoutAKeyServesWhatOthersSigned) {
  StartSigning("require");
  const v1::GetKernelResponse made = Get(RmsNorm(64));
  ASSERT_EQ(daemon().Terminate().value_or(-1), 0);
  std::ofstream(TrustedPath()) << ours_.public_pem;
  Start({"--trusted-keys=" + TrustedPath(), "--signature-policy=require"});
  const v1::GetKernelResponse got = Get(RmsNorm(64));
  EXPECT_EQ(got.plan().SerializeAsString(), made.plan().SerializeAsString());
  EXPECT_EQ(got.kernels(0).record().signatures(0).key_id(), ours_.id);
  const Answer<v1::GetKernelResponse> other = caller().Get(RmsNorm(128));
  EXPECT_EQ(other.code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(other.message(), HasSubstr("signing_key"));
}

TEST_F(SignaturesTest, OnlyWhatATrustedKeySignedIsImported) {
  // Another daemon's, under another key.
  WriteSecret(folder_ / "theirs.pem", theirs_.private_pem);
  testing::DaemonOptions options;
  options.flags = {"--workers=1", "--signing-key=" + (folder_ / "theirs.pem")};
  const auto other = testing::Daemon::Start(options);
  ASSERT_TRUE(other.ok()) << other.status();
  Answer<v1::GetKernelResponse> made =
      Client((*other)->address()).Get(RmsNorm(64));
  ASSERT_TRUE(made.ok()) << made.message();
  const v1::GetKernelResponse& theirs = made.response;
  v1::ImportRequest request;
  v1::ImportKernel* kernel = request.add_kernels();
  kernel->set_record(theirs.kernels(0).record().SerializeAsString());
  kernel->set_object(theirs.kernels(0).object());
  request.add_plans(theirs.plan().SerializeAsString());
  const auto import = [&] {
    Answer<v1::ImportResponse> answer =
        caller().Call(&v1::Admin::Stub::Import, request);
    EXPECT_TRUE(answer.ok()) << answer.message();
    return answer.response;
  };

  std::ofstream(TrustedPath()) << ours_.public_pem;
  Start({"--trusted-keys=" + TrustedPath(), "--signature-policy=require"});
  const v1::ImportResponse refused = import();
  ASSERT_EQ(refused.kernels_size(), 1);
  EXPECT_EQ(refused.kernels(0).state(), v1::IMPORT_REFUSED);
  EXPECT_THAT(refused.kernels(0).reason(), HasSubstr(theirs_.id));
  ASSERT_EQ(refused.plans_size(), 1);
  EXPECT_EQ(refused.plans(0).state(), v1::IMPORT_REFUSED);
  EXPECT_EQ(caller().Get(RmsNorm(64)).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(caller().Stats().entries(), 0u);
  request.set_dry_run(true);
  const v1::ImportResponse foretold = import();
  EXPECT_EQ(foretold.kernels(0).state(), v1::IMPORT_REFUSED)
      << "a dry run promises what is refused";
  EXPECT_EQ(foretold.plans(0).state(), v1::IMPORT_REFUSED);
  request.set_dry_run(false);

  std::ofstream(TrustedPath()) << theirs_.public_pem;
  ASSERT_EQ(daemon().Terminate().value_or(-1), 0);
  Restart();
  const std::string good = kernel->record();
  v1::Record relabelled = theirs.kernels(0).record();
  relabelled.mutable_description()->set_target("gfx950:xnack-");
  kernel->set_record(relabelled.SerializeAsString());
  const v1::ImportResponse forged = import();
  EXPECT_EQ(forged.kernels(0).state(), v1::IMPORT_REFUSED);
  EXPECT_THAT(forged.kernels(0).reason(), HasSubstr(theirs_.id));
  kernel->set_record(good);
  const v1::ImportResponse taken = import();
  EXPECT_EQ(taken.kernels(0).state(), v1::IMPORT_IMPORTED)
      << taken.kernels(0).reason();
  EXPECT_EQ(taken.plans(0).state(), v1::IMPORT_IMPORTED)
      << taken.plans(0).reason();
  const v1::GetKernelResponse got = Get(RmsNorm(64));
  EXPECT_EQ(got.plan().SerializeAsString(), theirs.plan().SerializeAsString());
  EXPECT_EQ(got.kernels(0).record().SerializeAsString(),
            theirs.kernels(0).record().SerializeAsString());
}

// Also one that asks for no signatures, for clients that do.
TEST_F(SignaturesTest, AnImportBringsSignaturesToWhatHasNone) {
  StartSigning("off");
  const v1::GetKernelResponse made = Get(RmsNorm(64));
  ASSERT_EQ(made.plan().signatures_size(), 1);
  testing::DaemonOptions options;
  options.flags = {"--workers=1"};
  const auto other = testing::Daemon::Start(options);
  ASSERT_TRUE(other.ok()) << other.status();
  Client client((*other)->address());
  EXPECT_EQ(client.Get(RmsNorm(64)).response.plan().signatures_size(), 0);
  v1::ImportRequest request;
  v1::ImportKernel* kernel = request.add_kernels();
  kernel->set_record(made.kernels(0).record().SerializeAsString());
  kernel->set_object(made.kernels(0).object());
  request.add_plans(made.plan().SerializeAsString());
  const Answer<v1::ImportResponse> imported =
      client.Call(&v1::Admin::Stub::Import, request);
  ASSERT_TRUE(imported.ok()) << imported.message();
  ASSERT_EQ(imported.response.plans(0).state(), v1::IMPORT_IMPORTED)
      << imported.response.plans(0).reason();
  EXPECT_EQ(imported.response.kernels(0).state(), v1::IMPORT_IMPORTED)
      << imported.response.kernels(0).reason();
  const Answer<v1::GetKernelResponse> got = client.Get(RmsNorm(64));
  EXPECT_EQ(got.response.plan().SerializeAsString(),
            made.plan().SerializeAsString());
  EXPECT_EQ(got.response.kernels(0).record().SerializeAsString(),
            made.kernels(0).record().SerializeAsString());
  // A second time there is nothing to bring.
  const Answer<v1::ImportResponse> again =
      client.Call(&v1::Admin::Stub::Import, request);
  EXPECT_EQ(again.response.plans(0).state(), v1::IMPORT_PRESENT);
  EXPECT_EQ(again.response.kernels(0).state(), v1::IMPORT_PRESENT);
}

TEST_F(SignaturesTest, KeysRotateWithoutARestart) {
  std::ofstream(TrustedPath()) << ours_.public_pem;
  Start({"--signing-key=" + KeyPath(), "--trusted-keys=" + TrustedPath(),
         "--signature-policy=require"});
  const auto wait_for = [&](const std::string& text, int count) {
    for (int i = 0; i < 3000; ++i) {
      const std::string log = daemon().Log();
      int found = 0;
      for (size_t at = log.find(text); at != std::string::npos;
           at = log.find(text, at + 1)) {
        ++found;
      }
      if (found >= count) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << text << " is not in the log " << count << " times";
  };
  const std::string old = Get(RmsNorm(64)).kernels(0).object();
  // What cannot be used changes nothing, and is said.
  WriteSecret(KeyPath(), "nonsense");
  wait_for("keys not reloaded", 1);
  EXPECT_EQ(Get(RmsNorm(96)).plan().signatures(0).key_id(), ours_.id);
  EXPECT_GE(caller().CounterOf("ingot_signature_key_errors_total"), 1);

  WriteSecret(KeyPath(), theirs_.private_pem);
  wait_for("keys reloaded", 1);
  const v1::GetKernelResponse fresh = Get(RmsNorm(128));
  EXPECT_EQ(fresh.kernels(0).record().signatures(0).key_id(), theirs_.id);
  // The old one is still trusted: a kernel that it signed is a hit, in a plan
  // that the new one signs.
  const v1::GetKernelResponse kept = Get(RmsNorm(64));
  EXPECT_EQ(kept.kernels(0).record().signatures(0).key_id(), ours_.id);
  EXPECT_EQ(kept.plan().signatures(0).key_id(), theirs_.id);
  EXPECT_EQ(kept.compile_us(), 0u);

  // No more: what lies in memory goes as well.
  std::ofstream(TrustedPath()) << theirs_.public_pem;
  wait_for("keys reloaded", 2);
  const v1::GetKernelResponse rebuilt = Get(RmsNorm(64));
  EXPECT_EQ(rebuilt.kernels(0).record().signatures(0).key_id(), theirs_.id);
  EXPECT_EQ(rebuilt.kernels(0).object(), old);
  EXPECT_GT(rebuilt.compile_us(), 0u);
  EXPECT_EQ(Get(RmsNorm(128)).compile_us(), 0u);
}

TEST_F(SignaturesTest, ADaemonWithBadKeysDoesNotStart) {
  const auto why = [&](std::vector<std::string> flags) {
    testing::DaemonOptions options;
    options.flags = std::move(flags);
    return std::string(testing::Daemon::Start(options).status().message());
  };
  EXPECT_THAT(why({"--signature-policy=sometimes"}),
              HasSubstr("allowed off, verify_if_present, require"));
  EXPECT_THAT(why({"--signature-policy=require"}),
              HasSubstr("trusted_keys or signing_key"));
  EXPECT_THAT(why({"--trusted-keys=/nowhere.pem"}),
              HasSubstr("trusted_keys: /nowhere.pem"));
  ASSERT_EQ(chmod(KeyPath().c_str(), 0640), 0);
  EXPECT_THAT(why({"--signing-key=" + KeyPath()}),
              HasSubstr("found mode 0640, allowed 0600"));
}

}  // namespace
}  // namespace ingot::server
