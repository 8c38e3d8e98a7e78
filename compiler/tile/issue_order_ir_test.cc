#include <string>

#include "compiler/tile/issue_order.h"
#include "gtest/gtest.h"

namespace ingot::tile {
namespace {

std::string Order(int main, int side) {
  std::string order;
  const std::vector<Emit> mains(main, [&] { order += 'm'; });
  const std::vector<Emit> sides(side, [&] { order += 's'; });
  Interleave(mains, sides);
  return order;
}

TEST(Interleave, SpreadsEvenlyAndEarly) {
  EXPECT_EQ(Order(4, 2), "smmsmm");
  EXPECT_EQ(Order(2, 4), "ssmssm");
  EXPECT_EQ(Order(3, 2), "smsmm");
  EXPECT_EQ(Order(0, 3), "sss");
  EXPECT_EQ(Order(3, 0), "mmm");
  EXPECT_EQ(Order(8, 2), "smmmmsmmmm");
}

TEST(LoadCounter, CountsWhatWasIssuedSince) {
  LoadCounter loads;
  EXPECT_EQ(loads.LeftAfter(0), 0);
  for (const int step : {0, 0, 1, 1, 1, 2, 2}) loads.Issued(step);
  EXPECT_EQ(loads.LeftAfter(0), 5);
  EXPECT_EQ(loads.LeftAfter(1), 2);
  EXPECT_EQ(loads.LeftAfter(2), 0);
  EXPECT_EQ(loads.LeftAfter(0, 3), 3);
}

}  // namespace
}  // namespace ingot::tile
