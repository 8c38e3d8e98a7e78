#include "server/counters.h"

#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

TEST(Histogram, BoundsAreOfTheBucketBelow) {
  Histogram histogram;
  histogram.Observe(microseconds(0));
  histogram.Observe(microseconds(1000));  // 1 ms
  histogram.Observe(microseconds(1001));  // the next bucket
  histogram.Observe(seconds(65));         // below 65.536 s
  histogram.Observe(seconds(66));         // above all
  histogram.Observe(seconds(100000));
  const Histogram::Reading reading = histogram.Read();
  EXPECT_EQ(reading.counts[0], 2u);
  EXPECT_EQ(reading.counts[1], 1u);
  EXPECT_EQ(reading.counts[Histogram::kBounds - 1], 1u);
  EXPECT_EQ(reading.counts[Histogram::kBounds], 2u);
  EXPECT_NEAR(reading.sum_seconds, 100131.002001, 1e-6);
}

TEST(Counters, KeepsWhatItGave) {
  Counters counters;
  Counter& first = counters.Get("b");
  for (int n = 0; n < 100; ++n) {
    counters.Get("a" + std::to_string(n)).Add();
  }
  first.Add(7);
  EXPECT_EQ(counters.Get("b").value(), 7u);
  EXPECT_EQ(counters.Snapshot().back(),
            (std::pair<std::string, uint64_t>("b", 7)));
}

}  // namespace
}  // namespace ingot::server
