// LLVM IR to a relocatable AMDGPU object.
#ifndef INGOT_COMPILER_TARGET_CODEGEN_H_
#define INGOT_COMPILER_TARGET_CODEGEN_H_

#include <string>

#include "compiler/target/codegen_options.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "proto/status.h"

namespace ingot::target {

// Runs the middle end in place.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine,
              Optimization optimization);

// Errors that LLVM reports go to the module's context (target/diagnostics.h);
// INTERNAL only when the machine cannot write objects.
absl::StatusOr<std::string> EmitObject(llvm::Module& module,
                                       llvm::TargetMachine& machine,
                                       const CodegenOptions& options);

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_CODEGEN_H_
