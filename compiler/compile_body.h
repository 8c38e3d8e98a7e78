// Compiling a kernel whose body is at hand rather than found by its op: for
// warming up and for tests of what bodies are made of.
#ifndef INGOT_COMPILER_COMPILE_BODY_H_
#define INGOT_COMPILER_COMPILE_BODY_H_

#include "compiler/compile.h"
#include "compiler/ops/body.h"

namespace ingot {

// As Compile, without regard to spec.op and spec.fingerprint.
absl::StatusOr<CompiledKernel> CompileBody(const KernelSpec& spec,
                                           BodyFunction body,
                                           const CompileOptions& options = {});

}  // namespace ingot

#endif  // INGOT_COMPILER_COMPILE_BODY_H_
