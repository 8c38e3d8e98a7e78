#include "compiler/target/codegen.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"

namespace ingot::target {
namespace {

// LLVM keeps these as options of the process, so they are put right before each
// kernel. A reset one leaves the choice to the subtarget.
void SetReordering(bool reorder) {
  for (const char* name : {"enable-misched", "enable-post-misched"}) {
    llvm::cl::Option* option = llvm::cl::getRegisteredOptions().lookup(name);
    if (option == nullptr) continue;
    option->reset();
    if (!reorder) option->addOccurrence(0, name, "false");
  }
}

llvm::ModulePassManager PassesFor(llvm::PassBuilder& builder,
                                  Optimization optimization) {
  if (optimization == Optimization::kFull) {
    return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  }
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::EarlyCSEPass());
  functions.addPass(llvm::InstCombinePass());
  functions.addPass(llvm::EarlyCSEPass());
  llvm::ModulePassManager modules;
  modules.addPass(
      llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  return modules;
}

}  // namespace

absl::StatusOr<CodegenOptions> ReadCodegenOptions(const KernelSpec& spec) {
  CodegenOptions options;
  for (const Param& param : spec.codegen) {
    const int64_t* number = std::get_if<int64_t>(&param.value);
    const std::string* text = std::get_if<std::string>(&param.value);
    if (param.name == "opt" && text != nullptr) {
      if (*text == "none") {
        options.optimization = Optimization::kNone;
      } else if (*text == "light") {
        options.optimization = Optimization::kLight;
      } else if (*text == "full") {
        options.optimization = Optimization::kFull;
      } else {
        return absl::InvalidArgumentError(absl::StrCat(
            "codegen.opt: \"", *text, "\"; allowed: none, light, full"));
      }
    } else if (param.name == "reorder" && number != nullptr) {
      options.reorder = *number != 0;
    } else if (!((param.name == "agpr_alloc" || param.name == "preload") &&
                 number != nullptr) &&
               !((param.name == "waves_per_eu" || param.name == "schedule") &&
                 text != nullptr)) {
      return absl::InvalidArgumentError(
          absl::StrCat("codegen: unknown option \"", param.name, "\""));
    }
  }
  return options;
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine,
              Optimization optimization) {
  if (optimization == Optimization::kNone) return;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  PassesFor(builder, optimization).run(module, modules);
}

absl::StatusOr<std::string> EmitObject(llvm::Module& module,
                                       llvm::TargetMachine& machine,
                                       const CodegenOptions& options) {
  SetReordering(options.reorder);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile,
                                  /*DisableVerify=*/true)) {
    return absl::InternalError("codegen: the target cannot write objects");
  }
  passes.run(module);
  return std::string(object.data(), object.size());
}

}  // namespace ingot::target
