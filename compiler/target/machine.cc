#include "compiler/target/machine.h"

#include <map>
#include <utility>

#include "absl/strings/str_split.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
void LLVMInitializeAMDGPUDisassembler();
}

namespace ingot::target {

void InitializeTarget() {
  static const bool initialized = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    // Empty inline asm is still parsed.
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialized;
}

absl::StatusOr<TargetId> ParseTargetId(absl::string_view target) {
  std::vector<std::string> parts = absl::StrSplit(target, ':');
  TargetId id;
  id.processor = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    if (part.size() < 2 || (part.back() != '+' && part.back() != '-')) {
      return absl::InvalidArgumentError(
          absl::StrCat("target: \"", target, "\" is not canonical"));
    }
    absl::StrAppend(&id.features, i > 1 ? "," : "", std::string(1, part.back()),
                    part.substr(0, part.size() - 1));
  }
  return id;
}

absl::StatusOr<llvm::TargetMachine*> MachineFor(absl::string_view target) {
  static auto& machines =
      *new std::map<std::string, std::unique_ptr<llvm::TargetMachine>>();
  auto it = machines.find(std::string(target));
  if (it != machines.end()) return it->second.get();
  INGOT_ASSIGN_OR_RETURN(const TargetId id, ParseTargetId(target));
  InitializeTarget();
  std::string error;
  const llvm::Triple triple(kTriple);
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (found == nullptr) return absl::InternalError(error);
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, id.processor, id.features, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) {
    return absl::InternalError(
        absl::StrCat("target: LLVM has no machine for \"", target, "\""));
  }
  return machines.emplace(std::string(target), std::move(machine))
      .first->second.get();
}

}  // namespace ingot::target
