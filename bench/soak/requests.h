// What the connections of a soak ask for: hits, cold compiles, batches, reads
// of objects, and requests that must be refused, in a mix that chance decides.
#ifndef INGOT_BENCH_SOAK_REQUESTS_H_
#define INGOT_BENCH_SOAK_REQUESTS_H_

#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "compiler/spec.h"

namespace ingot::bench {

enum class Kind { kHit, kCold, kBatch, kObject, kBad };
inline constexpr int kKinds = 5;

struct Ask {
  Kind kind = Kind::kHit;
  const char* method = nullptr;
  std::string request;
  std::vector<int> problems;  // one a GetKernel, many a GetKernels
  std::string digest;         // of a ReadObject
  int refusal = 0;            // the code that it must end in; 0: none
};

// Problem `number` of a soak: each has kernels of its own.
Spec SoakSpec(int number);

// Thread-safe.
class Requests {
 public:
  // Problems below `hot` are what most hits ask for.
  explicit Requests(int hot) : hot_(hot), next_(hot) {}

  // `digest`: of an object that may be read; empty: none is known yet.
  Ask Next(std::mt19937_64& random, const std::string& digest);
  // The call for one problem, with bytes.
  static Ask GetKernel(int problem);

  int asked() const { return next_.load(); }

 private:
  int AnyKnown(std::mt19937_64& random) const;

  const int hot_;
  std::atomic<int> next_;  // the first problem that nobody asked for
};

}  // namespace ingot::bench

#endif  // INGOT_BENCH_SOAK_REQUESTS_H_
