// Kernel launches: what is asked for, whether it fits, and running it.
#ifndef TESTS_EMULATOR_HIP_LAUNCH_H_
#define TESTS_EMULATOR_HIP_LAUNCH_H_

#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/operation.h"

namespace ingot::emulator::hip {

// Fills in *op with the arguments as they are now: `params`, one pointer each,
// or `extra`, a packed buffer between HIP_LAUNCH_PARAM_* keys.
int MakeKernelOp(const void* function, const LaunchConfig& config,
                 void** params, void** extra, KernelOp* op);
int MakeKernelOp(const KernelNodeParams& params, KernelOp* op);

// Whether geometry, LDS and, for cooperative ones, the number of workgroups fit
// kernel and device; the codes are HIP 7's.
int CheckLaunch(const KernelOp& op, int device);

// In a queue's thread; a fault goes to the device.
void RunKernel(const KernelOp& op);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_LAUNCH_H_
