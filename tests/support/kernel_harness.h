// For the tests of tile/: a kernel written in the test, run on the emulator
// with one input and one output array.
#ifndef TESTS_SUPPORT_KERNEL_HARNESS_H_
#define TESTS_SUPPORT_KERNEL_HARNESS_H_

#include <cstring>
#include <string>
#include <vector>

#include "compiler/compile_body.h"
#include "gtest/gtest.h"
#include "tests/support/launch.h"

namespace ingot::testing {

// One workgroup of `threads`; arguments "in", "out" (pointers) and "n" (i32).
inline KernelSpec HarnessSpec(uint32_t threads) {
  KernelSpec spec;
  spec.op = "test";
  spec.symbol = "ingot_test";
  spec.target = "gfx950";
  spec.workgroup = {threads, 1, 1};
  spec.grid = {Expr::Const(1), Expr::Const(1), Expr::Const(1)};
  spec.lds_bytes = 65536;
  spec.args = {{"in", KernelArg::kOperand, 0, 8, Expr::Const(0)},
               {"out", KernelArg::kOperand, 1, 8, Expr::Const(0)},
               {"n", KernelArg::kInteger, 0, 4, Expr::DimAt(0)}};
  return spec;
}

// What `body` leaves in `out`, which starts as 0xa5 bytes. Fails the test and
// returns zeros when something goes wrong.
template <typename Out, typename In>
std::vector<Out> RunKernel(BodyFunction body, uint32_t threads,
                           const std::vector<In>& in, size_t out_count,
                           int64_t n = 1, std::vector<Param> codegen = {}) {
  std::vector<Out> result(out_count);
  Plan plan;
  PlanKernel kernel;
  kernel.spec = HarnessSpec(threads);
  kernel.spec.codegen = std::move(codegen);
  kernel.key = "test";
  plan.kernels = {kernel};
  plan.dims = {{"n", 0, int64_t{1} << 30}};
  plan.operands = {{.name = "in"}, {.name = "out"}};
  LaunchStep step;
  step.grid = kernel.spec.grid;
  Variant variant;
  variant.recipe.steps = {step};
  plan.variants = {variant};
  absl::StatusOr<CompiledKernel> compiled = CompileBody(kernel.spec, body);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return result;
  TestDevice device;
  EXPECT_EQ(device.Use("test", *std::move(compiled)), absl::OkStatus());
  In* device_in = device.Allocate<In>(static_cast<int64_t>(in.size()));
  Out* device_out = device.Allocate<Out>(static_cast<int64_t>(out_count));
  std::copy(in.begin(), in.end(), device_in);
  LaunchInputs inputs;
  inputs.dims = {n};
  inputs.operands = {device_in, device_out};
  const auto report = device.Launch(plan, inputs);
  EXPECT_TRUE(report.ok()) << report.status();
  std::copy(device_out, device_out + out_count, result.begin());
  return result;
}

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_KERNEL_HARNESS_H_
