#include "cache/vetted.h"

#include <string>

#include "gtest/gtest.h"

namespace ingot::cache {
namespace {

TEST(VettedTest, KnowsTheSameBytesUnderTheSameName) {
  Vetted vetted;
  const Seal seal = vetted.SealOf("record", "object");
  EXPECT_FALSE(vetted.Knows("key", seal));
  vetted.Remember("key", seal);
  EXPECT_TRUE(vetted.Knows("key", vetted.SealOf("record", "object")));
  EXPECT_FALSE(vetted.Knows("another key", seal));
}

TEST(VettedTest, EveryBitAndTheBorderCount) {
  Vetted vetted;
  const std::string record = "record";
  std::string object(5000, 'x');
  const Seal seal = vetted.SealOf(record, object);
  for (size_t byte = 0; byte < object.size(); byte += 7) {
    for (int bit = 0; bit < 8; ++bit) {
      object[byte] ^= static_cast<char>(1 << bit);
      ASSERT_NE(vetted.SealOf(record, object), seal) << byte << "." << bit;
      object[byte] ^= static_cast<char>(1 << bit);
    }
  }
  EXPECT_NE(vetted.SealOf("recordx", object.substr(1)), seal);
  EXPECT_NE(vetted.SealOf(object, record), seal);
  EXPECT_NE(vetted.SealOf("", ""), vetted.SealOf("", std::string(1, '\0')));
}

TEST(VettedTest, AnotherProcessHasAnotherSecret) {
  EXPECT_NE(Vetted().SealOf("record", "object"),
            Vetted().SealOf("record", "object"));
}

TEST(VettedTest, IsBounded) {
  Vetted vetted(8);
  const Seal seal = vetted.SealOf("record", "object");
  for (int i = 0; i < 100; ++i) vetted.Remember(std::to_string(i), seal);
  int known = 0;
  for (int i = 0; i < 100; ++i) known += vetted.Knows(std::to_string(i), seal);
  EXPECT_GE(known, 1);
  EXPECT_LE(known, 8);
  EXPECT_TRUE(vetted.Knows("99", seal));
}

}  // namespace
}  // namespace ingot::cache
