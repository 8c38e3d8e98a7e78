#include "compiler/fingerprint.h"

#include "compiler/ops/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(OpFingerprintTest, EveryOpHasOneOfItsOwn) {
  std::vector<std::string> all;
  for (const OpDef* op : AllOps()) {
    const absl::StatusOr<std::string> fingerprint = OpFingerprint(op->name);
    ASSERT_TRUE(fingerprint.ok()) << fingerprint.status();
    EXPECT_EQ(fingerprint->size(), 32u);
    EXPECT_THAT(all, ::testing::Not(::testing::Contains(*fingerprint)));
    all.push_back(*fingerprint);
  }
}

TEST(OpFingerprintTest, UnknownOp) {
  EXPECT_TRUE(absl::IsUnimplemented(OpFingerprint("gem").status()));
  EXPECT_TRUE(absl::IsUnimplemented(OpFingerprint("").status()));
}

TEST(CompilerVersionTest, NamesLlvm) {
  EXPECT_THAT(std::string(CompilerVersion()),
              ::testing::MatchesRegex("LLVM [0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace ingot
