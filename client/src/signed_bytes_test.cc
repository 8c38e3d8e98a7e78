// What is signed, held against vectors that none of our code made.
#include "client/src/signed_bytes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "client/src/status.h"
#include "client/src/wire_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::client {
namespace {

std::map<std::string, std::string> ReadVector(
    const std::filesystem::path& path) {
  std::map<std::string, std::string> words;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const size_t space = std::min(line.find(' '), line.size());
    words[line.substr(0, space)] =
        space < line.size() ? line.substr(space + 1) : "";
  }
  return words;
}

std::string Unhex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

TEST(SignedBytesTest, AgreesWithTheVectors) {
  int vectors = 0;
  for (const auto& file :
       std::filesystem::directory_iterator("proto/signature_vectors")) {
    if (file.path().extension() != ".txt") continue;
    ++vectors;
    SCOPED_TRACE(file.path().string());
    auto words = ReadVector(file.path());
    Signed read;
    const Status status = words.count("plan") != 0
                              ? ReadSignedPlan(Unhex(words["plan"]), &read)
                              : ReadSignedRecord(Unhex(words["record"]), &read);
    if (words.count("refused") != 0) {
      EXPECT_EQ(status.code, INGOT_DATA_LOSS) << status.message;
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(Hex(read.bytes), words["signed"]);
  }
  EXPECT_GE(vectors, 20);
}

TEST(SignedBytesTest, FindsSignaturesWhereverTheyStand) {
  const std::string record = Unhex(ReadVector(
      "proto/signature_vectors/record_signed_already.txt")["record"]);
  Signed read;
  ASSERT_TRUE(ReadSignedRecord(record, &read).ok());
  ASSERT_EQ(read.signatures.size(), 2u);
  EXPECT_EQ(read.signatures[1].key_id, "somebody else");
  EXPECT_EQ(read.signatures[1].value, std::string(64, '\x55'));
}

std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

TEST(WireScanTest, SplitsAnAnswerIntoWhatIsSigned) {
  const std::string one = Field(2, Field(1, "record one") + Field(2, "elf"));
  const std::string two = Field(2, Field(2, "elf"));
  const std::string answer = one + Field(1, "plan") + two;
  RawResponse raw;
  ASSERT_TRUE(SplitResponse(answer, &raw).ok());
  EXPECT_EQ(raw.plan, "plan");
  ASSERT_EQ(raw.records.size(), 2u);
  EXPECT_EQ(raw.records[0], "record one");
  EXPECT_EQ(raw.records[1], "");
  // A parser would merge the two into one that nobody signed.
  EXPECT_EQ(SplitResponse(Field(1, "a") + Field(1, "b"), &raw).code,
            INGOT_INTERNAL);
  EXPECT_EQ(SplitResponse(Field(2, Field(1, "a") + Field(1, "b")), &raw).code,
            INGOT_INTERNAL);
  EXPECT_EQ(SplitResponse(one.substr(0, 9), &raw).code, INGOT_INTERNAL);
  const std::string results =
      Field(1, Field(4, "first")) + Field(1, Field(3, "an error"));
  std::vector<std::string_view> responses;
  ASSERT_TRUE(SplitResults(results, &responses).ok());
  EXPECT_THAT(responses, ::testing::ElementsAre("first", ""));
  EXPECT_EQ(
      SplitResults(Field(1, Field(4, "a") + Field(4, "b")), &responses).code,
      INGOT_INTERNAL);
}

}  // namespace
}  // namespace ingot::client
