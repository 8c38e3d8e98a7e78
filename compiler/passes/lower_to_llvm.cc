#include "compiler/passes/pipeline.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace ingot::passes {
namespace {

class LowerToLlvm
    : public mlir::PassWrapper<LowerToLlvm, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLlvm)
  llvm::StringRef getArgument() const final { return "ingot-lower-to-llvm"; }

  void runOnOperation() final {
    mlir::MLIRContext* context = &getContext();
    mlir::LLVMTypeConverter types(context);
    mlir::RewritePatternSet patterns(context);
    mlir::populateSCFToControlFlowConversionPatterns(patterns);
    mlir::cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    mlir::arith::populateArithToLLVMConversionPatterns(types, patterns);
    mlir::populateMathToLLVMConversionPatterns(types, patterns);
    mlir::ConversionTarget target(*context);
    target.addLegalDialect("llvm", "rocdl");
    target.addLegalOp<mlir::ModuleOp>();
    target.addIllegalDialect("scf", "cf", "arith", "math");
    if (mlir::failed(mlir::applyFullConversion(getOperation(), target,
                                               std::move(patterns)))) {
      signalPassFailure();
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateLowerToLlvm() {
  return std::make_unique<LowerToLlvm>();
}

}  // namespace ingot::passes
