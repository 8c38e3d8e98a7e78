#include "bench/emulator/yardstick.h"

#include <vector>

#include "bench/process.h"
#include "bench/samples.h"

namespace ingot::bench {

double HostMultiplyAddsPerSecond() {
  constexpr int kDim = 384;
  std::vector<float> a(kDim * kDim, 0.5f), b(kDim * kDim, 0.25f),
      d(kDim * kDim);
  const double seconds = Seconds([&] {
    for (int i = 0; i < kDim; ++i) {
      for (int j = 0; j < kDim; ++j) {
        float sum = 0;
        for (int k = 0; k < kDim; ++k) sum += a[i * kDim + k] * b[j * kDim + k];
        d[i * kDim + j] = sum;
      }
    }
  });
  // Each sum is exact, and the products must have been made.
  for (const float sum : d) {
    if (sum != kDim * 0.125f) Die("the host cannot multiply");
  }
  return static_cast<double>(kDim) * kDim * kDim / seconds;
}

}  // namespace ingot::bench
