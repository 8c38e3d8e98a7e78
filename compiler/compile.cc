#include "compiler/compile.h"

#include <malloc.h>

#include <chrono>
#include <memory>

#include "compiler/compile_body.h"
#include "compiler/fingerprint.h"
#include "compiler/ops/body.h"
#include "compiler/passes/pipeline.h"
#include "compiler/target/codegen.h"
#include "compiler/target/diagnostics.h"
#include "compiler/target/link.h"
#include "compiler/target/machine.h"
#include "compiler/tile/builder_ir.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace ingot {
namespace {

// One compile: each stage takes over what the one before it made.
class Compilation {
 public:
  Compilation(const KernelSpec& spec, BodyFunction body,
              const CompileOptions& options, mlir::MLIRContext& context)
      : spec_(spec),
        body_(body),
        options_(options),
        context_(context),
        mlir_(&context),
        llvm_(llvm_context_) {}

  absl::StatusOr<CompiledKernel> Run() {
    INGOT_RETURN_IF_ERROR(ReadOptions());
    INGOT_RETURN_IF_ERROR(Stage("build", [&] { return Build(); }));
    INGOT_RETURN_IF_ERROR(Stage("mlir", [&] { return RunPasses(); }));
    INGOT_RETURN_IF_ERROR(Stage("translate", [&] { return Translate(); }));
    INGOT_RETURN_IF_ERROR(Stage("opt", [&] { return RunOptimizer(); }));
    INGOT_RETURN_IF_ERROR(Stage("codegen", [&] { return EmitObject(); }));
    INGOT_RETURN_IF_ERROR(Stage("link", [&] { return Link(); }));
    INGOT_RETURN_IF_ERROR(Stage("check", [&] { return CheckResult(); }));
    return std::move(kernel_);
  }

 private:
  template <typename Function>
  absl::Status Stage(const char* name, Function function) {
    const auto start = std::chrono::steady_clock::now();
    absl::Status status = function();
    const auto time = std::chrono::steady_clock::now() - start;
    kernel_.stages.push_back(
        {name,
         std::chrono::duration_cast<std::chrono::microseconds>(time).count()});
    return Annotate(status, spec_.symbol);
  }

  absl::Status ReadOptions() {
    INGOT_ASSIGN_OR_RETURN(codegen_, target::ReadCodegenOptions(spec_));
    INGOT_ASSIGN_OR_RETURN(machine_, target::MachineFor(spec_.target));
    return absl::OkStatus();
  }

  absl::Status Build() {
    tile::Builder builder(&context_, spec_);
    absl::Status status = body_(builder, spec_);
    if (status.ok()) status = builder.status();
    module_ = tile::BuilderAccess::TakeModule(builder);
    Dump("built");
    INGOT_RETURN_IF_ERROR(status);
    return mlir_.Check(mlir::verify(*module_), absl::StatusCode::kInternal,
                       "build");
  }

  absl::Status RunPasses() {
    mlir::PassManager passes(&context_, mlir::ModuleOp::getOperationName());
    passes.enableVerifier(false);
    passes::AddPipeline(passes, spec_, codegen_);
    absl::Status status =
        mlir_.Check(passes.run(*module_), absl::StatusCode::kInternal, "mlir");
    Dump("lowered");
    INGOT_RETURN_IF_ERROR(status);
    return mlir_.Check(mlir::verify(*module_), absl::StatusCode::kInternal,
                       "mlir");
  }

  absl::Status Translate() {
    llvm_module_ =
        mlir::translateModuleToLLVMIR(*module_, llvm_context_, "ingot");
    module_ = nullptr;
    INGOT_RETURN_IF_ERROR(mlir_.Check(mlir::success(llvm_module_ != nullptr),
                                      absl::StatusCode::kInternal,
                                      "translate"));
    llvm_module_->setTargetTriple(machine_->getTargetTriple());
    llvm_module_->setDataLayout(machine_->createDataLayout());
    DumpLlvm("translated");
    return llvm_.Check(absl::StatusCode::kInternal, "translate");
  }

  absl::Status RunOptimizer() {
    target::Optimize(*llvm_module_, *machine_, codegen_.optimization);
    DumpLlvm("optimized");
    return llvm_.Check(absl::StatusCode::kInternal, "opt");
  }

  absl::Status EmitObject() {
    INGOT_ASSIGN_OR_RETURN(
        object_, target::EmitObject(*llvm_module_, *machine_, codegen_));
    // What the code generator says of a kernel is that it does not fit.
    return llvm_.Check(absl::StatusCode::kFailedPrecondition, "codegen");
  }

  absl::Status Link() {
    INGOT_ASSIGN_OR_RETURN(kernel_.object, target::LinkCodeObject(object_));
    return absl::OkStatus();
  }

  absl::Status CheckResult() {
    INGOT_ASSIGN_OR_RETURN(kernel_.description,
                           DescribeCodeObject(kernel_.object));
    return CheckContract(kernel_.description, spec_);
  }

  void Dump(absl::string_view title) {
    if (options_.ir_dump == nullptr || !module_) return;
    absl::StrAppend(options_.ir_dump, "// ---- ", title, "\n");
    llvm::raw_string_ostream stream(*options_.ir_dump);
    module_->print(stream);
  }

  void DumpLlvm(absl::string_view title) {
    if (options_.ir_dump == nullptr || !llvm_module_) return;
    absl::StrAppend(options_.ir_dump, "; ---- ", title, "\n");
    llvm::raw_string_ostream stream(*options_.ir_dump);
    llvm_module_->print(stream, nullptr);
  }

  const KernelSpec& spec_;
  const BodyFunction body_;
  const CompileOptions& options_;
  mlir::MLIRContext& context_;
  llvm::LLVMContext llvm_context_;
  target::MlirDiagnostics mlir_;
  target::LlvmDiagnostics llvm_;
  target::CodegenOptions codegen_;
  llvm::TargetMachine* machine_ = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::unique_ptr<llvm::Module> llvm_module_;
  std::string object_;
  CompiledKernel kernel_;
};

// Kept for the process: making a context and loading its dialects costs a tenth
// of a small compile. What it remembers (uniqued types and attributes) never
// shows in the output.
mlir::MLIRContext& SharedContext() {
  static mlir::MLIRContext& context = []() -> mlir::MLIRContext& {
    auto* made = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
    passes::LoadDialects(*made);
    return *made;
  }();
  return context;
}

// A little of everything that kernels have: memory, a loop, a branch, floats.
absl::Status BuildWarmUp(tile::Builder& b, const KernelSpec& spec) {
  using namespace tile;  // NOLINT: operators
  Value pointer = Offset(b.Arg("x"), b.ThreadX() * 4);
  const Values sum = b.For(
      b.I32(0), b.Arg("n"), 1, {b.F32(0)},
      [&](Value i, absl::Span<const Value> carried) -> Values {
        return {Fma(b.Load(kF32, Offset(pointer, i)), b.F32(2), carried[0])};
      });
  b.If(b.ThreadX() < b.Arg("n"), [&] { b.Store(sum[0], pointer); });
  return absl::OkStatus();
}

KernelSpec WarmUpSpec() {
  KernelSpec spec;
  spec.op = "warm-up";
  spec.symbol = "ingot_warm_up";
  spec.target = "gfx950";
  spec.workgroup = {64, 1, 1};
  spec.args = {{.name = "x", .kind = KernelArg::kOperand},
               {.name = "n", .kind = KernelArg::kInteger, .size = 4}};
  return spec;
}

// By default glibc gives memory back after each compile and faults it in again
// for the next, which doubles the time of a small one.
void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

absl::StatusOr<CompiledKernel> CompileBody(const KernelSpec& spec,
                                           BodyFunction body,
                                           const CompileOptions& options) {
  target::InstallFatalErrorHandler();
  return Compilation(spec, body, options, SharedContext()).Run();
}

absl::StatusOr<CompiledKernel> Compile(const KernelSpec& spec,
                                       const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(const std::string fingerprint, OpFingerprint(spec.op));
  // Nothing is compiled for a fingerprint of other code: its key would lie.
  if (spec.fingerprint != fingerprint) {
    return absl::InvalidArgumentError(
        absl::StrCat("fingerprint: the kernel was planned for other code of ",
                     spec.op, " than this build's"));
  }
  const BodyFunction body = FindBody(spec.op);
  if (body == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("op: \"", spec.op, "\" has no body in this build"));
  }
  return CompileBody(spec, body, options);
}

absl::Status WarmUpCompiler() {
  KeepFreedMemory();
  return CompileBody(WarmUpSpec(), BuildWarmUp).status();
}

}  // namespace ingot
