// What a hit costs beside the empty echo: latency, rate, lookups in a stream.
#ifndef INGOT_BENCH_SERVICE_HITS_H_
#define INGOT_BENCH_SERVICE_HITS_H_

#include "bench/report.h"

namespace ingot::bench {

struct HitOptions {
  int runs = 5;        // the median of their figures is reported
  int calls = 3000;    // of each subject, a run
  double seconds = 2;  // of each rate measurement
};

void ReportHits(Report& report, const HitOptions& options);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SERVICE_HITS_H_
