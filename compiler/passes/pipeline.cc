#include "compiler/passes/pipeline.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace ingot::passes {

void AddPipeline(mlir::OpPassManager& manager, const KernelSpec& spec,
                 const target::CodegenOptions& options) {
  // While loops still are loops.
  manager.addPass(CreateCheckLoopPhis());
  // Building blocks compute the same lane arithmetic more than once. Nothing
  // here moves an operation: order is what bodies pinned.
  manager.addPass(mlir::createCSEPass());
  manager.addPass(CreateLowerToLlvm());
  manager.addPass(CreateKernelAttributes(spec, options));
}

}  // namespace ingot::passes
