// The HIP module API that the emulated device answers to: prototypes and values
// of ROCm 6 and 7, written down here so that no ROCm header is needed.
#ifndef TESTS_EMULATOR_HIP_HIP_H_
#define TESTS_EMULATOR_HIP_HIP_H_

#include <cstddef>
#include <cstdint>

#define INGOT_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace ingot::emulator::hip {

// Values of hipError_t.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kUnknown = 999,
};

const char* ErrorName(int error);
const char* ErrorText(int error);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_HIP_H_
