// What is signed, held against vectors that none of our code made.
#include "server/signed_bytes.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/signing_keys.h"

namespace ingot::server {
namespace {

std::map<std::string, std::string> ReadVector(
    const std::filesystem::path& path) {
  std::map<std::string, std::string> words;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string value =
        space < line.size() ? line.substr(space + 1) : std::string();
    words[line.substr(0, space)] = value;
  }
  return words;
}

Ed25519Key PrivateKey(const std::string& seed, const std::string& id) {
  return {id, std::shared_ptr<EVP_PKEY>(
                  EVP_PKEY_new_raw_private_key(
                      EVP_PKEY_ED25519, nullptr,
                      reinterpret_cast<const unsigned char*>(seed.data()),
                      seed.size()),
                  &EVP_PKEY_free)};
}

TEST(SignedBytesTest, AgreesWithTheVectors) {
  int vectors = 0;
  for (const auto& file :
       std::filesystem::directory_iterator("proto/signature_vectors")) {
    if (file.path().extension() != ".txt") continue;
    ++vectors;
    SCOPED_TRACE(file.path());
    auto words = ReadVector(file.path());
    const bool plan = words.count("plan") != 0;
    const std::string message =
        absl::HexStringToBytes(words[plan ? "plan" : "record"]);
    const absl::StatusOr<Signed> read =
        plan ? ReadSignedPlan(message) : ReadSignedRecord(message);
    if (words.count("refused") != 0) {
      EXPECT_TRUE(absl::IsDataLoss(read.status())) << read.status();
      continue;
    }
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(absl::BytesToHexString(read->bytes), words["signed"]);
    const Ed25519Key key =
        PrivateKey(absl::HexStringToBytes(words["seed"]), words["key_id"]);
    EXPECT_EQ(absl::BytesToHexString(SignBytes(key, read->bytes)),
              words["signature"]);
    EXPECT_TRUE(
        Verifies(key, read->bytes, absl::HexStringToBytes(words["signature"])));
  }
  EXPECT_GE(vectors, 20);
}

TEST(SignedBytesTest, SignaturesAreReadAndAppendedAndNotSigned) {
  std::string record = absl::HexStringToBytes(
      ReadVector("proto/signature_vectors/record.txt")["record"]);
  const std::string before = ReadSignedRecord(record)->bytes;
  AppendRecordSignature({"one", "first"}, &record);
  AppendRecordSignature({"two", "second"}, &record);
  const absl::StatusOr<Signed> read = ReadSignedRecord(record);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->bytes, before);
  ASSERT_EQ(read->signatures.size(), 2);
  EXPECT_EQ(read->signatures[0].key_id, "one");
  EXPECT_EQ(read->signatures[1].value, "second");
}

TEST(SignedBytesTest, EveryByteOfAPlanIsSigned) {
  const std::string plan = absl::HexStringToBytes(
      ReadVector("proto/signature_vectors/plan.txt")["plan"]);
  const std::string signed_bytes = ReadSignedPlan(plan)->bytes;
  for (size_t i = 0; i < plan.size(); ++i) {
    std::string altered = plan;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    const absl::StatusOr<Signed> read = ReadSignedPlan(altered);
    if (read.ok()) {
      EXPECT_NE(read->bytes, signed_bytes) << i;
    }
  }
}

}  // namespace
}  // namespace ingot::server
