// What ingot_launch costs beyond HIP's own call.
#ifndef INGOT_BENCH_CLIENT_LAUNCHES_H_
#define INGOT_BENCH_CLIENT_LAUNCHES_H_

#include <string>

#include "bench/report.h"

namespace ingot::bench {

// On a HIP that does nothing; medians of `runs`.
void ReportLaunches(const std::string& socket, int runs, Report& report);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_CLIENT_LAUNCHES_H_
