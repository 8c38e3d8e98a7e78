// Runs a prepared kernel on a problem's inputs, through ingot.h alone.
#ifndef INGOT_CLIENT_CTL_LAUNCH_PROBLEM_H_
#define INGOT_CLIENT_CTL_LAUNCH_PROBLEM_H_

#include <chrono>

#include "client/ctl/gpu_memory.h"
#include "client/ctl/problem.h"
#include "client/include/ingot/ingot.h"
#include "client/src/status.h"

namespace ingot::ctl {

class Stopwatch {
 public:
  double Microseconds() const {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

// What a call of ingot.h returned, with the thread's last error.
client::Status LastError(ingot_status code);

struct LaunchOutcome {
  double microseconds = 0;  // with waiting for the end
  double device_us = 0;     // median of several, by the device's events
  Comparison comparison;
};

// Every operand lies between margins that are checked; the problem's operands
// hold what came back. DATA_LOSS when a margin changed. `measure`: more
// launches, which are timed.
client::Status LaunchProblem(const Gpu& gpu, const ingot_prepared* prepared,
                             Problem* problem, LaunchOutcome* outcome,
                             bool measure = false);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_LAUNCH_PROBLEM_H_
