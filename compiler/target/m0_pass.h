// The frame of our passes over machine code that look at writes of M0, from
// which an LDS-DMA takes its LDS address: block by block.
#ifndef INGOT_COMPILER_TARGET_M0_PASS_H_
#define INGOT_COMPILER_TARGET_M0_PASS_H_

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace ingot::target {

class M0Pass : public llvm::MachineFunctionPass {
 public:
  using MachineFunctionPass::MachineFunctionPass;

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    registers_ = function.getSubtarget().getRegisterInfo();
    bool changed = false;
    for (llvm::MachineBasicBlock& block : function) {
      changed |= RunOnBlock(block);
    }
    return changed;
  }

 protected:
  // Whether it changed the block.
  virtual bool RunOnBlock(llvm::MachineBasicBlock& block) = 0;

  const llvm::TargetRegisterInfo& registers() const { return *registers_; }
  bool IsM0(llvm::Register reg) const {
    return reg.isPhysical() &&
           llvm::StringRef(registers_->getName(reg)) == "M0";
  }

 private:
  const llvm::TargetRegisterInfo* registers_ = nullptr;
};

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_M0_PASS_H_
