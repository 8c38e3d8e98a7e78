#include "compiler/target/raise_m0.h"

#include <iterator>

#include "compiler/target/m0_pass.h"
#include "llvm/CodeGen/MachineInstr.h"

namespace ingot::target {
namespace {

using llvm::MachineInstr;
using llvm::MachineOperand;

class RaiseM0 : public M0Pass {
 public:
  RaiseM0() : M0Pass(id_) {}
  llvm::StringRef getPassName() const override { return "raise writes of M0"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    M0Pass::getAnalysisUsage(usage);
  }

 private:
  bool RunOnBlock(llvm::MachineBasicBlock& block) override {
    bool changed = false;
    // Neighbouring reads come as one bundle, which this iterator takes as a
    // whole.
    for (auto it = block.begin(); it != block.end();) {
      const auto write = it++;
      if (it == block.end() || write == block.begin() || !WritesM0(*write) ||
          !it->mayLoad()) {
        continue;
      }
      const auto before = std::prev(write);
      if (!MayChangePlaces(*before, *write)) continue;
      block.splice(before, &block, write);
      changed = true;
    }
    return changed;
  }

  // And nothing else but, as a by-product, condition codes.
  bool WritesM0(const MachineInstr& instr) const {
    if (instr.mayLoadOrStore() || instr.hasUnmodeledSideEffects()) return false;
    bool writes = false;
    for (const MachineOperand& operand : instr.operands()) {
      if (!operand.isReg() || !operand.isDef() || operand.isDead()) continue;
      if (!IsM0(operand.getReg())) return false;
      writes = true;
    }
    return writes;
  }

  bool MayChangePlaces(const MachineInstr& a, const MachineInstr& b) const {
    if (a.isPosition() || a.isInlineAsm() || a.isCall() || a.isTerminator()) {
      return false;
    }
    for (const MachineOperand& x : a.operands()) {
      if (!x.isReg() || !x.getReg()) continue;
      for (const MachineOperand& y : b.operands()) {
        if (!y.isReg() || !y.getReg() || (!x.isDef() && !y.isDef())) continue;
        if (registers().regsOverlap(x.getReg(), y.getReg())) return false;
      }
    }
    return true;
  }

  static char id_;
};

char RaiseM0::id_ = 0;

}  // namespace

llvm::FunctionPass* CreateRaiseM0() { return new RaiseM0(); }

}  // namespace ingot::target
