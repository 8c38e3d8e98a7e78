#include "compiler/passes/pipeline.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

namespace ingot::passes {
namespace {

// What a kernel does not use is not passed to it: without these every kernel
// gets 256 bytes of hidden arguments and eleven SGPRs.
constexpr llvm::StringLiteral kNeverUsed[] = {
    "amdgpu-no-cluster-id-x",       "amdgpu-no-cluster-id-y",
    "amdgpu-no-cluster-id-z",       "amdgpu-no-completion-action",
    "amdgpu-no-default-queue",      "amdgpu-no-dispatch-id",
    "amdgpu-no-dispatch-ptr",       "amdgpu-no-flat-scratch-init",
    "amdgpu-no-heap-ptr",           "amdgpu-no-hostcall-ptr",
    "amdgpu-no-implicitarg-ptr",    "amdgpu-no-lds-kernel-id",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-queue-ptr",
    "amdgpu-no-workitem-id-y",      "amdgpu-no-workitem-id-z"};

struct IdAttribute {
  llvm::StringLiteral op;
  llvm::StringLiteral attribute;
};
constexpr IdAttribute kIds[] = {
    {"rocdl.workgroup.id.x", "amdgpu-no-workgroup-id-x"},
    {"rocdl.workgroup.id.y", "amdgpu-no-workgroup-id-y"},
    {"rocdl.workgroup.id.z", "amdgpu-no-workgroup-id-z"},
    {"rocdl.workitem.id.x", "amdgpu-no-workitem-id-x"}};

class KernelAttributes
    : public mlir::PassWrapper<KernelAttributes, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelAttributes)
  KernelAttributes(const KernelSpec& spec,
                   const target::CodegenOptions& options)
      : spec_(spec), options_(options) {}
  llvm::StringRef getArgument() const final {
    return "ingot-kernel-attributes";
  }

  void runOnOperation() final {
    getOperation()->walk(
        [&](mlir::LLVM::LLVMFuncOp kernel) { Annotate(kernel); });
  }

 private:
  void Annotate(mlir::LLVM::LLVMFuncOp kernel) {
    mlir::Builder ir(&getContext());
    const auto& size = spec_.workgroup;
    const std::string items = std::to_string(size[0] * size[1] * size[2]);
    kernel->setAttr("rocdl.flat_work_group_size",
                    ir.getStringAttr(items + "," + items));
    kernel->setAttr("rocdl.reqd_work_group_size",
                    ir.getDenseI32ArrayAttr({static_cast<int32_t>(size[0]),
                                             static_cast<int32_t>(size[1]),
                                             static_cast<int32_t>(size[2])}));
    kernel.setPassthroughAttr(Passthrough(kernel, ir));
    for (int64_t i = 0; i < options_.preload && i < kernel.getNumArguments();
         ++i) {
      kernel.setArgAttr(i, mlir::LLVM::LLVMDialect::getInRegAttrName(),
                        ir.getUnitAttr());
    }
  }

  mlir::ArrayAttr Passthrough(mlir::LLVM::LLVMFuncOp kernel,
                              mlir::Builder& ir) {
    llvm::SmallVector<mlir::Attribute> list;
    const auto pair = [&](llvm::StringRef name, llvm::StringRef value) {
      list.push_back(ir.getStrArrayAttr({name, value}));
    };
    // OCP rules keep f16 and bf16 denormals; f32 ones too, as ATen's kernels
    // do.
    pair("denormal-fp-math-f32", "ieee,ieee");
    if (options_.agpr_alloc) {
      pair("amdgpu-agpr-alloc", std::to_string(*options_.agpr_alloc));
    }
    if (!options_.waves_per_eu.empty()) {
      pair("amdgpu-waves-per-eu", options_.waves_per_eu);
    }
    if (!options_.schedule.empty()) {
      pair("amdgpu-sched-strategy", options_.schedule);
    }
    for (llvm::StringRef name : kNeverUsed) {
      list.push_back(ir.getStringAttr(name));
    }
    for (const IdAttribute& id : kIds) {
      if (!Uses(kernel, id.op)) list.push_back(ir.getStringAttr(id.attribute));
    }
    return ir.getArrayAttr(list);
  }

  static bool Uses(mlir::LLVM::LLVMFuncOp kernel, llvm::StringRef op_name) {
    return kernel
        ->walk([&](mlir::Operation* op) {
          return op->getName().getStringRef() == op_name
                     ? mlir::WalkResult::interrupt()
                     : mlir::WalkResult::advance();
        })
        .wasInterrupted();
  }

  const KernelSpec& spec_;
  const target::CodegenOptions& options_;
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateKernelAttributes(
    const KernelSpec& spec, const target::CodegenOptions& options) {
  return std::make_unique<KernelAttributes>(spec, options);
}

}  // namespace ingot::passes
