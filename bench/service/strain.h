// What callers notice when much is asked at once, or the daemon goes away: a
// herd, a full queue, SIGKILL, SIGTERM.
#ifndef INGOT_BENCH_SERVICE_STRAIN_H_
#define INGOT_BENCH_SERVICE_STRAIN_H_

#include "bench/report.h"

namespace ingot::bench {

struct StrainOptions {
  int runs = 5;      // the median of their figures is reported
  int calls = 3000;  // of hits, a run
};

void ReportStrain(Report& report, const StrainOptions& options);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SERVICE_STRAIN_H_
