// Whose signatures this process takes.
#include "client/src/signatures.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/signing_key.h"

namespace ingot::client {
namespace {

using ::ingot::testing::MakeSigningKey;
using ::ingot::testing::SigningKey;
using ::testing::HasSubstr;

std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

const char kKey = 2;
const char kSignaturesOfRecord = 8;
const char kSignaturesOfPlan = 10;

// `message` with a signature by `key` under `id` over `bytes`.
std::string With(const std::string& message, int field, const SigningKey& key,
                 const std::string& id, const std::string& bytes) {
  return message + Field(field, Field(1, id) + Field(2, key.Sign(bytes)));
}

class SignaturesTest : public ::testing::Test {
 protected:
  SignaturesTest() {
    record_ = Field(kKey, "a key");
    plan_ = Field(2, "a spec");
    Signed read;
    EXPECT_TRUE(ReadSignedRecord(record_, &read).ok());
    record_bytes_ = read.bytes;
    EXPECT_TRUE(ReadSignedPlan(plan_, &read).ok());
    plan_bytes_ = read.bytes;
    Trust(ours_.public_pem);
  }
  ~SignaturesTest() override { std::filesystem::remove(path_); }

  void Trust(const std::string& pem) { std::ofstream(path_) << pem; }
  std::unique_ptr<Signatures> Open(SignaturePolicy policy) {
    std::unique_ptr<Signatures> signatures;
    const Status status = Signatures::Open({policy, path_}, &signatures);
    EXPECT_TRUE(status.ok()) << status.message;
    return signatures;
  }
  std::string SignedRecord(const SigningKey& key) {
    return With(record_, kSignaturesOfRecord, key, key.id, record_bytes_);
  }

  const std::string path_ = std::string(::testing::TempDir()) + "keys-" +
                            std::to_string(getpid()) + ".pem";
  const SigningKey ours_ = MakeSigningKey();
  const SigningKey theirs_ = MakeSigningKey();
  std::string record_;
  std::string plan_;
  std::string record_bytes_;
  std::string plan_bytes_;
};

TEST_F(SignaturesTest, RequireTakesOnlyWhatATrustedKeySigned) {
  const auto signatures = Open(SignaturePolicy::kRequire);
  EXPECT_TRUE(signatures->CheckRecord(SignedRecord(ours_)).ok());
  EXPECT_TRUE(signatures
                  ->CheckPlan(With(plan_, kSignaturesOfPlan, ours_, ours_.id,
                                   plan_bytes_))
                  .ok());
  const Status none = signatures->CheckRecord(record_);
  EXPECT_EQ(none.code, INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(none.message, HasSubstr("no signature"));
  EXPECT_THAT(none.message, HasSubstr(ours_.id));
  const Status stranger = signatures->CheckRecord(SignedRecord(theirs_));
  EXPECT_EQ(stranger.code, INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(stranger.message, HasSubstr(theirs_.id));
  EXPECT_EQ(signatures->CheckPlan(plan_).code, INGOT_FAILED_PRECONDITION);
}

TEST_F(SignaturesTest, AForgeryIsRefusedUnderBothPolicies) {
  for (const SignaturePolicy policy :
       {SignaturePolicy::kVerifyIfPresent, SignaturePolicy::kRequire}) {
    const auto signatures = Open(policy);
    const Status forged = signatures->CheckRecord(
        With(record_, kSignaturesOfRecord, theirs_, ours_.id, record_bytes_));
    EXPECT_EQ(forged.code, INGOT_DATA_LOSS) << forged.message;
    EXPECT_THAT(forged.message, HasSubstr(ours_.id));
    // The signature of another record, of a plan, and of nothing at all.
    EXPECT_EQ(signatures
                  ->CheckRecord(Field(kKey, "another") +
                                SignedRecord(ours_).substr(record_.size()))
                  .code,
              INGOT_DATA_LOSS);
    EXPECT_EQ(signatures
                  ->CheckRecord(With(record_, kSignaturesOfRecord, ours_,
                                     ours_.id, plan_bytes_))
                  .code,
              INGOT_DATA_LOSS);
    EXPECT_EQ(signatures
                  ->CheckRecord(record_ +
                                Field(kSignaturesOfRecord, Field(1, ours_.id)))
                  .code,
              INGOT_DATA_LOSS);
    // A good one beside a forged one.
    EXPECT_EQ(signatures
                  ->CheckRecord(With(SignedRecord(ours_), kSignaturesOfRecord,
                                     theirs_, ours_.id, record_bytes_))
                  .code,
              INGOT_DATA_LOSS);
  }
}

TEST_F(SignaturesTest, VerifyIfPresentLeavesStrangersAlone) {
  const auto signatures = Open(SignaturePolicy::kVerifyIfPresent);
  EXPECT_TRUE(signatures->CheckRecord(record_).ok());
  EXPECT_TRUE(signatures->CheckRecord(SignedRecord(theirs_)).ok());
  EXPECT_TRUE(signatures->CheckRecord(SignedRecord(ours_)).ok());
}

TEST_F(SignaturesTest, OffNeedsNoKeysAndTakesAnything) {
  std::unique_ptr<Signatures> signatures;
  ASSERT_TRUE(Signatures::Open({}, &signatures).ok());
  EXPECT_TRUE(signatures->off());
  EXPECT_TRUE(signatures->CheckRecord("no record").ok());
}

TEST_F(SignaturesTest, KeysMayChangeWhileTheProcessRuns) {
  const auto signatures = Open(SignaturePolicy::kRequire);
  Trust(ours_.public_pem + theirs_.public_pem);
  EXPECT_TRUE(signatures->CheckRecord(SignedRecord(ours_)).ok());
  EXPECT_TRUE(signatures->CheckRecord(SignedRecord(theirs_)).ok());
  Trust(theirs_.public_pem);
  EXPECT_FALSE(signatures->CheckRecord(SignedRecord(ours_)).ok());
  // What cannot be used leaves those before it.
  Trust("nonsense");
  EXPECT_TRUE(signatures->CheckRecord(SignedRecord(theirs_)).ok());
  EXPECT_FALSE(signatures->CheckRecord(SignedRecord(ours_)).ok());
}

TEST_F(SignaturesTest, FilesThatAreNoKeysAreRefused) {
  std::unique_ptr<Signatures> signatures;
  for (const std::string& text :
       {std::string(), std::string("nonsense"), ours_.private_pem,
        ours_.public_pem + ours_.private_pem, ours_.public_pem.substr(0, 50)}) {
    Trust(text);
    const Status status =
        Signatures::Open({SignaturePolicy::kRequire, path_}, &signatures);
    EXPECT_EQ(status.code, INGOT_INVALID_ARGUMENT) << text;
    EXPECT_THAT(status.message, HasSubstr("trusted keys"));
  }
  for (const char* path : {"", "/nowhere", "/"}) {
    EXPECT_EQ(
        Signatures::Open({SignaturePolicy::kRequire, path}, &signatures).code,
        INGOT_INVALID_ARGUMENT)
        << path;
  }
}

TEST(SignaturePolicyTest, Words) {
  SignaturePolicy policy = SignaturePolicy::kOff;
  EXPECT_TRUE(ParseSignaturePolicy("require", &policy).ok());
  EXPECT_EQ(policy, SignaturePolicy::kRequire);
  EXPECT_TRUE(ParseSignaturePolicy("verify_if_present", &policy).ok());
  EXPECT_EQ(policy, SignaturePolicy::kVerifyIfPresent);
  EXPECT_TRUE(ParseSignaturePolicy("off", &policy).ok());
  EXPECT_EQ(policy, SignaturePolicy::kOff);
  EXPECT_EQ(ParseSignaturePolicy("on", &policy).code, INGOT_INVALID_ARGUMENT);
}

TEST(SignaturePolicyTest, TheEnvironmentFillsWhatIsNotGiven) {
  unsetenv("INGOT_SIGNATURE_POLICY");
  unsetenv("INGOT_TRUSTED_KEYS");
  SignatureOptions options;
  ASSERT_TRUE(FillFromEnvironment(&options).ok());
  EXPECT_EQ(options.policy, SignaturePolicy::kOff);
  setenv("INGOT_TRUSTED_KEYS", "/keys.pem", 1);
  ASSERT_TRUE(FillFromEnvironment(&options).ok());
  EXPECT_EQ(options.policy, SignaturePolicy::kRequire);
  EXPECT_EQ(options.trusted_keys, "/keys.pem");
  setenv("INGOT_SIGNATURE_POLICY", "verify_if_present", 1);
  options.trusted_keys = "/mine.pem";
  ASSERT_TRUE(FillFromEnvironment(&options).ok());
  EXPECT_EQ(options.policy, SignaturePolicy::kVerifyIfPresent);
  EXPECT_EQ(options.trusted_keys, "/mine.pem");
  setenv("INGOT_SIGNATURE_POLICY", "maybe", 1);
  EXPECT_EQ(FillFromEnvironment(&options).code, INGOT_INVALID_ARGUMENT);
  unsetenv("INGOT_SIGNATURE_POLICY");
  unsetenv("INGOT_TRUSTED_KEYS");
}

}  // namespace
}  // namespace ingot::client
