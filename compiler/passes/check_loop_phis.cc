#include "compiler/passes/pipeline.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Pass/Pass.h"

namespace ingot::passes {
namespace {

// AMDGPUCodeGenPrepare leaves phis up to this size alone
// (-amdgpu-codegenprepare-break-large-phis-threshold).
constexpr int64_t kSplitAboveBits = 32;

bool IsWideVector(mlir::Type type) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  return vector &&
         vector.getNumElements() *
                 static_cast<int64_t>(vector.getElementTypeBitWidth()) >
             kSplitAboveBits;
}

// Whether the pass would see lanes in `value` and hence split the phi.
bool IsAssembled(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr) return false;
  const llvm::StringRef name = op->getName().getStringRef();
  return name == "arith.constant" || name == "llvm.insertelement" ||
         name == "llvm.shufflevector" || name == "llvm.mlir.poison";
}

class CheckLoopPhis
    : public mlir::PassWrapper<CheckLoopPhis, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckLoopPhis)
  llvm::StringRef getArgument() const final { return "ingot-check-loop-phis"; }

  void runOnOperation() final {
    getOperation()->walk([&](mlir::Operation* op) {
      if (op->getName().getStringRef() == "scf.while") CheckLoop(*op);
    });
  }

 private:
  void CheckLoop(mlir::Operation& loop) {
    for (mlir::OpOperand& operand : loop.getOpOperands()) {
      if (IsWideVector(operand.get().getType()) && IsAssembled(operand.get())) {
        loop.emitError() << "carried value " << operand.getOperandNumber()
                         << " starts from "
                         << operand.get().getDefiningOp()->getName()
                         << ", so code generation would split its phi into "
                            "scalars; start it from Builder::Opaque";
        signalPassFailure();
      }
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateCheckLoopPhis() {
  return std::make_unique<CheckLoopPhis>();
}

}  // namespace ingot::passes
