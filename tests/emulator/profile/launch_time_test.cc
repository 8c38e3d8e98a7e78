#include "tests/emulator/profile/launch_time.h"

#include <cmath>
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/emulator/profile/published_kernels.h"

namespace ingot::profile {
namespace {

// The model against what was measured on the hardware: every row within 15 %.
TEST(LaunchTimeTest, AgreesWithPublishedTimings) {
  double sum = 0;
  int rows = 0;
  for (const PublishedTiming& p : PublishedTimings()) {
    const LaunchTime time = TimeOf({.trace = &p.trace,
                                    .groups = p.groups,
                                    .groups_per_cu = p.groups_per_cu,
                                    .hbm_bytes = p.hbm_bytes});
    const double error = time.microseconds / p.microseconds - 1;
    printf(
        "%-16s %6.0f %6.0f %6.0f  %8.1f us published %8.1f modelled "
        "%+5.1f %%  (%.0f %% matrix, %.2f GHz)\n",
        p.kernel, p.m, p.n, p.k, p.microseconds, time.microseconds, 100 * error,
        100 * time.matrix_share, time.clock_ghz);
    EXPECT_LT(std::abs(error), 0.15) << p.kernel << ' ' << p.m << 'x' << p.n;
    sum += std::abs(error);
    ++rows;
  }
  printf("mean error %.1f %% of %d rows\n", 100 * sum / rows, rows);
}

}  // namespace
}  // namespace ingot::profile
