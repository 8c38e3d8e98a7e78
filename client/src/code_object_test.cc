#include "client/src/code_object.h"

#include <cstring>

#include "client/testing/plans.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::client {
namespace {

using ::testing::HasSubstr;

TEST(CodeObjectTest, TargetsComeFromTheFlags) {
  EXPECT_EQ(ElfTarget(FakeElf(0x54f)), "gfx950");  // any, any
  EXPECT_EQ(ElfTarget(FakeElf(0xe4f)), "gfx950:sramecc+:xnack-");
  EXPECT_EQ(ElfTarget(FakeElf(0xb4f)), "gfx950:sramecc-:xnack+");
  EXPECT_EQ(ElfTarget(FakeElf(0x54c)), "");  // gfx942
  EXPECT_EQ(ElfTarget("\x7f"
                      "ELF"),
            "");
  std::string other = FakeElf(0x54f);
  other[18] = 62;  // x86-64
  EXPECT_EQ(ElfTarget(other), "");
}

TEST(CodeObjectTest, BytesMustBeWhatTheRecordSays) {
  const std::string bytes = FakeElf(0x54f, "code");
  KernelFacts facts;
  facts.symbol = "k";
  facts.target = "gfx950";
  facts.size = bytes.size();
  facts.digest = Sha256(bytes.data(), bytes.size());
  EXPECT_TRUE(CheckBytes(facts, bytes).ok());
  std::string flipped = bytes;
  flipped.back() ^= 1;
  EXPECT_EQ(CheckBytes(facts, flipped).code, INGOT_DATA_LOSS);
  EXPECT_EQ(CheckBytes(facts, bytes.substr(1)).code, INGOT_DATA_LOSS);
  facts.target = "gfx950:xnack-";
  EXPECT_THAT(CheckBytes(facts, bytes).message, HasSubstr("gfx950:xnack-"));
  const std::string text(100, 'x');
  facts.size = text.size();
  facts.digest = Sha256(text.data(), text.size());
  EXPECT_THAT(CheckBytes(facts, text).message, HasSubstr("no gfx950"));
}

TEST(HipApiTest, TheArchitectureIsFoundInEveryLayout) {
  std::string properties(16384, '\0');
  properties.replace(0, 14, "gfx950 in name");
  EXPECT_EQ(FindGcnArchName(properties.data(), properties.size()), "");
  std::string old = properties;
  memcpy(&old[396], "gfx90a:sramecc+:xnack-", 23);  // about where 5.2 has it
  EXPECT_EQ(FindGcnArchName(old.data(), old.size()), "gfx90a:sramecc+:xnack-");
  memcpy(&properties[1160], "gfx950:sramecc+:xnack-", 23);
  EXPECT_EQ(FindGcnArchName(properties.data(), properties.size()),
            "gfx950:sramecc+:xnack-");
}

}  // namespace
}  // namespace ingot::client
