// Who is trusted, and what passes under which policy.
#include "server/trust.h"

#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "cache/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ingot/v1/plan.pb.h"
#include "ingot/v1/record.pb.h"
#include "tests/support/signing_key.h"

namespace ingot::server {
namespace {

using ::ingot::testing::MakeSigningKey;
using ::ingot::testing::SigningKey;
using ::ingot::testing::WriteSecret;
using ::testing::HasSubstr;

v1::Record SampleRecord() {
  v1::Record record;
  record.set_schema(1);
  record.set_key(std::string(32, 'k'));
  record.set_digest(std::string(32, 'd'));
  record.set_size(4096);
  record.mutable_description()->set_symbol("kernel");
  record.mutable_description()->set_target("gfx950");
  record.mutable_description()->set_lds_bytes(1024);
  return record;
}

v1::Plan SamplePlan() {
  v1::Plan plan;
  plan.set_schema(1);
  plan.set_spec_digest(std::string(32, 's'));
  plan.set_epoch(1);
  plan.set_fingerprint(std::string(32, 'f'));
  plan.add_variants()->set_name("only");
  return plan;
}

// Under the key that is its own.
absl::Status Check(const Trust& trust, const std::string& record) {
  return trust.CheckRecord(SampleRecord().key(), record);
}
absl::Status CheckPlan(const Trust& trust, const std::string& plan) {
  return trust.CheckPlan(
      std::string(32, 's') + std::string(32, 'f') + "0000000000000001", plan);
}

class TrustTest : public ::testing::Test {
 protected:
  std::unique_ptr<Trust> Open(SignaturePolicy policy,
                              const std::string& signing,
                              const std::string& trusted) {
    TrustSettings settings{policy, "", ""};
    if (!signing.empty()) {
      settings.signing_key = folder_ / "signing.pem";
      WriteSecret(settings.signing_key, signing);
    }
    if (!trusted.empty()) {
      settings.trusted_keys = folder_ / "trusted.pem";
      std::ofstream(settings.trusted_keys) << trusted;
    }
    absl::StatusOr<std::unique_ptr<Trust>> trust =
        Trust::Open(settings, counters_);
    EXPECT_TRUE(trust.ok()) << trust.status();
    return trust.ok() ? *std::move(trust) : nullptr;
  }

  uint64_t Checks(const std::string& result) {
    return counters_
        .Get("ingot_signature_checks_total{result=\"" + result + "\"}")
        .value();
  }

  std::string Signed(const v1::Record& record, const SigningKey& key) {
    std::string bytes = record.SerializeAsString();
    const absl::StatusOr<struct Signed> read = ReadSignedRecord(bytes);
    AppendRecordSignature({key.id, key.Sign(read->bytes)}, &bytes);
    return bytes;
  }

  const cache::TempDir folder_;
  Counters counters_;
  const SigningKey ours_ = MakeSigningKey();
  const SigningKey theirs_ = MakeSigningKey();
};

TEST_F(TrustTest, WhatItSignsItAccepts) {
  const auto trust = Open(SignaturePolicy::kRequire, ours_.private_pem, "");
  std::string record = SampleRecord().SerializeAsString();
  trust->SignRecord(&record);
  EXPECT_TRUE(Check(*trust, record).ok());
  std::string plan = SamplePlan().SerializeAsString();
  trust->SignPlan(&plan);
  EXPECT_TRUE(CheckPlan(*trust, plan).ok());
  v1::Record parsed;
  ASSERT_TRUE(parsed.ParseFromString(record));
  ASSERT_EQ(parsed.signatures_size(), 1);
  EXPECT_EQ(parsed.signatures(0).key_id(), ours_.id);
  EXPECT_EQ(counters_.Get("ingot_signatures_made_total").value(), 2);
  EXPECT_EQ(Checks("trusted"), 2);
}

TEST_F(TrustTest, RequireRefusesTheUnsignedAndStrangers) {
  const auto trust = Open(SignaturePolicy::kRequire, "", ours_.public_pem);
  const absl::Status none = Check(*trust, SampleRecord().SerializeAsString());
  EXPECT_TRUE(absl::IsFailedPrecondition(none)) << none;
  EXPECT_THAT(std::string(none.message()), HasSubstr("no signature"));
  EXPECT_THAT(std::string(none.message()), HasSubstr(ours_.id));
  const absl::Status stranger = Check(*trust, Signed(SampleRecord(), theirs_));
  EXPECT_TRUE(absl::IsFailedPrecondition(stranger)) << stranger;
  EXPECT_THAT(std::string(stranger.message()), HasSubstr(theirs_.id));
  EXPECT_FALSE(CheckPlan(*trust, SamplePlan().SerializeAsString()).ok());
  EXPECT_EQ(Checks("refused"), 3);
}

TEST_F(TrustTest, VerifyIfPresentLetsStrangersPassAndForgeriesNot) {
  const auto trust =
      Open(SignaturePolicy::kVerifyIfPresent, "", ours_.public_pem);
  EXPECT_TRUE(Check(*trust, SampleRecord().SerializeAsString()).ok());
  EXPECT_TRUE(Check(*trust, Signed(SampleRecord(), theirs_)).ok());
  EXPECT_TRUE(Check(*trust, Signed(SampleRecord(), ours_)).ok());
  EXPECT_EQ(Checks("unsigned"), 2);
  // Theirs under our id.
  SigningKey forger = theirs_;
  forger.id = ours_.id;
  const absl::Status forged = Check(*trust, Signed(SampleRecord(), forger));
  EXPECT_TRUE(absl::IsDataLoss(forged)) << forged;
  EXPECT_THAT(std::string(forged.message()), HasSubstr(ours_.id));
}

TEST_F(TrustTest, AKeyIsThatOfTheStoreToo) {
  const auto trust = Open(SignaturePolicy::kRequire, ours_.private_pem, "");
  std::string record = SampleRecord().SerializeAsString();
  trust->SignRecord(&record);
  EXPECT_TRUE(
      absl::IsDataLoss(trust->CheckRecord(std::string(32, 'x'), record)));
  std::string plan = SamplePlan().SerializeAsString();
  trust->SignPlan(&plan);
  EXPECT_TRUE(CheckPlan(*trust, plan).ok());
  for (const std::string& key :
       {std::string(32, 's') + std::string(32, 'f') + "0000000000000002",
        std::string(32, 'x') + std::string(32, 'f') + "0000000000000001",
        std::string(32, 's') + std::string(32, 'x') + "0000000000000001"}) {
    EXPECT_TRUE(absl::IsDataLoss(trust->CheckPlan(key, plan)));
  }
}

TEST_F(TrustTest, OffAcceptsAnything) {
  const auto trust = Open(SignaturePolicy::kOff, "", "");
  EXPECT_TRUE(Check(*trust, "no record at all").ok());
  EXPECT_TRUE(CheckPlan(*trust, "").ok());
}

TEST_F(TrustTest, EverySignedFieldIsCovered) {
  const auto trust = Open(SignaturePolicy::kRequire, "", ours_.public_pem);
  const std::string good = Signed(SampleRecord(), ours_);
  EXPECT_TRUE(Check(*trust, good).ok());
  const std::function<void(v1::Record*)> changes[] = {
      [](v1::Record* r) { r->set_schema(2); },
      [](v1::Record* r) { r->set_key(std::string(32, 'x')); },
      [](v1::Record* r) { r->set_digest(std::string(32, 'x')); },
      [](v1::Record* r) {
        r->mutable_description()->set_target("gfx950:xnack-");
      },
      [](v1::Record* r) { r->mutable_description()->set_symbol("other"); },
      [](v1::Record* r) { r->mutable_description()->set_lds_bytes(0); },
      [](v1::Record* r) { r->mutable_signatures(0)->set_value("short"); },
  };
  int number = 0;
  for (const auto& change : changes) {
    v1::Record record;
    ASSERT_TRUE(record.ParseFromString(good));
    change(&record);
    const absl::Status status = Check(*trust, record.SerializeAsString());
    EXPECT_TRUE(absl::IsDataLoss(status)) << number << ": " << status;
    ++number;
  }
}

TEST_F(TrustTest, EveryFieldOfAPlanIsCovered) {
  const auto trust = Open(SignaturePolicy::kRequire, ours_.private_pem, "");
  std::string good = SamplePlan().SerializeAsString();
  trust->SignPlan(&good);
  v1::Plan plan;
  ASSERT_TRUE(plan.ParseFromString(good));
  plan.mutable_variants(0)->set_name("another");
  EXPECT_TRUE(absl::IsDataLoss(CheckPlan(*trust, plan.SerializeAsString())));
  // A plan's signature is none of a record's.
  v1::Record record = SampleRecord();
  *record.add_signatures() = plan.signatures(0);
  EXPECT_TRUE(absl::IsDataLoss(Check(*trust, record.SerializeAsString())));
}

TEST_F(TrustTest, OneTrustedSignatureAmongManyIsEnough) {
  const auto trust = Open(SignaturePolicy::kRequire, "", ours_.public_pem);
  std::string record = Signed(SampleRecord(), theirs_);
  const std::string ours = ours_.Sign(ReadSignedRecord(record)->bytes);
  AppendRecordSignature({ours_.id, ours}, &record);
  EXPECT_TRUE(Check(*trust, record).ok());
  // But not when another claims the same key and lies.
  std::string forged = record;
  AppendRecordSignature({ours_.id, std::string(64, '\1')}, &forged);
  EXPECT_TRUE(absl::IsDataLoss(Check(*trust, forged)));
  // Nor are there so many that checking them is an attack.
  for (int i = 0; i < 20; ++i) {
    AppendRecordSignature({ours_.id, ours}, &record);
  }
  EXPECT_TRUE(absl::IsDataLoss(Check(*trust, record)));
}

TEST_F(TrustTest, SeveralKeysSignSideBySide) {
  const auto trust = Open(SignaturePolicy::kRequire,
                          ours_.private_pem + theirs_.private_pem, "");
  std::string bytes = SampleRecord().SerializeAsString();
  trust->SignRecord(&bytes);
  v1::Record record;
  ASSERT_TRUE(record.ParseFromString(bytes));
  ASSERT_EQ(record.signatures_size(), 2);
  EXPECT_EQ(record.signatures(1).key_id(), theirs_.id);
  EXPECT_TRUE(Check(*trust, bytes).ok());
}

TEST_F(TrustTest, KeysRotateWithoutARestart) {
  const auto trust = Open(SignaturePolicy::kRequire, ours_.private_pem,
                          "# both\n" + ours_.public_pem + theirs_.public_pem);
  std::string old = SampleRecord().SerializeAsString();
  trust->SignRecord(&old);
  EXPECT_FALSE(trust->Reload().value());

  WriteSecret(folder_ / "signing.pem", theirs_.private_pem);
  EXPECT_TRUE(trust->Reload().value());
  EXPECT_FALSE(trust->Reload().value());
  std::string fresh = SampleRecord().SerializeAsString();
  trust->SignRecord(&fresh);
  EXPECT_THAT(fresh, HasSubstr(theirs_.id));
  EXPECT_TRUE(Check(*trust, old).ok());
  EXPECT_TRUE(Check(*trust, fresh).ok());

  std::ofstream(folder_ / "trusted.pem") << theirs_.public_pem;
  EXPECT_TRUE(trust->Reload().value());
  EXPECT_FALSE(Check(*trust, old).ok());
  EXPECT_TRUE(Check(*trust, fresh).ok());
}

TEST_F(TrustTest, ABadFileLeavesTheKeysAsTheyAre) {
  const auto trust = Open(SignaturePolicy::kRequire, ours_.private_pem, "");
  std::string record = SampleRecord().SerializeAsString();
  trust->SignRecord(&record);
  WriteSecret(folder_ / "signing.pem", ours_.private_pem.substr(0, 60));
  EXPECT_FALSE(trust->Reload().ok());
  // Said and counted once.
  EXPECT_FALSE(trust->Reload().value());
  EXPECT_EQ(counters_.Get("ingot_signature_key_errors_total").value(), 1);
  WriteSecret(folder_ / "signing.pem", "");
  EXPECT_FALSE(trust->Reload().ok());
  EXPECT_TRUE(Check(*trust, record).ok());
  EXPECT_TRUE(trust->CanVouch());
}

TEST_F(TrustTest, RefusesPrivateKeysThatOthersMayRead) {
  const std::string path = folder_ / "loose.pem";
  for (const int mode : {0640, 0604, 0620, 0644}) {
    std::ofstream(path) << ours_.private_pem;
    ASSERT_EQ(chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
    const absl::Status status =
        Trust::Open({SignaturePolicy::kOff, path, ""}, counters_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("signing_key"), HasSubstr("allowed 0600")));
  }
}

TEST_F(TrustTest, RefusesFilesThatAreNoKeys) {
  const std::string path = folder_ / "file.pem";
  const std::string ecdsa =
      "-----BEGIN PUBLIC KEY-----\n"
      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDMBRuSjdccoU/ftx5oxIYe1tICQL\n"
      "uwb39hdLfmb7BHr2XIgs+jQzP6gc7VcZ8IQy2S4pDATr+ypvU/OPbeI4gQ==\n"
      "-----END PUBLIC KEY-----\n";
  const std::string texts[] = {"",
                               "nonsense",
                               ours_.private_pem,
                               ecdsa,
                               ours_.public_pem + ecdsa,
                               ours_.public_pem.substr(0, 50)};
  for (const std::string& text : texts) {
    std::ofstream(path) << text;
    const absl::Status status =
        Trust::Open({SignaturePolicy::kRequire, "", path}, counters_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("trusted_keys"));
  }
  EXPECT_FALSE(
      Trust::Open({SignaturePolicy::kOff, "/nowhere", ""}, counters_).ok());
  EXPECT_FALSE(
      Trust::Open({SignaturePolicy::kOff, "", folder_.path()}, counters_).ok());
}

TEST_F(TrustTest, AKeylessPolicyIsRefusedAndAKeylessDaemonVouchesForNothing) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      Trust::Open({SignaturePolicy::kRequire, "", ""}, counters_).status()));
  EXPECT_FALSE(
      Open(SignaturePolicy::kRequire, "", ours_.public_pem)->CanVouch());
  EXPECT_TRUE(Open(SignaturePolicy::kVerifyIfPresent, "", ours_.public_pem)
                  ->CanVouch());
}

TEST(SignaturePolicyTest, Words) {
  EXPECT_EQ(ParseSignaturePolicy("off").value(), SignaturePolicy::kOff);
  EXPECT_EQ(ParseSignaturePolicy("verify_if_present").value(),
            SignaturePolicy::kVerifyIfPresent);
  EXPECT_EQ(ParseSignaturePolicy("require").value(), SignaturePolicy::kRequire);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseSignaturePolicy("on").status()));
}

}  // namespace
}  // namespace ingot::server
