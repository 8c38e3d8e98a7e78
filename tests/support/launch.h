// Runs plans on the emulated device, in one process: picks the variant that a
// client would, compiles its kernels, fills the kernarg segment by the recipe
// and executes. The second implementation of a recipe beside the client's, and
// the one that ops are tested with.
#ifndef TESTS_SUPPORT_LAUNCH_H_
#define TESTS_SUPPORT_LAUNCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/plan.h"
#include "proto/status.h"
#include "tests/emulator/emulator.h"

namespace ingot::testing {

// The inputs of one call, in the order of the plan's lists.
struct LaunchInputs {
  std::vector<int64_t> dims;
  std::vector<void*> operands;  // device memory
  // Elements, an axis each; an empty one takes the plan's expressions, which
  // only operands with dynamic strides lack.
  std::vector<std::vector<int64_t>> strides;
  std::vector<double> scalars;  // missing ones take their defaults
  int64_t cu_count = 256;
};

struct LaunchReport {
  std::string variant;
  std::vector<std::string> symbols;  // of the kernels, as launched
  emulator::Statistics statistics;   // of all of them
  // Spent running, not compiling, them: by the clock, and of all cores.
  double seconds = 0;
  double cpu_seconds = 0;
};

// One kernel of a recipe, about to run.
struct KernelLaunch {
  emulator::Program* program = nullptr;
  const emulator::KernelInfo* kernel = nullptr;
  emulator::LaunchConfig config;
  std::vector<uint8_t> kernarg;
};
using KernelRunner =
    std::function<emulator::RunResult(emulator::Device&, const KernelLaunch&)>;

// A device with its memory and the programs loaded on it. Compiles a kernel
// when it is first launched and keeps it. Not thread-safe.
class TestDevice {
 public:
  // `options` as in tests/emulator/emulator.h.
  explicit TestDevice(
      emulator::Options options = emulator::Options::FromEnvironment());

  // Memory filled with 0xa5 and fenced by unmapped gaps; freed with the device.
  template <typename T>
  T* Allocate(int64_t count) {
    return static_cast<T*>(
        AllocateBytes(count * static_cast<int64_t>(sizeof(T))));
  }
  void Free(void* pointer);
  // Makes memory of the caller's accessible, which must outlive the device.
  bool Register(void* pointer, int64_t bytes);

  // FAILED_PRECONDITION when no variant matches; INTERNAL with the device's
  // report when a kernel faults; else what planning, compiling or an expression
  // says.
  absl::StatusOr<LaunchReport> Launch(const Plan& plan,
                                      const LaunchInputs& inputs);

  // Makes `compiled` what the kernel of that key runs, for kernels that no op
  // plans.
  absl::Status Use(const std::string& key, CompiledKernel compiled);

  // Kernels are run by `runner` from now on, not by Device::Run with the
  // device's options: for who watches them.
  void RunBy(KernelRunner runner) { runner_ = std::move(runner); }

  // The compiled kernel behind a plan's kernel.
  absl::StatusOr<const CompiledKernel*> Compiled(const PlanKernel& kernel);

 private:
  struct Loaded {
    CompiledKernel compiled;
    emulator::Program* program = nullptr;
  };

  void* AllocateBytes(int64_t bytes);
  absl::StatusOr<Loaded*> Load(const PlanKernel& kernel);
  absl::Status RunStep(const LaunchStep& step, const PlanKernel& kernel,
                       const Plan& plan, const LaunchInputs& inputs,
                       const LaunchValues& values, char* workspace,
                       LaunchReport* report);

  KernelRunner runner_;
  emulator::Device device_;
  std::map<std::string, Loaded> loaded_;  // by key
};

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_LAUNCH_H_
