#include <string>

#include "compiler/tile/issue_order.h"
#include "gtest/gtest.h"

namespace ingot::tile {
namespace {

std::string Order(int main, int side) {
  const std::vector<char> order =
      Interleave(std::vector<char>(main, 'm'), std::vector<char>(side, 's'));
  return std::string(order.begin(), order.end());
}

TEST(Interleave, SpreadsEvenlyAndEarly) {
  EXPECT_EQ(Order(4, 2), "smmsmm");
  EXPECT_EQ(Order(2, 4), "ssmssm");
  EXPECT_EQ(Order(3, 2), "smsmm");
  EXPECT_EQ(Order(0, 3), "sss");
  EXPECT_EQ(Order(3, 0), "mmm");
  EXPECT_EQ(Order(8, 2), "smmmmsmmmm");
}

}  // namespace
}  // namespace ingot::tile
