// Order statistics over measured times. Plain functions over values.
#ifndef INGOT_BENCH_SAMPLES_H_
#define INGOT_BENCH_SAMPLES_H_

#include <functional>
#include <vector>

namespace ingot::bench {

// The smallest sample that at least `fraction` of the samples do not exceed.
// `samples` must not be empty; 0 < fraction <= 1.
double Percentile(std::vector<double> samples, double fraction);

// The middle sample, or the mean of the middle two.
double Median(std::vector<double> samples);

// Seconds that `work` took, by the monotonic clock.
double Seconds(const std::function<void()>& work);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SAMPLES_H_
