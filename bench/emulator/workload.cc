#include "bench/emulator/workload.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "bench/problems.h"
#include "bench/process.h"
#include "tests/support/launch.h"
#include "tests/support/number.h"

namespace ingot::bench {
namespace {

// d [m, n] = a [m, k] b [n, k]^T
Workload Gemm(const std::string& dtype, int64_t m, int64_t n, int64_t k,
              double seconds) {
  Workload w;
  w.name = absl::StrCat("gemm-", dtype, "-", m, "x", n, "x", k);
  w.spec.op = "gemm";
  w.spec.target = "gfx950";
  w.spec.dims = {{"m"}, {"n", n}, {"k", k}};
  w.spec.operands = {{"a", dtype}, {"b", dtype}, {"d", dtype}};
  w.spec.attrs = {{"layout", std::string("nt")}};
  w.dims = {m, n, k};
  w.elements = {{"a", m * k}, {"b", n * k}, {"d", m * n}};
  w.multiply_adds = static_cast<double>(m * n * k);
  w.seconds_target = seconds;
  return w;
}

Workload Rmsnorm(int64_t rows, int64_t n, double seconds) {
  Workload w;
  w.name = absl::StrCat("rmsnorm-bf16-", rows, "x", n);
  w.spec = RmsnormSpec(n);
  w.dims = {rows, n};
  w.elements = {{"x", rows * n}, {"weight", n}, {"y", rows * n}};
  w.seconds_target = seconds;
  return w;
}

// Numbers in [-1, 1) of the format; a prime number of them, over and over.
void FillNumbers(const std::string& dtype, uint16_t* out, int64_t count) {
  constexpr int64_t kPeriod = 4099;
  uint16_t period[kPeriod];
  const testing::Format format = testing::FormatOf(dtype);
  for (int64_t i = 0; i < kPeriod; ++i) {
    const double number = static_cast<double>(i * 1811 % kPeriod) / kPeriod;
    testing::Encode(format, 2 * number - 1, &period[i]);
  }
  for (int64_t i = 0; i < count; i += kPeriod) {
    std::copy_n(period, std::min(kPeriod, count - i), out + i);
  }
}

template <typename T>
T OrDie(absl::StatusOr<T> result) {
  if (!result.ok()) Die(std::string(result.status().message()));
  return *std::move(result);
}

}  // namespace

std::vector<Workload> Workloads() {
  return {Gemm("bf16", 512, 512, 512, 2), Gemm("bf16", 64, 4096, 4096, 8),
          Gemm("f16", 512, 512, 512, 2), Rmsnorm(2048, 8192, 4)};
}

Run RunOnce(const Workload& workload, const emulator::Options& options) {
  const Plan plan = OrDie(MakePlan(workload.spec));
  testing::TestDevice device(options);
  testing::LaunchInputs inputs;
  inputs.dims = workload.dims;
  for (const PlanOperand& operand : plan.operands) {
    const int64_t count = workload.elements.at(operand.name);
    uint16_t* memory = device.Allocate<uint16_t>(count);
    FillNumbers(operand.dtype, memory, count);
    inputs.operands.push_back(memory);
  }
  const testing::LaunchReport report = OrDie(device.Launch(plan, inputs));
  return {report.seconds, report.cpu_seconds, report.statistics};
}

}  // namespace ingot::bench
