// A pass over machine code for kernels whose instructions keep the body's
// order. An LDS-DMA takes its LDS address from M0 and may not follow the write
// of M0 at once: code generation puts the write right before it and fills the
// slot with an s_nop. The pass lets the write change places with the
// instruction before it, wherever that one has nothing to do with it, so that
// nothing idles.
#ifndef INGOT_COMPILER_TARGET_RAISE_M0_H_
#define INGOT_COMPILER_TARGET_RAISE_M0_H_

namespace llvm {
class FunctionPass;
}

namespace ingot::target {

// To be run after register allocation and before hazards are looked for. Owned
// by the caller.
llvm::FunctionPass* CreateRaiseM0();

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_RAISE_M0_H_
