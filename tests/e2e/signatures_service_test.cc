// Whoever answers in a daemon's place does not get code onto a GPU: answers
// altered on the way are refused before anything is kept or loaded.
#include <openssl/evp.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "ingot/v1/kernels.pb.h"
#include "tests/e2e/client_fixture.h"
#include "tests/support/altering_server.h"
#include "tests/support/signing_key.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;

std::string Digest(const std::string& bytes) {
  std::string digest(32, '\0');
  EVP_Digest(bytes.data(), bytes.size(),
             reinterpret_cast<unsigned char*>(digest.data()), nullptr,
             EVP_sha256(), nullptr);
  return digest;
}

class SignaturesTest : public ClientFixture {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("ingot-signatures-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    WriteSecret(folder_ / "signing.pem", ours_.private_pem);
    trusted_ = folder_ / "trusted.pem";
    Trust(ours_.public_pem);
    DaemonOptions options;
    options.flags = {"--workers=1",
                     "--signing-key=" + (folder_ / "signing.pem").string()};
    auto daemon = Daemon::Start(options);
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    address_ = daemon_->address();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Trust(const std::string& pem) { std::ofstream(trusted_) << pem; }

  // From now on answers to GetKernel pass through `alter`.
  void Alter(std::function<void(v1::GetKernelResponse*)> alter) {
    AlterBytes([alter = std::move(alter)](std::string* bytes) {
      v1::GetKernelResponse response;
      ASSERT_TRUE(response.ParseFromString(*bytes));
      alter(&response);
      *bytes = response.SerializeAsString();
    });
  }
  void AlterBytes(std::function<void(std::string*)> alter) {
    Alterations alterations;
    alterations.reply = [alter = std::move(alter)](const std::string& method,
                                                   std::string* bytes) {
      if (method == "GetKernel") alter(bytes);
    };
    server_.reset();
    server_ = std::make_unique<AlteringServer>(
        (folder_ / "between.sock").string(), daemon_->address(),
        std::move(alterations));
    address_ = server_->address();
  }

  // Prepares with a client of its own; the error is in ingot_last_error().
  ingot_status Prepare(uint32_t policy, uint64_t* objects = nullptr) {
    ingot_client_options options = {sizeof(options)};
    options.address = address_.c_str();
    options.call_timeout_ms = 60000;
    options.signature_policy = policy;
    options.trusted_keys = trusted_.c_str();
    Client client;
    EXPECT_EQ(Client::Create(&options, &client), INGOT_OK)
        << ingot_last_error();
    client::OwnedSpec spec = RmsNormSpec(4, 64);
    const ingot_prepare_options prepare = With(INGOT_PREPARE_NO_LOAD);
    Prepared prepared;
    const ingot_status status =
        client.Prepare(spec.spec(), &prepare, &prepared);
    if (objects != nullptr) *objects = Stats(client).objects;
    return status;
  }
  void ExpectRefused(ingot_status code, const std::string& text) {
    uint64_t objects = 0;
    EXPECT_EQ(Prepare(INGOT_SIGNATURES_REQUIRE, &objects), code)
        << ingot_last_error();
    EXPECT_THAT(ingot_last_error(), HasSubstr(text));
    EXPECT_EQ(objects, 0u);
  }

  std::filesystem::path folder_;
  std::string trusted_;
  const SigningKey ours_ = MakeSigningKey();
  const SigningKey theirs_ = MakeSigningKey();
  std::unique_ptr<AlteringServer> server_;
};

// A length-delimited field below 16.
std::string Field(int number, const std::string& bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  size_t size = bytes.size();
  for (; size >= 128; size >>= 7) field += static_cast<char>(size | 128);
  return field + static_cast<char>(size) + bytes;
}

void ReplaceCode(v1::Kernel* kernel) {
  std::string* object = kernel->mutable_object();
  const size_t at = object->size() / 2;
  (*object)[at] = static_cast<char>((*object)[at] ^ 0x40);
  kernel->mutable_record()->set_digest(Digest(*object));
}

TEST_F(SignaturesTest, WhatTheDaemonSignedIsTaken) {
  for (const uint32_t policy :
       {INGOT_SIGNATURES_OFF, INGOT_SIGNATURES_VERIFY_IF_PRESENT,
        INGOT_SIGNATURES_REQUIRE, INGOT_SIGNATURES_DEFAULT}) {
    EXPECT_EQ(Prepare(policy), INGOT_OK) << ingot_last_error();
  }
  // An answer that nobody touches survives the way.
  Alter([](v1::GetKernelResponse*) {});
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_REQUIRE), INGOT_OK) << ingot_last_error();
}

TEST_F(SignaturesTest, ManyAtOnceAreCheckedOneByOne) {
  Trust(theirs_.public_pem);
  ingot_client_options options = {sizeof(options)};
  options.address = address_.c_str();
  options.trusted_keys = trusted_.c_str();
  Client client;
  ASSERT_EQ(Client::Create(&options, &client), INGOT_OK);
  client::OwnedSpec one = RmsNormSpec(4, 64);
  client::OwnedSpec two = RmsNormSpec(4, 128);
  const ingot_spec* specs[] = {one.spec(), two.spec()};
  ingot_prepared* prepared[2] = {};
  ingot_status statuses[2] = {};
  const ingot_prepare_options prepare = With(INGOT_PREPARE_NO_LOAD);
  EXPECT_EQ(ingot_prepare_many(client.get(), specs, 2, &prepare, prepared,
                               statuses, nullptr),
            INGOT_FAILED_PRECONDITION);
  EXPECT_EQ(statuses[0], INGOT_FAILED_PRECONDITION);
  EXPECT_EQ(statuses[1], INGOT_FAILED_PRECONDITION);
  // The file of keys counts as it is now.
  Trust(theirs_.public_pem + ours_.public_pem);
  EXPECT_EQ(ingot_prepare_many(client.get(), specs, 2, &prepare, prepared,
                               statuses, nullptr),
            INGOT_OK)
      << ingot_last_error();
  for (ingot_prepared* each : prepared) ingot_prepared_release(each);
}

TEST_F(SignaturesTest, AForgedObjectIsRefused) {
  Alter([](v1::GetKernelResponse* response) {
    ReplaceCode(response->mutable_kernels(0));
  });
  // The attack is one: it works where nobody asks.
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_OFF), INGOT_OK) << ingot_last_error();
  ExpectRefused(INGOT_DATA_LOSS, ours_.id);
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_VERIFY_IF_PRESENT), INGOT_DATA_LOSS);
}

TEST_F(SignaturesTest, AnUnsignedObjectIsRefusedWhereSignaturesAreRequired) {
  Alter([](v1::GetKernelResponse* response) {
    ReplaceCode(response->mutable_kernels(0));
    response->mutable_kernels(0)->mutable_record()->clear_signatures();
  });
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_VERIFY_IF_PRESENT), INGOT_OK)
      << ingot_last_error();
  ExpectRefused(INGOT_FAILED_PRECONDITION, "no signature");
  EXPECT_THAT(ingot_last_error(), HasSubstr(ours_.id));
}

TEST_F(SignaturesTest, AStrangersSignatureDoesNotCount) {
  Trust(theirs_.public_pem);
  ExpectRefused(INGOT_FAILED_PRECONDITION, "signatures by " + ours_.id);
  EXPECT_THAT(ingot_last_error(), HasSubstr(theirs_.id));
}

TEST_F(SignaturesTest, ASwappedRecordIsRefused) {
  // Another kernel's answer, all of it well signed.
  v1::GetKernelResponse other;
  Alter([&](v1::GetKernelResponse* response) { other = *response; });
  ASSERT_EQ(Prepare(INGOT_SIGNATURES_OFF), INGOT_OK);
  client::OwnedSpec spec = RmsNormSpec(4, 128);
  Prepared prepared;
  const ingot_prepare_options prepare = With(INGOT_PREPARE_NO_LOAD);
  Alter([&](v1::GetKernelResponse* response) { std::swap(other, *response); });
  Client swapping = NewClient();
  EXPECT_EQ(swapping.Prepare(spec.spec(), &prepare, &prepared),
            INGOT_INTERNAL);  // the plan is for another spec
  // `other` is the answer for n = 128 now: its kernel, under our plan.
  Alter([&](v1::GetKernelResponse* response) {
    *response->mutable_kernels(0) = other.kernels(0);
  });
  ExpectRefused(INGOT_INTERNAL, "not of the plan");
  // And with our key on it.
  Alter([&](v1::GetKernelResponse* response) {
    const std::string key = response->kernels(0).record().key();
    *response->mutable_kernels(0) = other.kernels(0);
    response->mutable_kernels(0)->mutable_record()->set_key(key);
  });
  ExpectRefused(INGOT_DATA_LOSS, ours_.id);
}

TEST_F(SignaturesTest, ATruncatedObjectIsRefused) {
  Alter([](v1::GetKernelResponse* response) {
    std::string* object = response->mutable_kernels(0)->mutable_object();
    object->resize(object->size() / 2);
    v1::Record* record = response->mutable_kernels(0)->mutable_record();
    record->set_digest(Digest(*object));
    record->set_size(object->size());
  });
  ExpectRefused(INGOT_DATA_LOSS, ours_.id);
}

TEST_F(SignaturesTest, ARelabelledObjectIsRefused) {
  Alter([](v1::GetKernelResponse* response) {
    response->mutable_kernels(0)
        ->mutable_record()
        ->mutable_description()
        ->set_target("gfx950:xnack-");
  });
  ExpectRefused(INGOT_DATA_LOSS, ours_.id);
  Alter([](v1::GetKernelResponse* response) {
    response->mutable_kernels(0)
        ->mutable_record()
        ->mutable_description()
        ->set_max_workgroup(1024);
  });
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_OFF), INGOT_OK) << ingot_last_error();
  ExpectRefused(INGOT_DATA_LOSS, ours_.id);
}

TEST_F(SignaturesTest, AnAlteredPlanIsRefused) {
  Alter([](v1::GetKernelResponse* response) {
    for (v1::Variant& variant : *response->mutable_plan()->mutable_variants()) {
      variant.set_name("another");
    }
  });
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_OFF), INGOT_OK) << ingot_last_error();
  ExpectRefused(INGOT_DATA_LOSS, "plan: found a signature by key " + ours_.id);
  Alter([](v1::GetKernelResponse* response) {
    response->mutable_plan()->clear_signatures();
  });
  ExpectRefused(INGOT_FAILED_PRECONDITION, "plan: found no signature");
}

// Parsers merge what stands twice, or take the last: signed first, changed by
// what follows.
TEST_F(SignaturesTest, WhatStandsTwiceIsRefused) {
  AlterBytes([](std::string* bytes) {
    v1::GetKernelResponse more;
    more.mutable_plan()->set_epoch(9);
    *bytes += more.SerializeAsString();
  });
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_OFF), INGOT_OK) << ingot_last_error();
  ExpectRefused(INGOT_INTERNAL, "twice");
  AlterBytes([](std::string* bytes) {
    // A kernel whose record has a second description.
    v1::GetKernelResponse response;
    ASSERT_TRUE(response.ParseFromString(*bytes));
    v1::Kernel kernel = response.kernels(0);
    response.clear_kernels();
    v1::Record more;
    *more.mutable_description() = kernel.record().description();
    more.mutable_description()->set_max_workgroup(1024);
    const std::string record =
        kernel.record().SerializeAsString() + more.SerializeAsString();
    kernel.clear_record();
    *bytes = response.SerializeAsString() +
             Field(2, Field(1, record) + kernel.SerializeAsString());
  });
  EXPECT_EQ(Prepare(INGOT_SIGNATURES_OFF), INGOT_OK) << ingot_last_error();
  ExpectRefused(INGOT_DATA_LOSS, "stand twice");
}

TEST_F(SignaturesTest, ABadPolicyOrFileIsSaidAtOnce) {
  ingot_client_options options = {sizeof(options)};
  options.address = address_.c_str();
  Client client;
  options.signature_policy = 4;
  EXPECT_EQ(Client::Create(&options, &client), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("signature_policy"));
  options.signature_policy = INGOT_SIGNATURES_REQUIRE;
  EXPECT_EQ(Client::Create(&options, &client), INGOT_INVALID_ARGUMENT);
  options.trusted_keys = "/nowhere.pem";
  EXPECT_EQ(Client::Create(&options, &client), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("/nowhere.pem"));
}

}  // namespace
}  // namespace ingot::testing
