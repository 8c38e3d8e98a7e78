// LLVM IR to a relocatable AMDGPU object.
#ifndef INGOT_COMPILER_TARGET_CODEGEN_H_
#define INGOT_COMPILER_TARGET_CODEGEN_H_

#include <string>
#include <vector>

#include "compiler/kernel_spec.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "proto/status.h"

namespace ingot::target {

// How much of LLVM's middle end a kernel wants. A body that emits its hot loop
// in final order wants none of it; one that leans on the optimiser wants all.
enum class Optimization { kNone, kLight, kFull };

// The codegen options of a spec that are decided here:
//   opt          "none", "light" (default) or "full"
//   reorder      0: instructions keep the order of the body, both machine
//                schedulers are off; 1 (default): LLVM may reorder them
struct CodegenOptions {
  Optimization optimization = Optimization::kLight;
  bool reorder = true;
};
// INVALID_ARGUMENT for a name or value that no stage of this build knows.
absl::StatusOr<CodegenOptions> ReadCodegenOptions(const KernelSpec& spec);

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
