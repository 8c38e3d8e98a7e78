// From the module a body built to one of the LLVM dialect alone: which passes
// run, in which order, and why.
#ifndef INGOT_COMPILER_PASSES_PIPELINE_H_
#define INGOT_COMPILER_PASSES_PIPELINE_H_

#include <memory>

#include "compiler/kernel_spec.h"
#include "compiler/target/codegen_options.h"

namespace mlir {
class MLIRContext;
class OpPassManager;
class Pass;
}  // namespace mlir

namespace ingot::passes {

// Registers and loads what bodies and passes use, and what the translation to
// LLVM IR needs.
void LoadDialects(mlir::MLIRContext& context);

// The pipeline for a module that holds the kernel of `spec`. Both must outlive
// the run.
void AddPipeline(mlir::OpPassManager& manager, const KernelSpec& spec,
                 const target::CodegenOptions& options);

// A pass each, one a file, named after it.

// Refuses a loop that would come out in pieces: AMDGPUCodeGenPrepare splits a
// vector phi of more than 128 bits (and any accumulator in AccVGPRs) when a
// value that comes into it is a constant or is assembled from lanes.
std::unique_ptr<mlir::Pass> CreateCheckLoopPhis();
// Writes onto the kernel what the code generator has to know: workgroup size,
// occupancy, register form, which hidden arguments it does without.
std::unique_ptr<mlir::Pass> CreateKernelAttributes(
    const KernelSpec& spec, const target::CodegenOptions& options);
// scf, arith, math and cf to the LLVM dialect, in one conversion. Loops keep
// the order of their phis and stay bottom-tested.
std::unique_ptr<mlir::Pass> CreateLowerToLlvm();

}  // namespace ingot::passes

#endif  // INGOT_COMPILER_PASSES_PIPELINE_H_
