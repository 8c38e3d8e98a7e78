// For tests: a kernel whose code object needs no compiler.
#ifndef INGOT_SERVER_SAXPY_KERNEL_H_
#define INGOT_SERVER_SAXPY_KERNEL_H_

#include <fstream>
#include <iterator>
#include <string>

#include "compiler/plan.h"

namespace ingot::server {

// Of tests/data/code_object/saxpy.ll.
inline std::string SaxpyObject() {
  std::ifstream file("tests/data/code_object/saxpy.hsaco", std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The contract that the object keeps. `variant` makes keys differ.
inline PlanKernel SaxpyKernel(int64_t variant = 0) {
  PlanKernel kernel;
  KernelSpec& spec = kernel.spec;
  spec.op = "saxpy";
  spec.symbol = "saxpy";
  spec.target = "gfx950";
  spec.fingerprint = std::string(32, 'f');
  spec.params = {{"variant", variant}};
  spec.workgroup = {64, 1, 1};
  spec.grid = {Expr::Const(1), Expr::Const(1), Expr::Const(1)};
  spec.lds_bytes = 256;
  spec.args = {{"x", KernelArg::kOperand, 0, 8, Expr::Const(0)},
               {"y", KernelArg::kOperand, 1, 8, Expr::Const(0)},
               {"n", KernelArg::kInteger, 0, 4, Expr::DimAt(0)},
               {"a", KernelArg::kScalar, 0, 4, {}},
               {"s", KernelArg::kInteger, 0, 8, Expr::Const(1)}};
  kernel.encoding = EncodeKernelSpec(spec);
  kernel.key = KernelKey(kernel.encoding);
  return kernel;
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_SAXPY_KERNEL_H_
