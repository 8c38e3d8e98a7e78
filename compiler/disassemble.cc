#include <memory>

#include "compiler/code_object.h"
#include "compiler/compile.h"
#include "compiler/target/diagnostics.h"
#include "compiler/target/machine.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot {
namespace {

// LLVM's machine-code layer for one target, as far as reading code needs it.
class Disassembler {
 public:
  static absl::StatusOr<std::unique_ptr<Disassembler>> Create(
      absl::string_view target_id) {
    INGOT_ASSIGN_OR_RETURN(const target::TargetId id,
                           target::ParseTargetId(target_id));
    target::InitializeTarget();
    auto made = std::make_unique<Disassembler>();
    std::string error;
    const llvm::Target* found =
        llvm::TargetRegistry::lookupTarget(made->triple_, error);
    if (found == nullptr) return absl::InternalError(error);
    made->registers_.reset(found->createMCRegInfo(made->triple_));
    made->assembly_.reset(found->createMCAsmInfo(
        *made->registers_, made->triple_, llvm::MCTargetOptions()));
    made->subtarget_.reset(
        found->createMCSubtargetInfo(made->triple_, id.processor, id.features));
    made->instructions_.reset(found->createMCInstrInfo());
    made->context_ = std::make_unique<llvm::MCContext>(
        made->triple_, made->assembly_.get(), made->registers_.get(),
        made->subtarget_.get());
    made->decoder_.reset(
        found->createMCDisassembler(*made->subtarget_, *made->context_));
    made->printer_.reset(found->createMCInstPrinter(
        made->triple_, made->assembly_->getAssemblerDialect(), *made->assembly_,
        *made->instructions_, *made->registers_));
    if (!made->decoder_ || !made->printer_) {
      return absl::InternalError("disassemble: LLVM has no decoder");
    }
    return made;
  }

  // One line an instruction: address, words, text. Bytes that are no
  // instruction are shown as words.
  void Print(llvm::ArrayRef<uint8_t> code, uint64_t address,
             llvm::raw_ostream& out) {
    while (!code.empty()) {
      llvm::MCInst instruction;
      uint64_t size = 0;
      const auto status = decoder_->getInstruction(instruction, size, code,
                                                   address, llvm::nulls());
      const bool decoded = status == llvm::MCDisassembler::Success && size > 0;
      if (!decoded) size = std::min<uint64_t>(4, code.size());
      out << llvm::format_hex_no_prefix(address, 8) << " ";
      for (uint64_t i = 0; i < size; i += 4) PrintWord(code.drop_front(i), out);
      if (decoded) {
        printer_->printInst(&instruction, address, "", *subtarget_, out);
      } else {
        out << "\t(no instruction)";
      }
      out << "\n";
      code = code.drop_front(size);
      address += size;
    }
  }

 private:
  static void PrintWord(llvm::ArrayRef<uint8_t> bytes, llvm::raw_ostream& out) {
    out << " ";
    for (size_t i = std::min<size_t>(4, bytes.size()); i-- > 0;) {
      out << llvm::format_hex_no_prefix(bytes[i], 2);
    }
  }

  const llvm::Triple triple_{target::kTriple};
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

absl::Status Damaged(llvm::Error error) {
  return target::ToStatus(std::move(error), absl::StatusCode::kDataLoss,
                          "disassemble");
}

}  // namespace

absl::StatusOr<std::string> Disassemble(absl::string_view object) {
  INGOT_ASSIGN_OR_RETURN(const CodeObjectDescription description,
                         DescribeCodeObject(object));
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<Disassembler> disassembler,
                         Disassembler::Create(description.target));
  auto elf = llvm::object::ELFObjectFile<llvm::object::ELF64LE>::create(
      llvm::MemoryBufferRef({object.data(), object.size()}, "code object"));
  if (!elf) return Damaged(elf.takeError());
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const llvm::object::ELFSymbolRef symbol : elf->symbols()) {
    if (symbol.getELFType() != llvm::ELF::STT_FUNC) continue;
    auto name = symbol.getName();
    if (!name) return Damaged(name.takeError());
    auto section = symbol.getSection();
    if (!section) return Damaged(section.takeError());
    if (*section == elf->section_end()) continue;
    auto contents = (*section)->getContents();
    if (!contents) return Damaged(contents.takeError());
    auto address = symbol.getAddress();
    if (!address) return Damaged(address.takeError());
    const uint64_t start = *address - (*section)->getAddress();
    const uint64_t size = symbol.getSize();
    if (start > contents->size() || size > contents->size() - start) {
      return absl::DataLossError(
          "disassemble: a symbol lies outside its section");
    }
    out << *name << ":\n";
    disassembler->Print(
        llvm::arrayRefFromStringRef(contents->substr(start, size)), *address,
        out);
  }
  return text;
}

}  // namespace ingot
