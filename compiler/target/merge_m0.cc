#include "compiler/target/merge_m0.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace ingot::target {
namespace {

using llvm::MachineInstr;
using llvm::MachineOperand;
using llvm::Register;

class MergeM0 : public llvm::MachineFunctionPass {
 public:
  MergeM0() : MachineFunctionPass(id_) {}
  llvm::StringRef getPassName() const override { return "merge writes of M0"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    registers_ = function.getSubtarget().getRegisterInfo();
    bool changed = false;
    for (llvm::MachineBasicBlock& block : function) {
      changed |= RunOnBlock(block);
    }
    return changed;
  }

 private:
  bool RunOnBlock(llvm::MachineBasicBlock& block) const {
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

  bool IsM0(Register reg) const {
    return reg.isPhysical() &&
           llvm::StringRef(registers_->getName(reg)) == "M0";
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
  const llvm::TargetRegisterInfo* registers_ = nullptr;
};

char MergeM0::id_ = 0;

}  // namespace

llvm::FunctionPass* CreateMergeM0() { return new MergeM0(); }

}  // namespace ingot::target
