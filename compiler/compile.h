// From a kernel spec to a code object. Only the worker links this: LLVM aborts
// on bad input and keeps process-global state.
#ifndef INGOT_COMPILER_COMPILE_H_
#define INGOT_COMPILER_COMPILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/code_object.h"
#include "compiler/kernel_spec.h"
#include "proto/status.h"

namespace ingot {

struct StageTime {
  std::string stage;  // build, mlir, translate, opt, codegen, link, check
  int64_t micros = 0;
};

struct CompiledKernel {
  std::string object;  // the ELF
  CodeObjectDescription description;
  std::vector<StageTime> stages;
};

struct CompileOptions {
  // When not null, receives the MLIR and LLVM IR of each stage, for a repro
  // bundle; also filled when the compile fails.
  std::string* ir_dump = nullptr;
};

// One compile. Same spec and fingerprint, same bytes. Not thread-safe: LLD and
// LLVM's options are global to the process. INTERNAL when a pass, verifier or
// linker refused IR we made; FAILED_PRECONDITION when the kernel cannot meet
// its contract (spills, scratch, LDS); INVALID_ARGUMENT for a fingerprint that
// is not this build's.
absl::StatusOr<CompiledKernel> Compile(const KernelSpec& spec,
                                       const CompileOptions& options = {});

// Text disassembly of every kernel in a code object, with addresses.
absl::StatusOr<std::string> Disassemble(absl::string_view object);

// Does what the first compile would otherwise pay for: targets, dialects,
// allocator settings, a first small compile. Call once at worker start.
absl::Status WarmUpCompiler();

}  // namespace ingot

#endif  // INGOT_COMPILER_COMPILE_H_
