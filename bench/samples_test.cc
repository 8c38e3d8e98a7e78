#include "bench/samples.h"

#include <gtest/gtest.h>

namespace ingot::bench {
namespace {

TEST(Percentile, IsTheSmallestSampleThatCoversTheFraction) {
  std::vector<double> samples;
  for (int i = 100; i >= 1; --i) samples.push_back(i);
  EXPECT_EQ(Percentile(samples, 0.50), 50);
  EXPECT_EQ(Percentile(samples, 0.99), 99);
  EXPECT_EQ(Percentile(samples, 0.991), 100);
  EXPECT_EQ(Percentile(samples, 1.0), 100);
  EXPECT_EQ(Percentile({7}, 0.01), 7);
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(Median({5, 1, 3, 4}), 3.5);
}

}  // namespace
}  // namespace ingot::bench
