#include "compiler/target/codegen.h"

#include "compiler/target/merge_m0.h"
#include "compiler/target/raise_m0.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
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

// As TargetMachine::addPassesToEmitFile, which has no place for passes of ours.
bool AddPasses(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine,
               bool reorder, llvm::raw_pwrite_stream& stream) {
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  // The schedulers know themselves how to keep M0 away from its user.
  if (!reorder) {
    config->insertPass(&llvm::FinalizeISelID, CreateMergeM0());
    config->insertPass(&llvm::PostMachineSchedulerID, CreateRaiseM0());
  }
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(info);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr,
                            llvm::CodeGenFileType::ObjectFile,
                            info->getMMI().getContext())) {
    return false;
  }
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

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
  if (!AddPasses(passes, machine, options.reorder, stream)) {
    return absl::InternalError("codegen: the target cannot write objects");
  }
  passes.run(module);
  return std::string(object.data(), object.size());
}

}  // namespace ingot::target
