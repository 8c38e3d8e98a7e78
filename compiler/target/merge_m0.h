// A pass over machine code for kernels whose instructions keep the body's
// order. Code generation writes M0 before each LDS-DMA, also where a run of
// them, told apart by the instruction's offset, shares it. The pass drops a
// write of what M0 holds already.
#ifndef INGOT_COMPILER_TARGET_MERGE_M0_H_
#define INGOT_COMPILER_TARGET_MERGE_M0_H_

namespace llvm {
class FunctionPass;
}

namespace ingot::target {

// To be run once instructions are selected, while each virtual register has one
// definition. Owned by the caller.
llvm::FunctionPass* CreateMergeM0();

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_MERGE_M0_H_
