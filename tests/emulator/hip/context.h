// What identifies a device: its context's handle, its bus, its UUID.
#ifndef TESTS_EMULATOR_HIP_CONTEXT_H_
#define TESTS_EMULATOR_HIP_CONTEXT_H_

namespace ingot::emulator::hip {

// The hipCtx_t of a device's primary context; the only context it has.
void* ContextOf(int device);

inline int PciBus(int device) { return device + 1; }

// 16 bytes, as HIP gives them out: "GPU-" is not part of them.
void FillUuid(int device, char* uuid);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_CONTEXT_H_
