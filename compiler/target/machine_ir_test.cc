#include "compiler/target/machine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::target {
namespace {

TEST(ParseTargetIdTest, FeaturesBecomeLlvms) {
  EXPECT_EQ(ParseTargetId("gfx950")->processor, "gfx950");
  EXPECT_EQ(ParseTargetId("gfx950")->features, "");
  EXPECT_EQ(ParseTargetId("gfx950:sramecc+:xnack-")->features,
            "+sramecc,-xnack");
}

TEST(ParseTargetIdTest, RefusesWhatIsNotCanonical) {
  for (const char* bad : {"gfx950:", "gfx950:xnack", "gfx950:+"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTargetId(bad).status())) << bad;
  }
}

TEST(MachineForTest, IsMadeOnce) {
  const auto first = MachineFor("gfx950");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, *MachineFor("gfx950"));
  EXPECT_NE(*first, *MachineFor("gfx950:xnack-"));
}

}  // namespace
}  // namespace ingot::target
