// Kernels of this project as loads for the emulator.
#ifndef INGOT_BENCH_EMULATOR_WORKLOAD_H_
#define INGOT_BENCH_EMULATOR_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/spec.h"
#include "tests/emulator/emulator.h"

namespace ingot::bench {

struct Workload {
  std::string name;  // also of --only
  Spec spec;
  std::vector<int64_t> dims;                // of the call
  std::map<std::string, int64_t> elements;  // by operand, 16 bits each
  double multiply_adds = 0;                 // that the matrix unit has to do
  double seconds_target = 0;                // two cores
};

std::vector<Workload> Workloads();

struct Run {
  // Of the launches, without compiling and loading.
  double seconds = 0;
  double cpu_seconds = 0;
  emulator::Statistics statistics;
};

// Compiles the workload and runs it once on a device of its own. Ends the bench
// when it fails.
Run RunOnce(const Workload& workload, const emulator::Options& options);

}  // namespace ingot::bench

#endif  // INGOT_BENCH_EMULATOR_WORKLOAD_H_
