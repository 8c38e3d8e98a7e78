// The HIP API that the emulated device answers to: values of HIP 7.0, written
// down here so that no ROCm header is needed. They hold for HIP 6 too, except
// where abi.h says otherwise.
#ifndef TESTS_EMULATOR_HIP_HIP_H_
#define TESTS_EMULATOR_HIP_HIP_H_

#include <cstddef>
#include <cstdint>

#define INGOT_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace ingot::emulator::hip {

// 7.0.51831, as hipRuntimeGetVersion states it.
inline constexpr int kVersion = 70051831;

// Values of hipError_t.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidMemcpyDirection = 21,
  kInsufficientDriver = 35,
  kMissingConfiguration = 52,
  kPriorLaunchFailure = 53,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kUnsupportedLimit = 215,
  kContextAlreadyInUse = 216,
  kPeerAccessUnsupported = 217,
  kInvalidKernelFile = 218,
  kInvalidSource = 300,
  kFileNotFound = 301,
  kSharedObjectSymbolNotFound = 302,
  kSharedObjectInitFailed = 303,
  kOperatingSystem = 304,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeOut = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kSetOnActiveProcess = 708,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureIsolation = 905,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kGraphExecUpdateFailure = 910,
  kUnknown = 999,
};

const char* ErrorName(int error);
const char* ErrorText(int error);

// Ends every entry point: remembers the outcome for the calling thread's
// hipGetLastError and returns it.
int Done(int error);
// As if the calling thread had met no error yet.
void ForgetLastError();

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_HIP_H_
