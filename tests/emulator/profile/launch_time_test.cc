#include "tests/emulator/profile/launch_time.h"

#include <cmath>
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/emulator/profile/published_kernels.h"

namespace ingot::profile {
namespace {

double Error(const PublishedTiming& p, int groups_per_cu) {
  const LaunchTime time = TimeOf({.trace = &p.trace,
                                  .groups = p.groups,
                                  .groups_per_cu = groups_per_cu,
                                  .hbm_bytes = p.hbm_bytes});
  const double error = time.microseconds / p.microseconds - 1;
  printf(
      "%-18s %6.0f %6.0f %6.0f  %8.1f us published %8.1f modelled %+5.1f %% "
      "(%.0f %% matrix, %.2f GHz)\n",
      p.kernel, p.m, p.n, p.k, p.microseconds, time.microseconds, 100 * error,
      100 * time.matrix_share, time.clock_ghz);
  return error;
}

// The model against what was measured on the hardware: every row within 15 %.
TEST(LaunchTimeTest, AgreesWithPublishedTimings) {
  double sum = 0;
  int rows = 0;
  for (const PublishedTiming& p : PublishedTimings()) {
    const double error = Error(p, p.groups_per_cu);
    EXPECT_LT(std::abs(error), 0.15) << p.kernel << ' ' << p.m << 'x' << p.n;
    sum += std::abs(error);
    ++rows;
  }
  printf("mean error %.1f %% of %d rows\n", 100 * sum / rows, rows);
}

// With one workgroup on a CU nothing covers the waits of a double buffer; with
// two of 128x128 the model's L2 and latencies are all that is left.
TEST(LaunchTimeTest, TheLadderLiesBetweenItsBounds) {
  const std::vector<PublishedTiming> ladder = PublishedLadder();
  EXPECT_GT(Error(ladder[0], 1), 0);
  EXPECT_LT(Error(ladder[0], 2), 0);
  EXPECT_LT(std::abs(Error(ladder[1], 1)), 0.2);
}

}  // namespace
}  // namespace ingot::profile
