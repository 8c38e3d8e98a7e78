// Error names and texts, and each thread's last error.
#include <iterator>

#include "tests/emulator/hip/hip.h"

namespace ingot::emulator::hip {
namespace {

// As HIP 7 keeps them: `last` is the last real error (not kNotReady), `latest`
// what the latest call returned.
thread_local int last = kSuccess;
thread_local int latest = kSuccess;

struct ErrorRow {
  int code;
  const char* name;
  const char* text;
};
constexpr ErrorRow kErrors[] = {
    {kSuccess, "hipSuccess", "no error"},
    {kInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {kOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {kNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {kDeinitialized, "hipErrorDeinitialized", "driver shutting down"},
    {kInvalidConfiguration, "hipErrorInvalidConfiguration",
     "invalid configuration argument"},
    {kInvalidPitchValue, "hipErrorInvalidPitchValue", "invalid pitch argument"},
    {kInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    {kInvalidDevicePointer, "hipErrorInvalidDevicePointer",
     "invalid device pointer"},
    {kInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {kInsufficientDriver, "hipErrorInsufficientDriver",
     "driver version is insufficient for runtime version"},
    {kMissingConfiguration, "hipErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {kPriorLaunchFailure, "hipErrorPriorLaunchFailure",
     "unspecified launch failure in prior launch"},
    {kInvalidDeviceFunction, "hipErrorInvalidDeviceFunction",
     "invalid device function"},
    {kNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {kInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {kInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    {kNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {kUnsupportedLimit, "hipErrorUnsupportedLimit",
     "limit is not supported on this architecture"},
    {kContextAlreadyInUse, "hipErrorContextAlreadyInUse",
     "exclusive-thread device already in use by a different thread"},
    {kPeerAccessUnsupported, "hipErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {kInvalidKernelFile, "hipErrorInvalidKernelFile", "invalid kernel file"},
    {kInvalidSource, "hipErrorInvalidSource", "device kernel image is invalid"},
    {kFileNotFound, "hipErrorFileNotFound", "file not found"},
    {kSharedObjectSymbolNotFound, "hipErrorSharedObjectSymbolNotFound",
     "shared object symbol not found"},
    {kSharedObjectInitFailed, "hipErrorSharedObjectInitFailed",
     "shared object initialization failed"},
    {kOperatingSystem, "hipErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {kInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {kIllegalState, "hipErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {kNotFound, "hipErrorNotFound", "named symbol not found"},
    {kNotReady, "hipErrorNotReady", "device not ready"},
    {kIllegalAddress, "hipErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "hipErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {kLaunchTimeOut, "hipErrorLaunchTimeOut",
     "the launch timed out and was terminated"},
    {kPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {kPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {kSetOnActiveProcess, "hipErrorSetOnActiveProcess",
     "cannot set while device is active in this process"},
    {kContextIsDestroyed, "hipErrorContextIsDestroyed", "context is destroyed"},
    {kAssert, "hipErrorAssert", "device-side assert triggered"},
    {kHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {kHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {kLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {kCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {kNotSupported, "hipErrorNotSupported", "operation not supported"},
    {kStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {kStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {kStreamCaptureMerge, "hipErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {kStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {kStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {kStreamCaptureIsolation, "hipErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {kStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking "
     "stream"},
    {kCapturedEvent, "hipErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {kStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
    {kGraphExecUpdateFailure, "hipErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which "
     "violated constraints specific to instantiated graph update"},
    {kUnknown, "hipErrorUnknown", "unknown error"},
};

const ErrorRow& Row(int error) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == error) return row;
  }
  return *(std::end(kErrors) - 1);
}

}  // namespace

const char* ErrorName(int error) { return Row(error).name; }
const char* ErrorText(int error) { return Row(error).text; }

int Done(int error) {
  latest = error;
  if (error != kSuccess && error != kNotReady) last = error;
  return error;
}

void ForgetLastError() { last = latest = kSuccess; }

INGOT_HIP_EXPORT int hipGetLastError() {
  const int error = last;
  ForgetLastError();
  return error;
}
INGOT_HIP_EXPORT int hipPeekAtLastError() { return last; }
INGOT_HIP_EXPORT int hipExtGetLastError() {
  const int error = latest;
  latest = kSuccess;
  return error;
}
INGOT_HIP_EXPORT const char* hipGetErrorString(int error) {
  return ErrorText(error);
}
INGOT_HIP_EXPORT const char* hipGetErrorName(int error) {
  return ErrorName(error);
}
INGOT_HIP_EXPORT int hipDrvGetErrorString(int error, const char** text) {
  if (text == nullptr) return Done(kInvalidValue);
  *text = ErrorText(error);
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipDrvGetErrorName(int error, const char** name) {
  if (name == nullptr) return Done(kInvalidValue);
  *name = ErrorName(error);
  return Done(kSuccess);
}

}  // namespace ingot::emulator::hip
