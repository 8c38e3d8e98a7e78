#include "compiler/target/merge_m0.h"

#include "compiler/target/m0_pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineInstr.h"

namespace ingot::target {
namespace {

using llvm::MachineInstr;
using llvm::MachineOperand;
using llvm::Register;

class MergeM0 : public M0Pass {
 public:
  MergeM0() : M0Pass(id_) {}
  llvm::StringRef getPassName() const override { return "merge writes of M0"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesCFG();
    M0Pass::getAnalysisUsage(usage);
  }

 private:
  bool RunOnBlock(llvm::MachineBasicBlock& block) override {
    bool changed = false;
    Register held;  // what M0 is a copy of
    for (MachineInstr& instr : llvm::make_early_inc_range(block)) {
      if (!MayChangeM0(instr)) continue;
      const Register copied = CopiedToM0(instr);
      if (copied && copied == held) {
        instr.eraseFromParent();
        changed = true;
      }
      held = copied;
    }
    return changed;
  }

  bool MayChangeM0(const MachineInstr& instr) const {
    if (instr.isCall() || instr.isInlineAsm()) return true;
    return llvm::any_of(instr.operands(), [&](const MachineOperand& operand) {
      return operand.isRegMask() ||
             (operand.isReg() && operand.isDef() && IsM0(operand.getReg()));
    });
  }

  // The virtual register of which `instr` is a copy, if that is all it is.
  Register CopiedToM0(const MachineInstr& instr) const {
    if (!instr.isFullCopy() || !IsM0(instr.getOperand(0).getReg())) return {};
    const Register from = instr.getOperand(1).getReg();
    return from.isVirtual() ? from : Register();
  }

  static char id_;
};

char MergeM0::id_ = 0;

}  // namespace

llvm::FunctionPass* CreateMergeM0() { return new MergeM0(); }

}  // namespace ingot::target
