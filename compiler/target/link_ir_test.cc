#include "compiler/target/link.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::target {
namespace {

TEST(LinkCodeObjectTest, RefusesWhatIsNoObject) {
  for (const std::string& bad :
       {std::string(), std::string("text"), std::string(100000, '\0')}) {
    const absl::Status status = LinkCodeObject(bad).status();
    EXPECT_TRUE(absl::IsInternal(status)) << status;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("lld"));
  }
}

}  // namespace
}  // namespace ingot::target
