// Primary contexts, and the old context calls in terms of them.
#include "tests/emulator/hip/context.h"

#include <cstdio>
#include <vector>

#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// hipCtxPushCurrent's stack: the devices beneath the current one.
thread_local std::vector<int> pushed;

// Per device: how often its primary context was retained.
struct Retained {
  std::mutex mutex;
  std::vector<int> count = std::vector<int>(64, 0);
};
Retained& Counts() {
  static auto* const counts = new Retained;
  return *counts;
}

// -1 when `context` is no context.
int DeviceOfContext(const void* context) {
  for (int d = 0; d < R().device_count(); ++d) {
    if (ContextOf(d) == context) return d;
  }
  return -1;
}

int Retain(void** context, int device) {
  if (context == nullptr) return kInvalidValue;
  if (!R().valid_device(device)) return kInvalidDevice;
  std::lock_guard<std::mutex> lock(Counts().mutex);
  ++Counts().count[static_cast<size_t>(device)];
  *context = ContextOf(device);
  return kSuccess;
}

int Release(int device) {
  if (!R().valid_device(device)) return kInvalidDevice;
  std::lock_guard<std::mutex> lock(Counts().mutex);
  int& count = Counts().count[static_cast<size_t>(device)];
  if (count > 0) --count;
  return kSuccess;
}

int Use(const void* context) {
  const int device = DeviceOfContext(context);
  if (device < 0) return kInvalidContext;
  SetCurrentDevice(device);
  return kSuccess;
}

int Push(const void* context) {
  const int before = CurrentDevice();
  const int error = Use(context);
  if (error == kSuccess) pushed.push_back(before);
  return error;
}

int Pop(void** context) {
  if (pushed.empty()) return kInvalidContext;
  if (context != nullptr) *context = ContextOf(CurrentDevice());
  SetCurrentDevice(pushed.back());
  pushed.pop_back();
  return kSuccess;
}

int Create(void** context, unsigned, int device) {
  if (context == nullptr) return kInvalidValue;
  if (!R().valid_device(device)) return kInvalidDevice;
  *context = ContextOf(device);
  return Push(*context);
}

}  // namespace

void* ContextOf(int device) { return &R().device(device); }

void FillUuid(int device, char* uuid) {
  char text[17];
  std::snprintf(text, sizeof(text), "e950%012x", device);
  for (int n = 0; n < 16; ++n) uuid[n] = text[n];
}

INGOT_HIP_EXPORT int hipDevicePrimaryCtxRetain(void** context, int device) {
  return Done(Retain(context, device));
}
INGOT_HIP_EXPORT int hipDevicePrimaryCtxRelease(int device) {
  return Done(Release(device));
}
INGOT_HIP_EXPORT int hipDevicePrimaryCtxReset(int device) {
  return Done(R().valid_device(device) ? kSuccess : kInvalidDevice);
}
// A primary context that was ever used stays active, as in the real runtime.
INGOT_HIP_EXPORT int hipDevicePrimaryCtxGetState(int device, unsigned* flags,
                                                 int* active) {
  if (!R().valid_device(device)) return Done(kInvalidDevice);
  if (flags == nullptr || active == nullptr) return Done(kInvalidValue);
  *flags = 0;
  std::lock_guard<std::mutex> lock(Counts().mutex);
  *active = device == CurrentDevice() ||
                    Counts().count[static_cast<size_t>(device)] > 0
                ? 1
                : 0;
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipDevicePrimaryCtxSetFlags(int device, unsigned) {
  if (!R().valid_device(device)) return Done(kInvalidDevice);
  return Done(kContextAlreadyInUse);
}

INGOT_HIP_EXPORT int hipCtxCreate(void** context, unsigned flags, int device) {
  return Done(Create(context, flags, device));
}
INGOT_HIP_EXPORT int hipCtxDestroy(void* context) {
  return Done(DeviceOfContext(context) < 0 ? kInvalidValue : kSuccess);
}
INGOT_HIP_EXPORT int hipCtxGetCurrent(void** context) {
  if (context == nullptr) return Done(kInvalidValue);
  if (!R().valid_device(CurrentDevice())) return Done(kNoDevice);
  *context = ContextOf(CurrentDevice());
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipCtxSetCurrent(void* context) {
  return Done(Use(context));
}
INGOT_HIP_EXPORT int hipCtxPushCurrent(void* context) {
  return Done(Push(context));
}
INGOT_HIP_EXPORT int hipCtxPopCurrent(void** context) {
  return Done(Pop(context));
}
INGOT_HIP_EXPORT int hipCtxGetDevice(int* device) {
  if (device == nullptr) return Done(kInvalidValue);
  if (!R().valid_device(CurrentDevice())) return Done(kNoDevice);
  *device = CurrentDevice();
  return Done(kSuccess);
}

}  // namespace ingot::emulator::hip
