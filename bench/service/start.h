// How long a daemon takes to serve and what it costs to keep one.
#ifndef INGOT_BENCH_SERVICE_START_H_
#define INGOT_BENCH_SERVICE_START_H_

#include <cstdint>
#include <vector>

#include "bench/report.h"

namespace ingot::bench {

struct StartOptions {
  int runs = 5;                                         // starts of each store
  std::vector<int64_t> entries = {0, 100000, 1000000};  // of 1 KiB
};

void ReportStart(Report& report, const StartOptions& options);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SERVICE_START_H_
